// What a file may ask for, compared with its size.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "conformance/memory.hpp"
#include "conformance/models.hpp"
#include "conformance/safetensors_cases.hpp"
#include "conformance/zt_text.hpp"
#include "lines.hpp"
#include "model/transfer.hpp"
#include "resources/json_file.hpp"
#include "resources/piece_merges.hpp"
#include "resources/resources.hpp"
#include "tare/codec.hpp"
#include "tare/convert.hpp"
#include "wire/value_json.hpp"
#include "zip_maker.hpp"

namespace tare {
namespace {

using namespace tare::testing;

TEST(Limits, SumsDoNotWrap) {
  Limits limits{.decoded_bytes = 100, .expansion = 3};
  EXPECT_EQ(limits.decoded_from(0), 100u);
  EXPECT_EQ(limits.decoded_from(7), 121u);
  limits.expansion = UINT64_MAX;
  EXPECT_EQ(limits.decoded_from(2), UINT64_MAX);
}

// ---- the decoded size of all tensors

std::string rule_with(const Bytes& file, Limits limits, bool listing = false) {
  return rule_of([&] { open(memory_source(file, "it"), {.limits = limits, .listing = listing}); });
}

// `count` tensors that share one compressed range of `size` zeros.
Bytes sharing(std::size_t count, std::size_t size) {
  using namespace zt_text;
  const std::string frame = packed(std::string(size, '\0'));
  Entries data = component(64, frame.size(), "u8"), objects;
  data.emplace_back("encoding", cbor::text("zstd"));
  data.emplace_back("uncompressed_length", cbor::number(size));
  for (std::size_t i = 0; i < count; ++i)
    objects.emplace_back("t" + std::to_string(i), cbor::map(object({size}, "dense", {{"data", cbor::map(data)}})));
  return file(frame, cbor::map(root(objects)));
}

TEST(Expansion, ArraysOfFortranCountTwice) {
  const auto archive = [](std::string_view fortran) {
    std::string header = fmt::format("{{'descr': '|u1', 'fortran_order': {}, 'shape': (300, 300), }}", fortran);
    header.resize(118, ' ');
    const std::string array = "\x93NUMPY\x01" + std::string(1, '\0') + "\x76" + std::string(1, '\0') + header;
    return bytes_of(make_zip({made("a.npy", array + std::string(90'000, '\0'), true)}).bytes);
  };
  const Limits limits{.decoded_bytes = 100'000, .expansion = 1};
  EXPECT_EQ(rule_with(archive("False"), limits), "");
  EXPECT_EQ(rule_with(archive("True"), limits), "open.expansion");
  EXPECT_EQ(rule_with(archive("True"), {.decoded_bytes = 200'000, .expansion = 1}), "");
}

TEST(Expansion, AllTensorsTogetherAreHeldAgainstTheFile) {
  const Bytes one = sharing(1, 100'000), three = sharing(3, 100'000);
  const Limits small{.decoded_bytes = 200'000, .expansion = 1};
  EXPECT_EQ(rule_with(one, small), "");
  EXPECT_EQ(rule_with(three, small), "open.expansion");
  EXPECT_EQ(rule_with(three, small, true), "") << "a listing decodes nothing";
  EXPECT_EQ(rule_with(three, {.decoded_bytes = 200'000, .expansion = 1000}), "");
  const auto error = error_of([&] { open(memory_source(three, "it"), {.limits = small}); });
  EXPECT_EQ(error->kind(), ErrorKind::limit);
  EXPECT_EQ(error->file(), "it");
  EXPECT_TRUE(text_of(error->remedies()).starts_with("allow_expansion ")) << text_of(error->remedies());
}

TEST(Expansion, SharedPlainBytesCountAsOftenAsTheyAreRead) {
  using namespace zt_text;
  Entries objects;
  for (std::size_t i = 0; i < 50; ++i)
    objects.emplace_back("t" + std::to_string(i),
                         cbor::map(object({10'000}, "dense", {{"data", cbor::map(component(64, 10'000, "u8"))}})));
  const Bytes shared = file(std::string(10'000, 'x'), cbor::map(root(objects)));
  EXPECT_EQ(rule_with(shared, {.decoded_bytes = 0, .expansion = 10}), "open.expansion");
  EXPECT_EQ(rule_with(shared, {.decoded_bytes = 0, .expansion = 50}), "");
}

// Compressed bytes cost time even if they decode to nothing.
TEST(Expansion, PackedBytesOfNothingCount) {
  using namespace zt_text;
  std::string frame = packed("");
  for (int i = 0; i < 8; ++i) frame += frame;
  Entries data = component(64, frame.size(), "u8"), objects;
  data.emplace_back("encoding", cbor::text("zstd"));
  data.emplace_back("uncompressed_length", cbor::number(0));
  for (std::size_t i = 0; i < 100; ++i)
    objects.emplace_back("t" + std::to_string(i), cbor::map(object({0}, "dense", {{"data", cbor::map(data)}})));
  EXPECT_EQ(rule_with(file(frame, cbor::map(root(objects))), {.decoded_bytes = 0, .expansion = 32}), "open.expansion");
}

// Codes that compress well decode to floats that are many times larger.
TEST(Expansion, CompressedCodesCountAsFloats) {
  const Codec* const codec = find_codec_by_method("q2_k");
  ASSERT_NE(codec, nullptr);
  EncodeOptions options;
  options.method = "q2_k";
  Model model;
  model.tensors.push_back(codec->encode(dense("w", {1024, 1024}, std::vector<float>(1 << 20)), options));
  const std::uint64_t codes = model.tensors[0].components[0].blob.size();
  const Scratch scratch;
  const std::string path = scratch / "m.zt";
  (void)save(model, path, {.write = {.zstd_level = 3}});
  ASSERT_LT(std::filesystem::file_size(path), codes / 10);
  const auto rule = [&](std::uint64_t decoded) {
    return rule_of([&] { (void)open(path, {.limits = {.decoded_bytes = decoded, .expansion = 1}}); });
  };
  EXPECT_EQ(rule(2 * codes), "open.expansion");
  EXPECT_EQ(rule(4 << 20), "");
}

TEST(Expansion, ASparseTensorCountsAsADenseOne) {
  using namespace zt_text;
  const std::string data = std::string(64, '\0') + std::string(8, '\0');
  const Bytes bytes =
      file(data, cbor::map(root({{"m", cbor::map(object({1 << 20, 1 << 10}, "sparse_coo",
                                                        {{"values", cbor::map(component(64, 0))},
                                                         {"coords", cbor::map(component(64, 0, "u64"))}}))}})));
  EXPECT_EQ(rule_with(bytes, {}), "open.expansion");  // 4 GiB
  EXPECT_EQ(rule_with(bytes, {.decoded_bytes = std::uint64_t{4} << 30}), "");
}

TEST(Expansion, VerifyTellsItAsAFinding) {
  const Scratch scratch;
  put_file(scratch / "it.zt", sharing(3, 100'000));
  VerifyOptions options;
  options.read.limits = {.decoded_bytes = 0, .expansion = 1};
  const Verification result = verify(scratch / "it.zt", options);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings.back().rule, "open.expansion");
  EXPECT_FALSE(result.ok(false));
  EXPECT_EQ(result.format, "zt");
}

// A frame that fails after some decoding costs as much as any other.
TEST(Expansion, FramesThatFailAreChargedWhenSizesAreMeasured) {
  using namespace zt_text;
  std::string frame = packed_stream(std::string(std::size_t{1} << 20, 'x'));
  frame.resize(frame.size() - 3);
  frame += std::string(64 - frame.size() % 64, '\xFF');
  Entries objects;
  for (std::size_t i = 0; i < 20; ++i) {
    Entries data = component(64 + i * frame.size(), frame.size(), "u8");
    data.emplace_back("encoding", cbor::text("zstd"));
    objects.emplace_back(fmt::format("t{:02}", i), cbor::map(object({2}, "x.custom", {{"data", cbor::map(data)}})));
  }
  std::string all;
  for (int i = 0; i < 20; ++i) all += frame;
  const Scratch scratch;
  put_file(scratch / "it.zt", file(all, cbor::map(root(objects, "1.1.0"))));
  VerifyOptions options;
  options.read.limits.decoded_bytes = std::uint64_t{3} << 20;
  options.read.limits.expansion = 0;
  const Verification result = verify(scratch / "it.zt", options);
  const auto broken = std::count_if(result.findings.begin(), result.findings.end(),
                                    [](const Finding& f) { return f.rule.starts_with("zstd."); });
  EXPECT_GE(broken, 2);
  EXPECT_LE(broken, 4) << "the others are not decoded any more";
}

// ---- metadata

TEST(Values, AreCountedOverAllTextsOfAFile) {
  wire::TreeBounds bounds{8, 7};
  EXPECT_EQ(wire::parse_value_json("[1,2,3]", bounds), Value(List{1, 2, 3}));
  EXPECT_EQ(bounds.values, 3u);
  EXPECT_EQ(rule_of([&] { wire::parse_value_json("[1,2,3]", bounds); }), "json.values");
  EXPECT_EQ(rule_of([&] { wire::parse_value_json("{\"a\":{\"b\":[]}}", {8, 2}); }), "json.values");
}

// A regression: 67 KB became 4 GB.
TEST(Values, OfADeflatedTreeAreHeldAgainstItsStoredBytes) {
  std::string text = R"({"tare":1,"metadata":{"x":[0)";
  for (int i = 0; i < 1'000'000; ++i) text += ",0";
  text += "]}}";
  const Bytes file = bytes_of(make_zip({made("__tare__.json", text, true)}).bytes);
  EXPECT_LT(file.size(), 10'000u);
  const std::size_t peak = peak_during([&] { EXPECT_EQ(rule_with(file, {}), "open.values"); });
  EXPECT_LT(kCountsMemory ? peak : 0, std::size_t{64} << 20);
}

TEST(Values, OfAManifestAreHeldAgainstItsBytes) {
  using namespace zt_text;
  const auto with = [](std::size_t count) {
    const cbor::Item zeros = cbor::array(std::vector<cbor::Item>(count, cbor::number(0)));
    Entries entries = root({});
    entries.emplace_back("attributes", cbor::map({{"x", zeros}}));
    return file("", cbor::map(entries));
  };
  EXPECT_EQ(rule_with(with(100), {.metadata_values = 90}), "");
  EXPECT_EQ(rule_with(with(1000), {.metadata_values = 90}), "open.values");
}

TEST(Ranks, OfSafetensorsAreBounded) {
  std::string shape = "1";
  for (int i = 1; i < 64; ++i) shape += ",1";
  const auto file = [](const std::string& dims) { return st_file("{" + st_entry("x", "U8", dims, 0, 1) + "}", 1); };
  EXPECT_EQ(rule_with(file(shape), {}), "");
  EXPECT_EQ(rule_with(file(shape + ",1"), {}), "safetensors.entry.rank");
  EXPECT_EQ(rule_with(file(shape + ",1"), {.rank = 65}), "");
}

// ---- texts

TEST(Texts, WordsThatJsonDoesNotHaveBecomeNull) {
  const Map json = resources::parse_small_json(R"({"a":[NaN,-Infinity,Infinity,1],"NaN":"Infinity \" NaN","b":NaN})");
  EXPECT_EQ(json.size(), 3U);
  EXPECT_TRUE(json.find("b")->is_null());
  EXPECT_EQ(*json.find("NaN"), Value("Infinity \" NaN"));
  EXPECT_EQ(*json.find("a"), Value(List{nullptr, nullptr, nullptr, 1}));
}

TEST(Texts, AVocabularyOfLineFeedsIsRefused) {
  const std::string feeds(2'000'000, '\n');
  EXPECT_EQ(rule_of([&] { resources::parse_vocab_txt(feeds); }), "tokenizer.vocab");
  std::string words;
  for (int i = 0; i < 400'000; ++i) words += std::to_string(i) + "\n";
  EXPECT_EQ(resources::parse_vocab_txt(words).tokens.size(), 400'000u);
}

TEST(Texts, PiecesOfEachOtherDoNotBecomeAMountainOfMerges) {
  Vocabulary vocabulary;
  const auto add = [&](char letter, std::size_t most) {
    for (std::size_t length = 1; length <= most; ++length)
      vocabulary.tokens.push_back(
          {std::string(length, letter), -static_cast<float>(vocabulary.tokens.size()), TokenType::normal});
  };
  for (char letter = 'a'; letter <= 'z'; ++letter) add(letter, 16);
  EXPECT_EQ(resources::merges_of_ranked(vocabulary).size(), 26u * (15 * 16 / 2));
  for (char letter = 'A'; letter <= 'Z'; ++letter) add(letter, 256);
  EXPECT_EQ(rule_of([&] { resources::merges_of_ranked(vocabulary); }), "tokenizer.merges");
}

// ---- writing

// Zeros that can be entered only at places far apart, as in a sparse matrix with long rows.
class Rows final : public BlobProducer {
 public:
  static constexpr std::uint64_t kRow = std::uint64_t{48} << 20;
  std::unique_ptr<BlobReader> open(std::uint64_t) const override { return std::make_unique<Reader>(); }
  std::uint64_t seek_granularity() const override { return kRow; }
  void verify() const override {}

 private:
  class Reader final : public BlobReader {
    void read(std::span<std::byte> out) override { std::memset(out.data(), 0, out.size()); }
  };
};

TEST(Writing, LongRowsAreNotHeldWhole) {
  if (!kCountsMemory) GTEST_SKIP() << "memory is not counted under a sanitizer";
  const Scratch scratch;
  const std::size_t peak = peak_during([&] {
    const auto sink = create_file(scratch / "out");
    TransferOptions options;
    options.running = DigestAlgorithm::xxh3;
    options.threads = 2;
    Transfer transfer(*sink, options);
    transfer.add(Blob::produced(2 * Rows::kRow, std::make_shared<Rows>()));
    transfer.finish();
  });
  EXPECT_LT(peak, std::size_t{24} << 20);
}

}  // namespace
}  // namespace tare
