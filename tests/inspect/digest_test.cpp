// The content digest. The expected values were computed with Python's hashlib from the lines that
// inspect/content_digest.cpp makes.
#include <gtest/gtest.h>

#include "inspect/models.hpp"

namespace tare {
namespace {

using namespace tare::test;

Model digest_model() {
  Model model;
  model.tensors.push_back(tensor_of<float>("b", {2, 3}, DType::f32, {1, 2, 3, 4, 5, 6}));
  model.tensors.push_back(tensor_of<double>("a", {}, DType::f64, {0.5}));
  model.tensors.push_back(tensor_of<std::uint8_t>("q", {3}, DType::u8, {1, 2, 3}, "f8_e4m3fn"));
  model.tensors.push_back(tensor_of<std::int64_t>("empty", {0, 4}, DType::i64, {}));
  return model;
}

constexpr auto kDigest = "tare1:c6748eac9a40d1750749003efeb4348a3559a60ba3167369e2565ce4abbff4f9";

TEST(InspectContentDigest, EmptyModel) {
  EXPECT_EQ(content_digest({}), "tare1:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(InspectContentDigest, DenseScalarEmptyAndTyped) { EXPECT_EQ(content_digest(digest_model()), kDigest); }

TEST(InspectContentDigest, OrderAndEverythingButTensorsDoNotMatter) {
  Model model = digest_model();
  std::swap(model.tensors[0], model.tensors[3]);
  model.metadata.set("author", "nobody");
  model.attachments.push_back({"config.json", Blob::memory(Bytes(3))});
  model.tensors[1].attributes.set("comment", "on a dense tensor");
  EXPECT_EQ(content_digest(model), kDigest);
}

TEST(InspectContentDigest, EveryPartOfALineMatters) {
  const auto changed = [](auto&& change) {
    Model model = digest_model();
    change(model.tensors[0]);
    return content_digest(model);
  };
  EXPECT_NE(changed([](Tensor& t) { t.name = "c"; }), kDigest);
  EXPECT_NE(changed([](Tensor& t) { t.shape = {3, 2}; }), kDigest);
  EXPECT_NE(changed([](Tensor& t) { t.layout = "other"; }), kDigest);
  EXPECT_NE(changed([](Tensor& t) { t.components[0].role = "values"; }), kDigest);
  EXPECT_NE(changed([](Tensor& t) { t.components[0].dtype = DType::i32; }), kDigest);
  EXPECT_NE(changed([](Tensor& t) { t.components[0].type = "odd"; }), kDigest);
  EXPECT_NE(changed([](Tensor& t) { t.components[0].blob = Blob::memory(Bytes(24)); }), kDigest);
}

TEST(InspectContentDigest, NamesAreEscapedAndSortedByTheirOwnBytes) {
  Model model;
  model.tensors.push_back(tensor_of<std::uint8_t>("\xFF\xC3\xA9", {1}, DType::u8, {8}));
  model.tensors.push_back(tensor_of<std::uint8_t>("\xC3\xA9", {1}, DType::u8, {9}));
  model.tensors.push_back(tensor_of<std::uint8_t>("t\tab\\x\n", {1}, DType::u8, {7}));
  EXPECT_EQ(content_digest(model), "tare1:9a46fb7adeecbf8fddbcb2c3a9115fa389f0adbe915fb7336e61b04ea9bc5ad1");
}

TEST(InspectContentDigest, AttributesOfOtherLayoutsComeFirst) {
  Model model;
  model.tensors.push_back(csr("s", {2, 3}, {1.5f, -2.0f}, {0, 2}, {0, 1, 2}));
  Map inner;
  inner.set("z", true);
  inner.set("k", List{Value(1), Value(2.5)});
  Map& attributes = model.tensors[0].attributes;
  attributes.set("x", 1.0);
  attributes.set("scale", double{0.1f});
  attributes.set("note", "\xC3\xBC\"");
  attributes.set("a", std::move(inner));
  EXPECT_EQ(content_digest(model), "tare1:9937bef89f8e27d57383e12ff10f7ed3cc9ae19d655622bccfbeea8110da1980");
}

TEST(InspectContentDigest, AttributesOfATensorWithoutComponentsCount) {
  Model model;
  model.tensors.emplace_back();
  model.tensors[0].name = "n";
  model.tensors[0].layout = "nothing";
  const std::string before = content_digest(model);
  model.tensors[0].attributes.set("k", 1);
  EXPECT_NE(content_digest(model), before);
}

TEST(InspectContentDigest, HostileRolesAndTypesCannotForgeALine) {
  Model one, two;
  one.tensors.push_back(tensor_of<std::uint8_t>("n", {1}, DType::u8, {1}, "x\ty"));
  two.tensors.push_back(tensor_of<std::uint8_t>("n", {1}, DType::u8, {1}, "x\\ty"));
  EXPECT_NE(content_digest(one), content_digest(two));
}

Bytes long_bytes() {
  Bytes bytes(3 * 1024 * 1024 + 5);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + (i >> 8));
  return bytes;
}

TEST(InspectContentDigest, EncodedBytesAreDecodedWhateverTheThreads) {
  constexpr auto kExpected = "tare1:e25551e147b584a58f5ae6c1c900f14fe891e9bbd888860e4ea21bfc4e4bcfd2";
  const Bytes bytes = long_bytes();
  for (const Blob& blob : {Blob::memory(bytes), packed(bytes, 1 << 20), packed(bytes, 999), from_the_start(bytes)}) {
    Model model;
    model.tensors.push_back(dense("big", {bytes.size()}, DType::u8, blob));
    for (const unsigned threads : {1u, 2u, 5u}) {
      Progress progress;
      EXPECT_EQ(content_digest(model, {.threads = threads, .progress = &progress}), kExpected);
      EXPECT_EQ(progress.done(), bytes.size());
    }
  }
}

TEST(InspectContentDigest, SameFromAFile) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("m.zt");
  write_zt(digest_model(), path, writing(3));
  for (const Access access : {Access::mapped, Access::pread})
    EXPECT_EQ(content_digest(open(path, reading(access))), kDigest);
}

TEST(InspectContentDigest, SameInAnotherContainer) {
  const ScratchDirectory scratch;
  Model model;
  model.tensors.push_back(tensor_of<float>("b", {2, 3}, DType::f32, {1, 2, 3, 4, 5, 6}));
  model.tensors.push_back(tensor_of<double>("a", {}, DType::f64, {0.5}));
  model.tensors.push_back(tensor_of<std::uint8_t>("flags", {2, 1}, DType::boolean, {1, 0}));
  const std::string expected = content_digest(model);
  for (const std::string format : {"zt", "npz"}) {
    write_as(format, model, scratch.file("m." + format));
    EXPECT_EQ(content_digest(open(scratch.file("m." + format))), expected) << format;
  }
}

TEST(InspectContentDigest, BadBytesAreAnErrorThatNamesTheTensor) {
  Model model = digest_model();
  model.tensors[0].components[0].blob = Blob::zstd(memory_source(Bytes(8)), 0, 8, 24);
  try {
    content_digest(model);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt);
    EXPECT_EQ(error.item(), "tensor b");
  }
}

}  // namespace
}  // namespace tare
