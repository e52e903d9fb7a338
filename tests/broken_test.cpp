// One invalid tensor does not hide the others, in every container in which a single tensor can be invalid.
#include "conformance/mcf_bytes.hpp"
#include "conformance/models.hpp"
#include "conformance/zt_text.hpp"
#include "lines.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"
#include "zip_maker.hpp"

namespace tare {
namespace {

using namespace tare::testing;

// A file with the f32 tensors a = (1, 2) and c = (3, 4), and between them b, which breaks the rule.
struct Broken {
  std::string what, suffix, rule;
  Bytes file;
};

const std::string kNumbers("\0\0\x80\x3F\0\0\0\x40\0\0\x40\x40\0\0\x80\x40", 16);

Bytes zt_file(const zt_text::Entries& b) {
  using namespace zt_text;
  return file(padded(kNumbers.substr(0, 8)) + padded("bbbbbbbb") + kNumbers.substr(8),
              cbor::map(root({{"a", cbor::map(dense_object(component(64, 8)))},
                              {"b", cbor::map(b)},
                              {"c", cbor::map(dense_object(component(192, 8)))}})));
}

Bytes mcf_file(const std::string& field, std::uint64_t value) {
  mcf_bytes::File file;
  file.tensors = {{"a", 1, {2}, kNumbers.substr(0, 8), {}},
                  {"b", 6, {8}, std::string(8, '\0'), {{field, value}}},
                  {"c", 1, {2}, kNumbers.substr(8), {}}};
  return mcf_bytes::bytes_of(file);
}

Bytes safetensors_file(const std::string& b) {
  std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":)" + b +
                       R"(,"c":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}})";
  return to_bytes(zt_text::le64(header.size()) + header + kNumbers.substr(0, 8) + "bbbbbbbb" + kNumbers.substr(8));
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  text.resize((10 + text.size() + 1 + 63) / 64 * 64 - 11, ' ');
  text += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size() & 0xFF) +
         static_cast<char>(text.size() >> 8) + text + data;
}

Bytes zip_of(const std::vector<std::pair<std::string, std::string>>& files) {
  std::vector<MadeMember> members;
  for (const auto& [name, content] : files) members.push_back(made(name, content));
  return to_bytes(make_zip(std::move(members)).bytes);
}

Bytes npz_file(const std::string& b) {
  return zip_of({{"a.npy", npy("<f4", "2,", kNumbers.substr(0, 8))},
                 {"b.npy", b},
                 {"c.npy", npy("<f4", "2,", kNumbers.substr(8))}});
}

std::vector<Broken> broken_files() {
  using namespace zt_text;
  const auto part = [](std::uint64_t offset, std::uint64_t length) { return cbor::map(component(offset, length)); };
  return {
      {"zt size", ".zt", "zt.dense.size", zt_file(object({3}, "dense", {{"data", part(128, 8)}}))},
      {"zt dtype", ".zt", "zt.component.dtype", zt_file(dense_object(component(128, 8, "f4")))},
      {"zt type that is not one to one", ".zt", "zt.dense.size",
       zt_file(object({4}, "dense", {{"data", cbor::map(with(component(128, 8), "type", cbor::text("f2_new")))}}))},
      {"zt field missing", ".zt", "zt.object.missing_field",
       zt_file(without(dense_object(component(128, 8)), "shape"))},
      {"zt field of another kind", ".zt", "cbor.type",
       zt_file(with(dense_object(component(128, 8)), "shape", cbor::text("two")))},
      {"zt field twice", ".zt", "zt.object.duplicate_field", zt_file([&] {
         Entries twice = dense_object(component(128, 8));
         twice.push_back(twice[0]);
         return twice;
       }())},
      {"zt overlap", ".zt", "zt.component.overlap", zt_file(object({25}, "dense", {{"data", part(64, 100)}}))},
      {"mcf dtype", ".mcf", "mcf.tensor.dtype", mcf_file("dtype", 13)},
      {"mcf size", ".mcf", "mcf.dense.size", mcf_file("data_size", 7)},
      {"mcf bounds", ".mcf", "mcf.tensor.bounds", mcf_file("data_off", 1 << 20)},
      {"safetensors dtype", ".safetensors", "safetensors.entry.dtype",
       safetensors_file(R"({"dtype":"F2","shape":[2],"data_offsets":[8,16]})")},
      {"safetensors size", ".safetensors", "safetensors.tensor.size",
       safetensors_file(R"({"dtype":"F32","shape":[3],"data_offsets":[8,16]})")},
      {"npz length", ".npz", "npy.data.length", npz_file(npy("<f4", "3,", "bbbbbbbb"))},
      {"npz magic", ".npz", "npy.magic", npz_file("this is no array at all")},
  };
}

class BrokenTensors : public ::testing::TestWithParam<Broken> {
 protected:
  BrokenTensors() : path_(scratch_ / ("f" + GetParam().suffix)) { put_file(path_, GetParam().file); }
  const Scratch scratch_;
  const std::string path_;
};

INSTANTIATE_TEST_SUITE_P(Files, BrokenTensors, ::testing::ValuesIn(broken_files()), [](const auto& file) {
  std::string name = file.param.what;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

std::string values_of(const Model& model, std::string_view name) {
  const Tensor* const tensor = model.tensor(name);
  return tensor == nullptr ? "not there" : to_text(tensor->components[0].blob.bytes());
}

TEST_P(BrokenTensors, OpenThrowsUnlessAskedToGoOn) {
  EXPECT_EQ(rule_of([&] { open(path_); }), GetParam().rule);
  for (const Access access : {Access::mapped, Access::pread}) {
    const Model model = open(path_, {.access = access, .keep_broken = true});
    ASSERT_EQ(model.tensors.size(), 2U);
    EXPECT_EQ(values_of(model, "a"), kNumbers.substr(0, 8));
    EXPECT_EQ(values_of(model, "c"), kNumbers.substr(8));
    ASSERT_EQ(model.broken.size(), 1U);
    EXPECT_EQ(model.broken[0].tensor.name, "b");
    EXPECT_TRUE(model.broken[0].tensor.components.empty());
    EXPECT_EQ(model.broken[0].error.rule(), GetParam().rule);
    EXPECT_EQ(model.broken[0].error.file(), path_);
    EXPECT_TRUE(model.broken[0].error.offset().has_value());
    EXPECT_EQ(rule_of([&] { model.tensor("b"); }), GetParam().rule);
    EXPECT_EQ(model.tensor("d"), nullptr);
  }
}

TEST_P(BrokenTensors, VerifyTellsOfItAndOfNothingElse) {
  const Verification result = verify(path_);
  EXPECT_FALSE(result.ok(false));
  EXPECT_EQ(result.tensors, 2U);
  EXPECT_EQ(result.count(Severity::error), 1U);
  EXPECT_EQ(result.findings.at(0).rule, GetParam().rule);
  // Its bytes must not be taken for padding.
  for (const Finding& finding : result.findings) EXPECT_EQ(finding.rule.find("padding"), std::string::npos);
}

TEST_P(BrokenTensors, WhatNeedsAllTensorsRefusesByName) {
  const Model model = open(path_, {.keep_broken = true});
  const auto error = error_of([&] { content_digest(model); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->rule(), GetParam().rule);
  EXPECT_EQ(text_of(error->remedies()), "skip b");
  EXPECT_EQ(rule_of([&] { diff(model, model); }), GetParam().rule);
  const std::string out = scratch_ / "out.zt";
  EXPECT_EQ(rule_of([&] { convert(path_, out); }), GetParam().rule);
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_EQ(rule_of([&] { convert(path_, out, {.adapt = {.match = {"[ab]"}}}); }), GetParam().rule);
}

TEST_P(BrokenTensors, ConvertGoesWithoutItWhenAsked) {
  const std::string out = scratch_ / "out.zt";
  for (const AdaptOptions& adapt : {AdaptOptions{.skip = {"b"}}, AdaptOptions{.match = {"[ac]"}}}) {
    const Conversion done = convert(path_, out, {.adapt = adapt, .overwrite = true});
    EXPECT_EQ(done.tensors, 2U);
    ASSERT_FALSE(done.changes.empty());
    EXPECT_EQ(done.changes[0].kind, ChangeKind::skipped);
    EXPECT_EQ(done.changes[0].items, Lines{"b"});
    const Model model = open(out);
    EXPECT_EQ(values_of(model, "a"), kNumbers.substr(0, 8));
    EXPECT_EQ(values_of(model, "c"), kNumbers.substr(8));
    EXPECT_TRUE(verify(out).ok(true));
  }
}

TEST(Broken, SeveralAreAllNamed) {
  Model model;
  for (const std::string name : {"x", "y", "z"}) {
    BrokenTensor& broken =
        model.broken.emplace_back(BrokenTensor{{}, Error(ErrorKind::corrupt, "some.rule", "is bad")});
    broken.tensor.name = name;
  }
  const auto error = error_of([&] { model.refuse_broken(); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->sentence(), "is bad; 3 tensors are broken: x, y, z");
  EXPECT_EQ(text_of(error->remedies()), "skip");
}

// Two tensors, each with an invalid neighbour in another shard.
TEST(Broken, AShardHidesNothing) {
  const Scratch scratch;
  put_file(scratch / "model-00001-of-00002.safetensors",
           safetensors_file(R"({"dtype":"F2","shape":[2],"data_offsets":[8,16]})"));
  const std::string header = R"({"d":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  put_file(scratch / "model-00002-of-00002.safetensors",
           to_bytes(zt_text::le64(header.size()) + header + kNumbers.substr(0, 8)));
  put_file(scratch / "model.safetensors.index.json",
           to_bytes(R"({"metadata":{"total_size":32},"weight_map":{"a":"model-00001-of-00002.safetensors",)"
                    R"("b":"model-00001-of-00002.safetensors","c":"model-00001-of-00002.safetensors",)"
                    R"("d":"model-00002-of-00002.safetensors"}})"));
  const std::string path = scratch / "model.safetensors.index.json";
  EXPECT_EQ(rule_of([&] { open(path); }), "safetensors.entry.dtype");
  const Model model = open(path, {.keep_broken = true});
  EXPECT_EQ(model.tensors.size(), 3U);
  ASSERT_EQ(model.broken.size(), 1U);
  EXPECT_EQ(model.broken[0].tensor.name, "b");
  const Verification result = verify(path);
  ASSERT_EQ(result.count(Severity::error), 1U);
  EXPECT_EQ(result.count(Severity::warning), 0U);
  EXPECT_EQ(result.findings[0].rule, "safetensors.entry.dtype");
}

// ---- arrays that do not hold numbers ----

Bytes mixed_npz() {
  return zip_of({{"w.npy", npy("<f4", "2,", kNumbers.substr(0, 8))},
                 {"labels.npy", npy("<U1", "2,", std::string("a\0\0\0b\0\0\0", 8))},
                 {"format.npy", npy("|S3", "", "csr")},
                 {"when.npy", npy("<M8[s]", "1,", std::string(8, '\1'))},
                 {"obj.npy", npy("|O", "1,", "a pickle")}});
}

TEST(OtherArrays, AreCarriedAndHideNothing) {
  const Scratch scratch;
  put_file(scratch / "mixed.npz", mixed_npz());
  const Model model = open(scratch / "mixed.npz");
  ASSERT_EQ(model.tensors.size(), 1U);
  EXPECT_EQ(values_of(model, "w"), kNumbers.substr(0, 8));
  ASSERT_EQ(model.attachments.size(), 4U);
  EXPECT_NE(model.attachment("format.npy"), nullptr);
  EXPECT_TRUE(verify(scratch / "mixed.npz").ok(true)) << verify(scratch / "mixed.npz").findings[0].sentence;
  EXPECT_EQ(verify(scratch / "mixed.npz").count(Severity::note), 4U);
}

// Converts them through a container without arrays, and back under their own names.
TEST(OtherArrays, ComeBackAsTheMembersTheyWere) {
  const Scratch scratch;
  put_file(scratch / "mixed.npz", mixed_npz());
  convert(scratch / "mixed.npz", scratch / "through.zt");
  convert(scratch / "through.zt", scratch / "back.npz");
  const Model before = open(scratch / "mixed.npz"), after = open(scratch / "back.npz");
  EXPECT_EQ(content_digest(before), content_digest(after));
  ASSERT_EQ(after.attachments.size(), before.attachments.size());
  for (const Attachment& file : before.attachments) {
    ASSERT_NE(after.attachment(file.name), nullptr) << file.name;
    EXPECT_EQ(to_text(after.attachment(file.name)->blob.bytes()), to_text(file.blob.bytes()));
  }
  const std::string bytes = to_text(get_file(scratch / "back.npz"));
  EXPECT_NE(bytes.find("labels.npy"), std::string::npos) << "NumPy finds it under its name";
  EXPECT_EQ(bytes.find("__tare__/"), std::string::npos);
}

TEST(OtherArrays, AFileThatIsAnArrayOfNumbersKeepsOutOfTheWay) {
  const Scratch scratch;
  Model model;
  model.tensors = {make_dense("w", {2}, DType::f32)};
  model.attachments = {{"x.npy", Blob::memory(to_bytes(npy("<f4", "2,", kNumbers.substr(0, 8))))},
                       {"w.npy", Blob::memory(to_bytes(npy("<U1", "1,", std::string("a\0\0\0", 4))))}};
  const Model found = open(memory_source(write_bytes(*find_format("npz"), model)));
  EXPECT_EQ(found.tensors.size(), 1U);
  ASSERT_EQ(found.attachments.size(), 2U);
  EXPECT_NE(found.attachment("x.npy"), nullptr);
  EXPECT_NE(found.attachment("w.npy"), nullptr);
}

}  // namespace
}  // namespace tare
