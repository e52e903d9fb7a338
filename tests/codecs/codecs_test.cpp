// The table of layouts: requirements on every row, and dense tensors.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "base/half.hpp"
#include "codecs/layout_samples.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

using namespace layout_samples;

// --- the table ---

TEST(CodecTable, RowsAreSound) {
  std::set<std::string_view> layouts, methods;
  for (const Codec& codec : codecs()) {
    EXPECT_TRUE(layouts.insert(codec.layout).second) << codec.layout;
    EXPECT_FALSE(codec.title.empty());
    EXPECT_FALSE(codec.roles.empty());
    EXPECT_NE(codec.check, nullptr);
    EXPECT_NE(codec.verify, nullptr);
    EXPECT_EQ(codec.decode == nullptr, codec.layout == "dense");
    EXPECT_EQ(codec.encode == nullptr, codec.methods.empty());
    for (const std::string_view method : codec.methods) {
      EXPECT_TRUE(methods.insert(method).second) << method;
      EXPECT_EQ(find_codec_by_method(method), &codec);
    }
    EXPECT_EQ(find_codec(codec.layout), &codec);
  }
  EXPECT_EQ(find_codec("nothing"), nullptr);
  EXPECT_EQ(find_codec_by_method("zt.group4"), find_codec("quantized_group"));
  EXPECT_EQ(find_codec_by_method("mcf.group4"), nullptr);
  EXPECT_EQ(find_codec_by_method("group3"), nullptr);
  EXPECT_EQ(find_codec_by_method(""), nullptr);
}

// A budget of bits relies on both.
TEST(CodecTable, CodecsForABudgetKnowTheirSizeAndTheirLoss) {
  std::size_t count = 0;
  for (const Codec& codec : codecs()) {
    if (codec.budget == nullptr) continue;
    ++count;
    for (const Shape& shape : {Shape{3, 288}, Shape{1, 32}, Shape{70, 1024}}) {
      if (shape[1] % codec.row_multiple != 0) continue;
      const auto report = std::make_shared<EncodeReport>();
      Bytes bytes(static_cast<std::size_t>(*shape.elements() * 4));
      for (std::size_t i = 0; i < bytes.size(); i += 4)
        store_le<float>(&bytes[i], static_cast<float>(static_cast<int>(i * 37 % 1001) - 500));
      const Tensor coded = codec.encode(dense("w", shape, DType::f32, Blob::memory(bytes)),
                                        {.method = std::string(codec.methods.front()), .report = report});
      EXPECT_EQ(coded.bytes(), codec.budget(shape)) << codec.layout << " " << shape.text();
      coded.components[0].blob.bytes();
      EXPECT_TRUE(report->complete && report->squared_error > 0) << codec.layout;
    }
  }
  EXPECT_GE(count, 8U);
}

TEST(CodecTable, TypeNames) {
  EXPECT_EQ(dtype_name(dense("d", {1}, DType::f32, Blob::memory(Bytes(4)))), "f32");
  EXPECT_EQ(dtype_name(dense("d", {1}, DType::u8, Blob::memory(Bytes(1)), "f8_e5m2")), "f8_e5m2");
  EXPECT_EQ(dtype_name(csr({0, 0}, {}, {}, {0})), "f32");
  EXPECT_EQ(dtype_name(coo({1}, Floats{}, {})), "f32");
  Tensor other = dense("d", {1}, DType::f32, Blob::memory(Bytes(4)));
  other.layout = "nobody.knows";
  EXPECT_EQ(dtype_name(other), "nobody.knows");
  EXPECT_EQ(decode_rule(other), "codec.unknown");
  other.layout = "quantized_group";
  EXPECT_EQ(dtype_name(other), "zt.group");
}

// A decoded or encoded blob is verified through the stored bytes that it is made from.
TEST(CodecTable, VerifyReachesTheStoredBytes) {
  Hasher hasher(DigestAlgorithm::sha256);
  const Digest of_nothing = hasher.finish();
  const auto mark = [&](Tensor tensor, std::string_view role) {
    for (Component& c : tensor.components)
      if (c.role == role) c.blob = Blob::range(c.blob.source(), c.blob.offset(), c.blob.size(), of_nothing);
    return tensor;
  };
  const auto rule_of = [](const Tensor& tensor) -> std::string {
    try {
      for (const Component& c : tensor.components) c.blob.verify();
    } catch (const Error& error) {
      return error.rule();
    }
    return "";
  };
  const Tensor by_rows = csr({2, 3}, {1, 2}, {0, 2}, {0, 1, 2}), listed = coo({2, 3}, Floats{1}, {0, 0});
  const Tensor floats = dense("w", {1, 2}, DType::f32, Blob::memory(Bytes(8)));
  EXPECT_EQ(rule_of(to_dense(by_rows)), "");
  EXPECT_EQ(rule_of(to_dense(mark(by_rows, "indptr"))), "digest.mismatch");
  EXPECT_EQ(rule_of(to_dense(mark(listed, "coords"))), "digest.mismatch");
  EXPECT_EQ(rule_of(cast(mark(floats, "data"), DType::f16)), "digest.mismatch");
  EXPECT_EQ(rule_of(find_codec("quantized_group")->encode(mark(floats, "data"), {"group4", 1})), "digest.mismatch");
}

// --- dense ---

TEST(DenseLayout, SizeRule) {
  EXPECT_EQ(check_rule(dense("d", {2, 3}, DType::f32, Blob::memory(Bytes(24)))), "");
  EXPECT_EQ(check_rule(dense("d", {}, DType::f64, Blob::memory(Bytes(8)))), "");
  EXPECT_EQ(check_rule(dense("d", {2, 3}, DType::f32, Blob::memory(Bytes(23)))), "dense.size");
  EXPECT_EQ(check_rule(dense("d", {2, 3}, DType::f32, Blob::memory(Bytes(25)))), "dense.size");
  EXPECT_EQ(check_rule(dense("d", {3}, DType::f32, Blob::memory(Bytes(24)), "complex64")), "");
  EXPECT_EQ(check_rule(dense("d", {3}, DType::f32, Blob::memory(Bytes(12)), "complex64")), "dense.size");
  EXPECT_EQ(check_rule(dense("d", {3}, DType::f64, Blob::memory(Bytes(48)), "complex128")), "");
  EXPECT_EQ(check_rule(dense("d", {3}, DType::u8, Blob::memory(Bytes(3)), "mystery")), "");
  EXPECT_EQ(check_rule(dense("d", {3}, DType::u8, Blob::memory(Bytes(4)), "mystery")), "dense.size");
  EXPECT_EQ(check_rule(dense("d", {0, UINT64_MAX, 8}, DType::f32, Blob::memory({}))), "");
  EXPECT_EQ(check_rule(dense("d", {UINT64_MAX, 2}, DType::u8, Blob::memory({}))), "dense.size");
  EXPECT_EQ(check_rule(dense("d", {std::uint64_t{1} << 62}, DType::f32, Blob::memory({}))), "dense.size");
}

TEST(DenseLayout, Roles) {
  Tensor tensor = dense("d", {1}, DType::f32, Blob::memory(Bytes(4)));
  tensor.components.push_back(part("extra", DType::u8, Bytes(3)));
  EXPECT_EQ(check_rule(tensor), "");
  tensor.components[0].role = "values";
  EXPECT_EQ(check_rule(tensor), "dense.missing");
  EXPECT_EQ(decode_rule(tensor), "dense.missing");
}

TEST(DenseLayout, BooleansAreZeroOrOne) {
  Bytes bytes(100'000, std::byte{1});
  Tensor tensor = dense("d", {bytes.size()}, DType::boolean, Blob::memory(bytes));
  EXPECT_EQ(verify_rules(tensor), Rules{});
  bytes[70'000] = std::byte{2};
  bytes[70'001] = bytes[99'999] = std::byte{255};
  tensor = dense("d", {bytes.size()}, DType::boolean, Blob::memory(bytes));
  std::vector<Problem> problems;
  find_codec("dense")->verify(tensor, [&](const Problem& p) { problems.push_back(p); });
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].rule, "bool.value");
  EXPECT_NE(problems[0].sentence.find("element 70000 is 2 (3 such"), std::string::npos) << problems[0].sentence;
  EXPECT_EQ(verify_rules(dense("d", {2}, DType::i8, Blob::memory(Bytes(2)), "f8_e4m3fn")), Rules{"type.storage"});
}

}  // namespace
}  // namespace tare
