// Differences between zTensor files of the original library and ours: compression that is kept, signed indices, groups
// along the other axis.
#include "conformance/models.hpp"
#include "conformance/zt_text.hpp"
#include "lines.hpp"
#include "tare/append.hpp"
#include "tare/convert.hpp"

namespace tare {
namespace {

using namespace tare::testing;

bool tells(const Conversion& done, std::string_view words) { return mentions(done.changes, words); }

Model zeros_and_noise() {
  Model model;
  model.tensors = {dense("zeros", {64, 64}, DType::f32, Blob::memory(Bytes(64 * 64 * 4))),
                   make_dense("noise", {100}, DType::u8)};
  return model;
}

// ---- compression is kept ----

TEST(ZtPacked, StaysAsItIsByteForByte) {
  const Scratch scratch;
  for (const auto digest : {DigestAlgorithm::none, DigestAlgorithm::sha256}) {
    put_file(scratch / "a.zt", write_bytes(*find_format("zt"), zeros_and_noise(), {.zstd_level = 3, .digest = digest}));
    const Conversion done = convert(scratch / "a.zt", scratch / "b.zt", {.overwrite = true});
    EXPECT_TRUE(get_file(scratch / "a.zt") == get_file(scratch / "b.zt"));
    EXPECT_TRUE(done.changes.empty()) << to_text(done.changes[0]);
  }
}

// Frames of other writers are not compressed again.
TEST(ZtPacked, FramesOfOthersAreKept) {
  using namespace zt_text;
  const std::string frame = packed_stream(std::string(4096, 'x'));
  const Entries part = with(with(component(64, frame.size(), "u8"), "uncompressed_length", cbor::number(4096)),
                            "encoding", cbor::text("zstd"));
  const Scratch scratch;
  put_file(scratch / "a.zt", one(object({4096}, "dense", {{"data", cbor::map(part)}}), frame));
  convert(scratch / "a.zt", scratch / "b.zt");
  const Blob blob = open(scratch / "b.zt").tensors.at(0).components[0].blob;
  EXPECT_EQ(blob.encoding(), Encoding::zstd);
  EXPECT_EQ(blob.stored_size(), frame.size());
  EXPECT_EQ(to_text(blob.bytes()), std::string(4096, 'x'));
}

// Copied without decompression, but not without a check.
TEST(ZtPacked, WhatDoesNotUnpackIsNotPassedOn) {
  using namespace zt_text;
  std::string frame = packed(std::string(4096, 'x'));
  const Entries part = with(with(component(64, frame.size(), "u8"), "uncompressed_length", cbor::number(5000)),
                            "encoding", cbor::text("zstd"));
  const Scratch scratch;
  put_file(scratch / "a.zt", one(object({5000}, "dense", {{"data", cbor::map(part)}}), frame));
  EXPECT_EQ(rule_of([&] { convert(scratch / "a.zt", scratch / "b.zt"); }), "zstd.short");
  EXPECT_FALSE(std::filesystem::exists(scratch / "b.zt"));
}

TEST(ZtPacked, IsUnpackedOrPackedAnewWhenAsked) {
  const Scratch scratch;
  put_file(scratch / "a.zt", write_bytes(*find_format("zt"), zeros_and_noise(), {.zstd_level = 1}));
  const auto encoding = [&](const ConvertOptions& options) {
    convert(scratch / "a.zt", scratch / "b.zt", options);
    return open(scratch / "b.zt").tensors.at(0).components[0].blob.encoding();
  };
  EXPECT_EQ(encoding({.overwrite = true}), Encoding::zstd);
  EXPECT_EQ(encoding({.write = {.unpack = true}, .overwrite = true}), Encoding::raw);
  EXPECT_TRUE(get_file(scratch / "b.zt") == write_bytes(*find_format("zt"), zeros_and_noise()));
  EXPECT_EQ(encoding({.write = {.zstd_level = 19}, .overwrite = true}), Encoding::zstd);
  EXPECT_TRUE(get_file(scratch / "b.zt") == write_bytes(*find_format("zt"), zeros_and_noise(), {.zstd_level = 19}));
}

TEST(ZtPacked, WhatIsNoLongerIsTold) {
  const Scratch scratch;
  put_file(scratch / "a.zt", write_bytes(*find_format("zt"), zeros_and_noise(), {.zstd_level = 1}));
  const Conversion cast = convert(scratch / "a.zt", scratch / "b.zt", {.adapt = {.dtype = DType::f16}});
  EXPECT_TRUE(tells(cast, "1 tensor no longer compressed: zeros"));
  const Conversion packed =
      convert(scratch / "a.zt", scratch / "c.zt", {.adapt = {.dtype = DType::f16}, .write = {.zstd_level = 1}});
  EXPECT_FALSE(tells(packed, "no longer compressed"));
  const Conversion npz = convert(scratch / "a.zt", scratch / "d.npz");  // npz is not expected to keep it
  EXPECT_FALSE(tells(npz, "no longer compressed"));
}

TEST(ZtPacked, AppendingKeepsItToo) {
  const Scratch scratch;
  put_file(scratch / "a.zt", write_bytes(*find_format("zt"), zeros_and_noise(), {.zstd_level = 1}));
  Model base;
  base.tensors = {make_dense("first", {3}, DType::f32)};
  put_file(scratch / "b.zt", write_bytes(*find_format("zt"), base));
  append(scratch / "b.zt", open(scratch / "a.zt"), {});
  const Model model = open(scratch / "b.zt");
  ASSERT_NE(model.tensor("zeros"), nullptr);
  EXPECT_EQ(model.tensor("zeros")->components[0].blob.encoding(), Encoding::zstd);
  EXPECT_TRUE(verify(scratch / "b.zt").ok(true));
}

// ---- signed indices ----

std::string narrow(const std::vector<std::int32_t>& numbers) {
  std::string out;
  for (const std::int32_t n : numbers) out += zt_text::le64(static_cast<std::uint32_t>(n)).substr(0, 4);
  return out;
}

// [[0, 1, 0], [2, 0, 3]]
Bytes csr_file(std::string_view dtype, const std::string& indices, const std::string& indptr) {
  using namespace zt_text;
  const std::string values("\0\0\x80\x3F\0\0\0\x40\0\0\x40\x40", 12);
  return one(object({2, 3}, "sparse_csr",
                    {{"indices", cbor::map(component(128, indices.size(), dtype))},
                     {"indptr", cbor::map(component(192, indptr.size(), dtype))},
                     {"values", cbor::map(component(64, 12))}}),
             padded(values) + padded(indices) + indptr);
}

TEST(ZtIndices, SignedOnesAreReadAndWrittenAsU64) {
  const Scratch scratch;
  using zt_text::words;
  put_file(scratch / "u64.zt", csr_file("u64", words({1, 0, 2}), words({0, 1, 3})));
  put_file(scratch / "i64.zt", csr_file("i64", words({1, 0, 2}), words({0, 1, 3})));
  put_file(scratch / "i32.zt", csr_file("i32", narrow({1, 0, 2}), narrow({0, 1, 3})));
  const std::string digest = content_digest(open(scratch / "u64.zt"));
  for (const std::string name : {"i64", "i32"}) {
    const std::string path = scratch / (name + ".zt"), out = scratch / (name + "-out.zt");
    for (const Access access : {Access::mapped, Access::pread})
      EXPECT_EQ(content_digest(open(path, {.access = access})), digest) << name;
    EXPECT_TRUE(verify(path).ok(false));
    EXPECT_FALSE(verify(path).ok(true)) << "a warning";
    const Conversion done = convert(path, out);
    EXPECT_TRUE(tells(done, "the document asks for u64")) << name;
    EXPECT_TRUE(verify(out).ok(true)) << name;
    EXPECT_EQ(open(out).tensors.at(0).component("indices")->dtype, DType::u64);
    EXPECT_EQ(content_digest(open(out)), digest);
    const Bytes dense = to_dense(open(path).tensors.at(0)).components[0].blob.bytes();
    EXPECT_TRUE(dense == to_dense(open(scratch / "u64.zt").tensors.at(0)).components[0].blob.bytes());
  }
  // Reads from every byte on.
  const Blob blob = open(scratch / "i32.zt").tensors.at(0).component("indices")->blob;
  for (std::uint64_t from = 0; from < blob.size(); ++from) {
    Bytes rest(static_cast<std::size_t>(blob.size() - from));
    blob.read(from, rest);
    EXPECT_EQ(to_text(rest), words({1, 0, 2}).substr(static_cast<std::size_t>(from)));
  }
}

TEST(ZtIndices, NegativeOnesAreOutOfRange) {
  const Scratch scratch;
  put_file(scratch / "i32.zt", csr_file("i32", narrow({1, 0, -2}), narrow({0, 1, 3})));
  const Verification result = verify(scratch / "i32.zt");
  EXPECT_EQ(result.count(Severity::error), 1U);
  EXPECT_TRUE(std::any_of(result.findings.begin(), result.findings.end(),
                          [](const Finding& finding) { return finding.rule == "zt.csr.column"; }));
}

TEST(ZtIndices, ADigestOfTheNarrowBytesIsStillLookedAt) {
  using namespace zt_text;
  const std::string values(8, '\0'), coords = narrow({0, 1});
  const auto file_with = [&](const std::string& digest) {
    return one(object({2}, "sparse_coo",
                      {{"coords", cbor::map(with(component(128, 8, "i32"), "digest", cbor::text(digest)))},
                       {"values", cbor::map(component(64, 8))}}),
               padded(values) + coords);
  };
  const Digest good = digest_of(DigestAlgorithm::sha256, to_bytes(coords));
  const Scratch scratch;
  put_file(scratch / "good.zt", file_with(good.text()));
  put_file(scratch / "bad.zt", file_with("sha256:" + std::string(64, '0')));
  EXPECT_TRUE(verify(scratch / "good.zt").ok(false));
  EXPECT_FALSE(verify(scratch / "bad.zt").ok(false));
  convert(scratch / "good.zt", scratch / "out.zt");
  EXPECT_EQ(rule_of([&] { convert(scratch / "bad.zt", scratch / "out2.zt"); }), "digest.mismatch");
}

// The manifest would have to describe the bytes in a form that they do not have.
TEST(ZtIndices, SuchAFileIsNotAppendedTo) {
  const Scratch scratch;
  put_file(scratch / "i32.zt", csr_file("i32", narrow({1, 0, 2}), narrow({0, 1, 3})));
  const Bytes before = get_file(scratch / "i32.zt");
  Model extra;
  extra.tensors = {make_dense("more", {3}, DType::f32)};
  EXPECT_EQ(rule_of([&] { append(scratch / "i32.zt", extra, {}); }), "zt.append.index");
  EXPECT_TRUE(get_file(scratch / "i32.zt") == before);
  put_file(scratch / "i64.zt", csr_file("i64", zt_text::words({1, 0, 2}), zt_text::words({0, 1, 3})));
  append(scratch / "i64.zt", extra, {});
  EXPECT_TRUE(verify(scratch / "i64.zt").ok(true));
}

// ---- groups along the other axis ----

Bytes group_file(std::uint64_t rows, std::uint64_t columns, std::uint64_t words, std::uint64_t groups) {
  using namespace zt_text;
  const std::uint64_t scales = 64 + (words * 4 + 63) / 64 * 64, zeros = scales + (groups * 2 + 63) / 64 * 64;
  Entries o = object({rows, columns}, "quantized_group",
                     {{"packed_weight", cbor::map(component(64, words * 4, "i32"))},
                      {"scales", cbor::map(component(scales, groups * 2, "f16"))},
                      {"zeros", cbor::map(component(zeros, groups * 2, "f16"))}});
  o.insert(o.begin() + 2,
           {"attributes", cbor::map({{"bits", "\x04"}, {"group_size", "\x08"}, {"packing", cbor::text("8_per_i32")}})});
  return one(o, std::string(static_cast<std::size_t>(zeros - 64 + groups * 2), '\0'));
}

TEST(ZtGroups, OfGptqAreCarriedAndNotDecoded) {
  const Scratch scratch;
  put_file(scratch / "gptq.zt", group_file(32, 3, 4 * 3, 4 * 3));
  EXPECT_FALSE(verify(scratch / "gptq.zt").ok(true));
  EXPECT_TRUE(verify(scratch / "gptq.zt").ok(false));
  const Conversion done = convert(scratch / "gptq.zt", scratch / "copy.zt");
  EXPECT_TRUE(tells(done, "carried and not decoded"));
  EXPECT_TRUE(get_file(scratch / "copy.zt") == get_file(scratch / "gptq.zt"));
  EXPECT_EQ(rule_of([&] { convert(scratch / "gptq.zt", scratch / "x.npz"); }), "group.orientation");
}

TEST(ZtGroups, WhereBothFitTheLastAxisIsTakenAndTold) {
  const Scratch scratch;
  put_file(scratch / "square.zt", group_file(8, 8, 8, 8));
  EXPECT_TRUE(verify(scratch / "square.zt").ok(true));
  EXPECT_TRUE(tells(convert(scratch / "square.zt", scratch / "a.npz"), "groups taken along the last axis"));
  EXPECT_FALSE(tells(convert(scratch / "square.zt", scratch / "copy.zt"), "axis"));
  put_file(scratch / "wide.zt", group_file(2, 16, 4, 4));
  EXPECT_FALSE(tells(convert(scratch / "wide.zt", scratch / "b.npz"), "axis"));
}

// ---- components in addition to the data ----

TEST(ZtExtras, AreNamedWhereThereIsNoPlaceForThem) {
  using namespace zt_text;
  const Scratch scratch;
  put_file(scratch / "a.zt",
           one(object({2}, "dense", {{"bias", cbor::map(component(128, 4))}, {"data", cbor::map(component(64, 8))}}),
               padded(kTwoFloats) + std::string(4, '\0')));
  for (const std::string name : {"x.npz", "x.safetensors", "x.mcf", "x.alt", "x.npy"}) {
    const auto error = error_of([&] { convert(scratch / "a.zt", scratch / name); });
    ASSERT_TRUE(error.has_value()) << name;
    EXPECT_EQ(error->rule(), "convert.components") << name;
    EXPECT_NE(error->sentence().find("with bias in addition to its data"), std::string::npos) << error->sentence();
  }
  EXPECT_EQ(rule_of([&] { convert(scratch / "a.zt", scratch / "x.npz", {.adapt = {.skip = {"w"}}}); }),
            "convert.match");
  // Not cast, because that would lose the other component.
  convert(scratch / "a.zt", scratch / "b.zt", {.adapt = {.dtype = DType::f16}});
  EXPECT_TRUE(get_file(scratch / "b.zt") == get_file(scratch / "a.zt"));
}

}  // namespace
}  // namespace tare
