// Files of container versions 0.1, 1.0 and 1.1, assembled by hand as their writers made them.
#include "conformance/models.hpp"
#include "conformance/zt_text.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using namespace tare::testing::zt_text;

Model reopen(const Bytes& file) { return open(memory_source(file, "f")); }

Entries record(std::string_view name, std::uint64_t offset, std::uint64_t size, std::string_view dtype,
               const std::vector<std::uint64_t>& dimensions, std::string_view encoding = "raw") {
  return {{"name", cbor::text(name)},        {"offset", cbor::number(offset)}, {"size", cbor::number(size)},
          {"dtype", cbor::text(dtype)},      {"layout", cbor::text("dense")},  {"shape", shape(dimensions)},
          {"encoding", cbor::text(encoding)}};
}

TEST(ZtLegacy01, BothEmptyForms) {
  for (const Bytes& file : {file_v01("", "\x80"), file_v01("", "")}) {
    const Model model = reopen(file);
    EXPECT_EQ(model.version, "0.1");
    EXPECT_TRUE(model.tensors.empty());
  }
  EXPECT_EQ(file_v01("", "\x80").size(), 17U);
  EXPECT_EQ(file_v01("", "").size(), 16U);
}

TEST(ZtLegacy01, EveryType) {
  const std::pair<std::string_view, DType> names[] = {
      {"float64", DType::f64}, {"float32", DType::f32}, {"float16", DType::f16}, {"bfloat16", DType::bf16},
      {"int64", DType::i64},   {"int32", DType::i32},   {"int16", DType::i16},   {"int8", DType::i8},
      {"uint64", DType::u64},  {"uint32", DType::u32},  {"uint16", DType::u16},  {"uint8", DType::u8},
      {"bool", DType::boolean}};
  for (const auto& [name, dtype] : names) {
    const std::string data(2 * size_of(dtype), '\1');
    const Model model =
        reopen(file_v01(data, cbor::array({cbor::indefinite_map(record("w", 64, data.size(), name, {2}))})));
    ASSERT_EQ(model.tensors.size(), 1U);
    EXPECT_EQ(model.tensors[0].components[0].dtype, dtype);
    EXPECT_EQ(to_text(model.tensors[0].components[0].blob.bytes()), data);
  }
}

TEST(ZtLegacy01, BigEndianIsConverted) {
  Entries big = record("w", 64, 8, "float32", {2});
  big.emplace_back("data_endianness", cbor::text("big"));
  big.emplace_back(
      "checksum",
      cbor::text(digest_of(DigestAlgorithm::crc32c, to_bytes(std::string("\x3F\x80\0\0\x40\0\0\0", 8))).text()));
  big.emplace_back("custom", cbor::number(4));
  const Bytes file = file_v01(std::string("\x3F\x80\0\0\x40\0\0\0", 8), cbor::array({cbor::indefinite_map(big)}));
  const Model model = reopen(file);
  const Blob& blob = model.tensors.at(0).components[0].blob;
  EXPECT_EQ(to_text(blob.bytes()), kTwoFloats);
  for (std::size_t from = 0; from <= 8; ++from)
    for (std::size_t count = 0; from + count <= 8; ++count) {
      Bytes part(count);
      blob.read(from, part);
      EXPECT_EQ(to_text(part), kTwoFloats.substr(from, count));
    }
  EXPECT_EQ(*model.tensors[0].attributes.find("custom"), Value(4));
  EXPECT_EQ(rule_of([&] { blob.verify(); }), "");
  Bytes bad = file;
  bad[70] ^= std::byte{1};
  const Model broken = reopen(bad);
  EXPECT_EQ(rule_of([&] { broken.tensors.at(0).components[0].blob.verify(); }), "digest.mismatch");
  // Written as 1.2, it is little-endian and no longer has the checksum of the other bytes.
  const Model again = reopen(write_bytes(*find_format("zt"), model));
  EXPECT_EQ(to_text(again.tensors.at(0).components[0].blob.bytes()), kTwoFloats);
}

TEST(ZtLegacy01, CompressedDataAndChecksum) {
  const std::string frame = packed_stream(kTwoFloats);
  Entries fields = record("w", 64, frame.size(), "float32", {2}, "zstd");
  fields.emplace_back("checksum", cbor::text(digest_of(DigestAlgorithm::crc32c, to_bytes(frame)).text()));
  const Bytes file = file_v01(frame, cbor::array({cbor::map(fields)}));
  const Model model = reopen(file);
  EXPECT_EQ(to_text(model.tensors.at(0).components[0].blob.bytes()), kTwoFloats);
  Bytes bad = file;
  bad[64 + frame.size() - 1] ^= std::byte{1};
  EXPECT_NE(rule_of([&] { reopen(bad).tensors.at(0).components[0].blob.bytes(); }), "");
}

TEST(ZtLegacy01, OrderIsByOffset) {
  const Bytes file = file_v01(padded("B") + "A", cbor::array({cbor::map(record("second", 128, 1, "uint8", {1})),
                                                              cbor::map(record("first", 64, 1, "uint8", {1}))}));
  const Model model = reopen(file);
  EXPECT_EQ(model.tensors.at(0).name, "first");
  EXPECT_EQ(model.tensors.at(1).name, "second");
}

Entries old_root(const Entries& tensors) {
  return {{"version", cbor::text("1.0")},
          {"generator", cbor::text("zTensor-Rust v0.1.0")},
          {"attributes", cbor::map({{"k", cbor::text("v")}})},
          {"tensors", cbor::map(tensors)}};
}

Entries old_component(std::uint64_t offset, std::uint64_t length) {
  return {{"offset", cbor::number(offset)}, {"length", cbor::number(length)}};
}

TEST(ZtLegacy10, DenseAndSparse) {
  const std::string values = kTwoFloats, indices = words({1, 0}), indptr = words({0, 1, 2});
  const std::string data = padded(kTwoFloats) + padded(values) + padded(indices) + indptr;
  Entries digested = old_component(64, 8);
  digested.emplace_back("digest", cbor::text(digest_of(DigestAlgorithm::crc32c, to_bytes(kTwoFloats)).text()));
  const Entries d = {{"dtype", cbor::text("float32")},
                     {"shape", shape({2})},
                     {"format", cbor::text("dense")},
                     {"components", cbor::map({{"data", cbor::map(digested)}})}};
  const Entries s = {{"dtype", cbor::text("float32")},
                     {"shape", shape({2, 2})},
                     {"format", cbor::text("sparse_csr")},
                     {"components", cbor::map({{"indices", cbor::map(old_component(192, 16))},
                                               {"indptr", cbor::map(old_component(256, 24))},
                                               {"values", cbor::map(old_component(128, 8))}})}};
  const Bytes file = file_v10(data, cbor::map(old_root({{"d", cbor::map(d)}, {"s", cbor::map(s)}})));
  const Model model = reopen(file);
  EXPECT_EQ(model.version, "1.0");
  EXPECT_EQ(*model.metadata.find("k"), Value("v"));
  EXPECT_EQ(model.tensor("d")->components[0].dtype, DType::f32);
  EXPECT_EQ(rule_of([&] { model.tensor("d")->components[0].blob.verify(); }), "");
  EXPECT_EQ(model.tensor("s")->component("indptr")->dtype, DType::u64);
  EXPECT_EQ(model.tensor("s")->component("values")->dtype, DType::f32);
  EXPECT_EQ(to_text(model.tensor("s")->component("indices")->blob.bytes()), indices);
  // Sizes that are not stated are found by decoding.
  const std::string packed_values = packed_stream(values), packed_indices = packed_stream(indices),
                    packed_indptr = packed(indptr);
  const auto zipped = [](std::uint64_t offset, const std::string& frame) {
    Entries e = old_component(offset, frame.size());
    e.emplace_back("encoding", cbor::text("zstd"));
    return cbor::map(e);
  };
  const Entries z = with(s, "components",
                         cbor::map({{"indices", zipped(128, packed_indices)},
                                    {"indptr", zipped(192, packed_indptr)},
                                    {"values", zipped(64, packed_values)}}));
  const Model unzipped = reopen(file_v10(padded(packed_values) + padded(packed_indices) + packed_indptr,
                                         cbor::map(old_root({{"s", cbor::map(z)}}))));
  EXPECT_EQ(to_text(unzipped.tensor("s")->component("indices")->blob.bytes()), indices);
  EXPECT_EQ(to_text(unzipped.tensor("s")->component("indptr")->blob.bytes()), indptr);
}

TEST(ZtLegacy10, EveryTruncationIsAnError) {
  const Entries d = {{"dtype", cbor::text("float32")},
                     {"shape", shape({2})},
                     {"format", cbor::text("dense")},
                     {"components", cbor::map({{"data", cbor::map(old_component(64, 8))}})}};
  for (const Bytes& whole : {file_v10(kTwoFloats, cbor::map(old_root({{"d", cbor::map(d)}}))),
                             file_v01(kTwoFloats, cbor::array({cbor::map(record("w", 64, 8, "float32", {2}))}))})
    for (std::size_t length = 0; length < whole.size(); ++length) {
      // Truncated there, a file of 0.1 is a valid empty file.
      if (length == 16 && to_text(whole).starts_with("ZTEN0001")) continue;
      EXPECT_NE(rule_of([&] { reopen(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length))); }), "")
          << length;
    }
}

TEST(ZtLegacy11, CompressedWithoutItsSize) {
  const std::string dense_frame = packed_stream(kTwoFloats);
  const std::string values = packed_stream(kTwoFloats), coords = packed_stream(words({0, 1}));
  const std::string data = padded(dense_frame) + padded(values) + coords;
  const auto zipped = [](std::uint64_t offset, const std::string& frame, std::string_view dtype) {
    Entries e = component(offset, frame.size(), dtype);
    e.emplace_back("encoding", cbor::text("zstd"));
    e.emplace_back("digest", cbor::text("sha256:" + digest_of(DigestAlgorithm::sha256, to_bytes(frame)).hex()));
    return cbor::map(e);
  };
  const Entries objects = {
      {"d", cbor::map(object({2}, "dense", {{"data", zipped(64, dense_frame, "f32")}}))},
      {"s", cbor::map(object({2}, "sparse_coo",
                             {{"coords", zipped(192, coords, "u64")}, {"values", zipped(128, values, "f32")}}))}};
  const Model model = reopen(file(data, cbor::map(root(objects, "1.1.0"))));
  EXPECT_EQ(model.version, "1.1.0");
  EXPECT_EQ(to_text(model.tensor("d")->components[0].blob.bytes()), kTwoFloats);
  EXPECT_EQ(to_text(model.tensor("s")->component("coords")->blob.bytes()), words({0, 1}));
  // Written again, it states its sizes.
  const Model again = reopen(write_bytes(*find_format("zt"), model, {.zstd_level = 3}));
  EXPECT_EQ(again.version, "1.2.0");
  EXPECT_EQ(content_digest(again), content_digest(model));
  // From 1.2 on, the size is required.
  EXPECT_EQ(rule_of([&] { reopen(file(data, cbor::map(root(objects)))); }), "zt.component.uncompressed_length");
}

// A few bytes that decode to gigabytes must not be decoded repeatedly just to list a file.
TEST(ZtLegacy11, DecodingToLearnSizesHasABudget) {
  const std::string frame = packed_stream(std::string(std::size_t{1} << 20, 'x'));
  Entries zipped = component(64, frame.size(), "u8");
  zipped.emplace_back("encoding", cbor::text("zstd"));
  Entries components;
  for (int i = 0; i < 100; ++i) components.emplace_back("c" + std::to_string(i), cbor::map(zipped));
  const auto file_of = [&](const std::string& data, const Entries& parts) {
    return file(data, cbor::map(root({{"w", cbor::map(object({2}, "x.custom", parts))}}, "1.1.0")));
  };
  ReadOptions options;
  options.limits.component_bytes = std::uint64_t{1} << 20;
  options.limits.decoded_bytes = std::uint64_t{256} << 20;
  EXPECT_EQ(rule_of([&] { open(memory_source(file_of(frame, components)), options); }), "")
      << "one range, decoded once";

  zipped[1] = {"offset", cbor::number(64 + padded(frame).size())};
  components.emplace_back("other", cbor::map(zipped));
  const Bytes two = file_of(padded(frame) + frame, components);
  const auto error = error_of([&] { open(memory_source(two), options); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->rule(), "zt.component.limit");
  EXPECT_EQ(error->item(), "tensor w");
  EXPECT_NE(error->sentence().find("more than the 1048576 bytes allowed"), std::string::npos) << error->what();
  options.limits.component_bytes *= 2;
  EXPECT_EQ(rule_of([&] { open(memory_source(two), options); }), "");
}

}  // namespace
}  // namespace tare
