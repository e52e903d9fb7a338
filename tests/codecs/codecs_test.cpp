// The table of layouts: what each row refuses, reports, decodes and encodes.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "produced_blob.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

template <typename T>
Bytes packed(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) store_le<T>(bytes.data() + i * sizeof(T), values[i]);
  return bytes;
}
template <typename T>
std::vector<T> unpacked(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = load_le<T>(bytes.data() + i * sizeof(T));
  return values;
}
using U64s = std::vector<std::uint64_t>;
using Floats = std::vector<float>;

Component part(std::string role, DType dtype, Bytes bytes, std::string type = {}) {
  return {std::move(role), dtype, std::move(type), Blob::memory(std::move(bytes))};
}

Tensor csr(Shape shape, const Floats& values, const U64s& indices, const U64s& indptr) {
  Tensor tensor;
  tensor.name = "m";
  tensor.shape = std::move(shape);
  tensor.layout = "sparse_csr";
  tensor.components.push_back(part("values", DType::f32, packed(values)));
  tensor.components.push_back(part("indices", DType::u64, packed(indices)));
  tensor.components.push_back(part("indptr", DType::u64, packed(indptr)));
  return tensor;
}

template <typename T = float>
Tensor coo(Shape shape, const std::vector<T>& values, const U64s& coords, DType dtype = DType::f32,
           std::string type = {}) {
  Tensor tensor;
  tensor.name = "m";
  tensor.shape = std::move(shape);
  tensor.layout = "sparse_coo";
  tensor.components.push_back(part("values", dtype, packed(values), std::move(type)));
  tensor.components.push_back(part("coords", DType::u64, packed(coords)));
  return tensor;
}

std::string check_rule(const Tensor& tensor) {
  const auto problem = find_codec(tensor.layout)->check(tensor);
  return problem ? problem->rule : "";
}

std::vector<std::string> verify_rules(const Tensor& tensor) {
  EXPECT_EQ(check_rule(tensor), "");
  std::vector<std::string> rules;
  find_codec(tensor.layout)->verify(tensor, [&](const Problem& problem) { rules.push_back(problem.rule); });
  return rules;
}
using Rules = std::vector<std::string>;

// The rule that pulling the decoded bytes ends in.
std::string decode_rule(const Tensor& tensor) {
  try {
    to_dense(tensor).component("data")->blob.bytes();
  } catch (const Error& error) {
    EXPECT_EQ(error.item(), tensor.name);
    return error.rule();
  }
  return "";
}

Floats decoded(const Tensor& tensor) { return unpacked<float>(to_dense(tensor).component("data")->blob.bytes()); }

Component& component(Tensor& tensor, std::string_view role) {
  return *std::find_if(tensor.components.begin(), tensor.components.end(), [&](auto& c) { return c.role == role; });
}

// The same tensor with blobs that can only be read front to back, as foreign zstd is.
Tensor sequential(Tensor tensor) {
  for (Component& c : tensor.components) c.blob = test::produced_blob(c.blob.bytes(), 0);
  return tensor;
}

// Reads a blob from every one of a few offsets and compares with the whole.
void expect_enterable(const Blob& blob) {
  const Bytes whole = blob.bytes();
  for (const std::size_t offset :
       {std::size_t{0}, std::size_t{1}, whole.size() / 3, whole.size() / 2 + 1, whole.size()}) {
    if (offset > whole.size()) continue;
    Bytes tail(whole.size() - offset);
    blob.open(offset)->read(tail);
    EXPECT_TRUE(std::equal(tail.begin(), tail.end(), whole.begin() + static_cast<std::ptrdiff_t>(offset))) << offset;
  }
}

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

// A budget of bits trusts both.
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

// A decoded or encoded blob is as sound as the stored bytes it is made from.
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

// --- sparse_csr ---

TEST(SparseCsr, Check) {
  const Tensor good = csr({2, 3}, {1, 2}, {0, 2}, {0, 1, 2});
  EXPECT_EQ(check_rule(good), "");
  EXPECT_EQ(check_rule(csr({6}, {1}, {0}, {0, 1})), "csr.rank");
  EXPECT_EQ(check_rule(csr({2, 3}, {1}, {0}, {0, 1})), "csr.indptr");
  EXPECT_EQ(check_rule(csr({2, 3}, {1, 2}, {0}, {0, 1, 1})), "csr.counts");
  EXPECT_EQ(check_rule(csr({UINT64_MAX, 3}, {1}, {0}, {})), "csr.indptr");
  EXPECT_EQ(check_rule(csr({UINT64_MAX / 8, 3}, {1}, {0}, {})), "csr.indptr");
  for (const char* role : {"values", "indices", "indptr"}) {
    Tensor tensor = good;
    component(tensor, role).role = "other";
    EXPECT_EQ(check_rule(tensor), "csr.missing") << role;
  }
  for (const char* role : {"indices", "indptr"}) {
    Tensor tensor = good;
    component(tensor, role).dtype = DType::i64;
    EXPECT_EQ(check_rule(tensor), "csr.index_type") << role;
  }
  Tensor torn = good;
  component(torn, "values").blob = Blob::memory(Bytes(9));
  EXPECT_EQ(check_rule(torn), "csr.counts");
  component(torn, "values").blob = Blob::memory(Bytes(16));
  component(torn, "values").type = "complex64";
  EXPECT_EQ(check_rule(torn), "");
}

TEST(SparseCsr, VerifyAndDecodeAgreeOnBadData) {
  struct Case {
    Tensor tensor;
    std::string rule;
  };
  const Case cases[] = {
      {csr({2, 3}, {1, 2}, {0, 2}, {1, 1, 2}), "csr.indptr_start"},
      {csr({3, 3}, {1, 2}, {0, 2}, {0, 2, 1, 2}), "csr.indptr_order"},
      {csr({2, 3}, {1, 2}, {0, 2}, {0, 1, 1}), "csr.indptr_end"},
      {csr({2, 3}, {1, 2}, {0, 2}, {0, 1, 9}), "csr.indptr_end"},
      {csr({2, 3}, {1, 2}, {0, 2}, {0, 1, UINT64_MAX}), "csr.indptr_end"},
      {csr({2, 3}, {1, 2}, {0, 3}, {0, 1, 2}), "csr.column"},
      {csr({2, 3}, {1, 2}, {0, UINT64_MAX}, {0, 1, 2}), "csr.column"},
      {csr({2, 3}, {1, 2}, {2, 0}, {0, 0, 2}), "csr.order"},
      {csr({2, 3}, {1, 2}, {1, 1}, {0, 2, 2}), "csr.order"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(verify_rules(c.tensor), Rules{c.rule});
    EXPECT_EQ(decode_rule(c.tensor), c.rule);
    EXPECT_EQ(decode_rule(sequential(c.tensor)), c.rule);
  }
  EXPECT_EQ(verify_rules(csr({4, 3}, {1, 2, 3}, {2, 0, 1}, {0, 0, 1, 1, 3})), Rules{});
}

TEST(SparseCsr, Decodes) {
  const Tensor tensor = csr({4, 3}, {1, 2, -0.0f}, {2, 0, 1}, {0, 0, 1, 1, 3});
  EXPECT_EQ(decoded(tensor), Floats({0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0}));
  EXPECT_TRUE(std::signbit(decoded(tensor)[10]));
  const Tensor result = to_dense(tensor);
  EXPECT_TRUE(result.is_dense());
  EXPECT_EQ(result.name, "m");
  EXPECT_EQ(result.shape, tensor.shape);
  EXPECT_EQ(result.component("data")->blob.seek_granularity(), 12u);
  EXPECT_EQ(to_dense(sequential(tensor)).component("data")->blob.seek_granularity(), 0u);
  EXPECT_EQ(decoded(csr({0, 3}, {}, {}, {0})), Floats{});
  EXPECT_EQ(decoded(csr({3, 0}, {}, {}, {0, 0, 0, 0})), Floats{});
}

TEST(SparseCsr, RandomMatricesDecode) {
  EXPECT_TRUE(rc::check("csr == dense", [] {
    const auto rows = *rc::gen::inRange<std::uint64_t>(1, 30), columns = *rc::gen::inRange<std::uint64_t>(1, 30);
    Floats all(rows * columns), values;
    U64s indices, indptr = {0};
    for (std::uint64_t r = 0; r < rows; ++r) {
      const auto density = *rc::gen::inRange(0, 4);
      for (std::uint64_t c = 0; c < columns; ++c) {
        if (*rc::gen::inRange(0, 4) >= density) continue;
        values.push_back(static_cast<float>(values.size() + 1));
        indices.push_back(c);
        all[r * columns + c] = values.back();
      }
      indptr.push_back(values.size());
    }
    const Tensor tensor = csr({rows, columns}, values, indices, indptr);
    RC_ASSERT(verify_rules(tensor).empty());
    RC_ASSERT(decoded(tensor) == all);
    RC_ASSERT(decoded(sequential(tensor)) == all);
    expect_enterable(to_dense(tensor).component("data")->blob);
  }));
}

TEST(Sparse, ShapesThatOnlyAFewBytesVouchForAreLimited) {
  EXPECT_EQ(decode_rule(csr({1, std::uint64_t{1} << 60}, {1}, {5}, {0, 1})), "codec.too_large");
  EXPECT_EQ(decode_rule(coo({std::uint64_t{1} << 40, std::uint64_t{1} << 40}, Floats{1}, {0, 0})), "codec.too_large");
  EXPECT_EQ(verify_rules(coo({std::uint64_t{1} << 40, std::uint64_t{1} << 40}, Floats{1}, {0, 0})), Rules{});
}

// Larger than the buffers inside.
TEST(Sparse, LargeMatrices) {
  std::mt19937 random(3);
  const std::uint64_t rows = 700, columns = 900;
  Floats all(rows * columns), values;
  U64s indices, indptr = {0}, row_of;
  for (std::uint64_t r = 0; r < rows; ++r) {
    for (std::uint64_t c = 0; c < columns; ++c)
      if (random() % 5 == 0) {
        values.push_back(static_cast<float>(random() % 1000));
        indices.push_back(c);
        row_of.push_back(r);
        all[r * columns + c] = values.back();
      }
    indptr.push_back(values.size());
  }
  const Tensor by_rows = csr({rows, columns}, values, indices, indptr);
  EXPECT_EQ(decoded(by_rows), all);
  expect_enterable(to_dense(by_rows).component("data")->blob);
  U64s coords = row_of;
  coords.insert(coords.end(), indices.begin(), indices.end());
  const Tensor by_place = coo({rows, columns}, values, coords);
  EXPECT_EQ(verify_rules(by_place), Rules{});
  EXPECT_EQ(decoded(by_place), all);
  EXPECT_EQ(decoded(sequential(by_place)), all);
  expect_enterable(to_dense(by_place).component("data")->blob);
}

// --- sparse_coo ---

TEST(SparseCoo, Check) {
  const Tensor good = coo({2, 3}, Floats{1, 2}, {0, 1, 2, 0});
  EXPECT_EQ(check_rule(good), "");
  EXPECT_EQ(check_rule(coo({2, 3}, Floats{1, 2}, {0, 1, 2})), "coo.coords");
  EXPECT_EQ(check_rule(coo({}, Floats{1}, {})), "");
  Tensor tensor = good;
  component(tensor, "coords").dtype = DType::u32;
  EXPECT_EQ(check_rule(tensor), "coo.index_type");
  component(tensor, "coords").role = "other";
  EXPECT_EQ(check_rule(tensor), "coo.missing");
  tensor = good;
  component(tensor, "values").role = "other";
  EXPECT_EQ(check_rule(tensor), "coo.missing");
  tensor = good;
  component(tensor, "values").blob = Blob::memory(Bytes(7));
  EXPECT_EQ(check_rule(tensor), "coo.counts");
}

TEST(SparseCoo, VerifyData) {
  EXPECT_EQ(verify_rules(coo({2, 3}, Floats{1, 2}, {0, 1, 2, 0})), Rules{});
  EXPECT_EQ(verify_rules(coo({2, 3}, Floats{1, 2}, {0, 2, 2, 0})), Rules{"coo.bounds"});
  EXPECT_EQ(verify_rules(coo({2, 3}, Floats{1, 2}, {0, 1, 0, UINT64_MAX})), Rules{"coo.bounds"});
  EXPECT_EQ(verify_rules(coo({2, 3}, Floats{1, 2}, {1, 1, 2, 2})), Rules{"coo.duplicate"});
  EXPECT_EQ(verify_rules(coo({2, 3}, Floats{1, 2, 3}, {1, 0, 1, 2, 0, 2})), Rules{"coo.duplicate"});  // unsorted
  EXPECT_EQ(verify_rules(coo({2, 3}, Floats{1, 2, 3}, {1, 0, 0, 2, 0, 2})), Rules{});
  EXPECT_EQ(decode_rule(coo({2, 3}, Floats{1, 2}, {0, 2, 2, 0})), "coo.bounds");
  EXPECT_EQ(decode_rule(sequential(coo({2, 3}, Floats{1, 2}, {0, 1, 0, UINT64_MAX}))), "coo.bounds");
}

TEST(SparseCoo, AnyOrderAndRankDecodes) {
  EXPECT_TRUE(rc::check("coo == dense, duplicates added up", [] {
    Shape shape;
    const auto rank = *rc::gen::inRange(0, 4);
    for (int i = 0; i < rank; ++i) shape.push_back(*rc::gen::inRange<std::uint64_t>(1, 7));
    const auto count = *rc::gen::inRange<std::size_t>(0, 40);
    const bool sorted = *rc::gen::arbitrary<bool>();
    U64s places;
    for (std::size_t i = 0; i < count; ++i)
      places.push_back(*rc::gen::inRange<std::uint64_t>(0, shape.elements().value()));
    if (sorted) std::sort(places.begin(), places.end());
    Floats all(shape.elements().value()), values;
    U64s coords(count * shape.rank());
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(static_cast<float>(1 << (i % 10)));
      all[places[i]] += values.back();
      std::uint64_t rest = places[i];
      for (std::size_t d = shape.rank(); d-- > 0; rest /= shape[d]) coords[d * count + i] = rest % shape[d];
    }
    const Tensor tensor = coo(shape, values, coords);
    const bool unique = std::set<std::uint64_t>(places.begin(), places.end()).size() == count;
    RC_ASSERT(verify_rules(tensor) == (unique ? Rules{} : Rules{"coo.duplicate"}));
    RC_ASSERT(decoded(tensor) == all);
    RC_ASSERT(decoded(sequential(tensor)) == all);
    expect_enterable(to_dense(tensor).component("data")->blob);
  }));
}

// More output than one window, entries in falling order.
TEST(SparseCoo, UnsortedBeyondAWindow) {
  const std::uint64_t size = 3'000'000;
  U64s coords;
  Floats values;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    coords.push_back(size - 1 - i * 1499);
    values.push_back(static_cast<float>(i + 1));
  }
  const Tensor tensor = coo({size}, values, coords);
  const Floats all = decoded(tensor);
  Floats expected(size);
  for (std::size_t i = 0; i < coords.size(); ++i) expected[coords[i]] = values[i];
  EXPECT_TRUE(all == expected);
  EXPECT_TRUE(decoded(sequential(tensor)) == expected);
}

template <typename T>
void expect_sum(DType dtype, std::vector<T> values, std::vector<T> sum, std::string type = {}) {
  for (const bool sorted : {true, false}) {
    // The third entry, in front of the others, makes the order fall.
    U64s coords = {1, 1};
    std::vector<T> all = values;
    const std::size_t width = values.size() / 2;
    if (!sorted) {
      coords.push_back(0);
      all.insert(all.end(), width, T{});
    }
    const Tensor result = to_dense(coo({2}, all, coords, dtype, type));
    std::vector<T> expected(width, T{});
    expected.insert(expected.end(), sum.begin(), sum.end());
    EXPECT_EQ(unpacked<T>(result.component("data")->blob.bytes()), expected) << name_of(dtype);
  }
}

TEST(SparseCoo, DuplicatesAddInTheirOwnType) {
  expect_sum<double>(DType::f64, {0.1, 0.2}, {0.1 + 0.2});
  expect_sum<float>(DType::f32, {0.1f, 0.2f}, {0.1f + 0.2f});
  expect_sum<std::uint16_t>(DType::f16, {0x3C00, 0x3C00}, {0x4000});
  expect_sum<std::uint16_t>(DType::bf16, {0x3F80, 0x3F80}, {0x4000});
  expect_sum<std::int64_t>(DType::i64, {INT64_MAX, 1}, {INT64_MIN});
  expect_sum<std::uint32_t>(DType::u32, {UINT32_MAX, 2}, {1});
  expect_sum<std::int16_t>(DType::i16, {-5, 3}, {-2});
  expect_sum<std::uint8_t>(DType::u8, {200, 100}, {44});
  expect_sum<std::uint8_t>(DType::boolean, {1, 1}, {1});
  expect_sum<float>(DType::f32, {1, 2, 10, 20}, {11, 22}, "complex64");
  const Tensor fp8 = coo<std::uint8_t>({2}, {0x38, 0x38}, {1, 1}, DType::u8, "f8_e4m3fn");
  EXPECT_EQ(decode_rule(fp8), "coo.duplicate");
}

// --- zt.group ---

Tensor group(Shape shape, int bits, int group_size, const std::vector<std::uint32_t>& words, const Floats& scales,
             const Floats& zeros) {
  Tensor tensor;
  tensor.name = "q";
  tensor.shape = std::move(shape);
  tensor.layout = "quantized_group";
  tensor.components.push_back(part("packed_weight", DType::i32, packed(words)));
  tensor.components.push_back(part("scales", DType::f32, packed(scales)));
  tensor.components.push_back(part("zeros", DType::f32, packed(zeros)));
  tensor.attributes.set("bits", bits);
  tensor.attributes.set("group_size", group_size);
  tensor.attributes.set("packing", std::to_string(32 / bits) + "_per_i32");
  return tensor;
}

TEST(ZtGroup, DecodesByHand) {
  // Two rows of 5 columns, groups of 2: codes 1 2 | 3 4 | 5 and 15 14 | 13 12 | 11, lowest bits first.
  const Tensor tensor =
      group({2, 5}, 4, 2, {0x00054321, 0x000BCDEF}, {1, 10, 100, 0.5f, 0.25f, 2}, {0, 3, 5, 15, 12, 1});
  EXPECT_EQ(check_rule(tensor), "");
  EXPECT_EQ(verify_rules(tensor), Rules{});
  const Floats expected = {1, 2, 0, 10, 0, 0, -0.5f, 0.25f, 0, 20};
  EXPECT_EQ(decoded(tensor), expected);
  EXPECT_EQ(decoded(sequential(tensor)), expected);
  expect_enterable(to_dense(tensor).component("data")->blob);
  EXPECT_EQ(to_dense(tensor).attributes.find("bits"), nullptr);
  EXPECT_EQ(to_dense(tensor).component("data")->dtype, DType::f32);
}

TEST(ZtGroup, Check) {
  const Tensor good = group({2, 5}, 4, 2, {1, 2}, Floats(6), Floats(6));
  EXPECT_EQ(check_rule(group({2, 5}, 4, 2, {1}, Floats(6), Floats(6))), "group.size");
  EXPECT_EQ(check_rule(group({2, 5}, 4, 2, {1, 2}, Floats(5), Floats(6))), "group.size");
  EXPECT_EQ(check_rule(group({2, 5}, 4, 2, {1, 2}, Floats(6), Floats(7))), "group.size");
  EXPECT_EQ(check_rule(group({UINT64_MAX, 5}, 4, 2, {1, 2}, Floats(6), Floats(6))), "group.size");
  for (const char* role : {"packed_weight", "scales", "zeros"}) {
    Tensor tensor = good;
    component(tensor, role).role = "other";
    EXPECT_EQ(check_rule(tensor), "group.missing") << role;
  }
}

// Carried as they are, whatever their sizes, and not decoded.
TEST(ZtGroup, UnknownParametersAreCarried) {
  const Tensor good = group({2, 5}, 4, 2, {1}, {}, {});
  const auto expect_carried = [](const Tensor& tensor) {
    EXPECT_EQ(check_rule(tensor), "");
    EXPECT_EQ(verify_rules(tensor), Rules{});
    EXPECT_EQ(decode_rule(tensor), "group.packing");
  };
  for (const Value& packing : {Value("4_per_i32"), Value("8_per_i64"), Value("_per_i32"), Value("-8_per_i32"), Value(8),
                               Value("99999999999999999999_per_i32"), Value()}) {
    Tensor tensor = good;
    tensor.attributes.set("packing", packing);
    expect_carried(tensor);
  }
  for (const Value& bits : {Value(3), Value(0), Value(-4), Value("4"), Value(4.0), Value(INT64_MAX)}) {
    Tensor tensor = good;
    tensor.attributes.set("bits", bits);
    expect_carried(tensor);
  }
  for (const Value& size : {Value(0), Value(-1), Value("2")}) {
    Tensor tensor = good;
    tensor.attributes.set("group_size", size);
    expect_carried(tensor);
  }
  Tensor tensor = good;
  tensor.attributes = {};
  expect_carried(tensor);
  tensor = good;
  tensor.shape = {2, 5, 1};
  expect_carried(tensor);
  tensor = good;
  component(tensor, "packed_weight").dtype = DType::u8;
  expect_carried(tensor);
}

TEST(ZtGroup, AGroupMayBeWiderThanTheRow) {
  Tensor tensor = group({2, 3}, 8, 128, {0x00030201, 0x00060504}, {1, 2}, {0, 4});
  EXPECT_EQ(decoded(tensor), Floats({1, 2, 3, 0, 2, 4}));
  tensor.attributes.set("group_size", INT64_MAX);
  EXPECT_EQ(decoded(tensor), Floats({1, 2, 3, 0, 2, 4}));
}

TEST(ZtGroup, VerifyData) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(verify_rules(group({2, 4}, 8, 2, {1, 2}, {1, inf, NAN, 0}, {0, 0, 0, 255})), Rules{"group.scale"});
  EXPECT_EQ(verify_rules(group({2, 4}, 8, 2, {1, 2}, {1, 1, 1, 1}, {0, -1, 0, 0})), Rules{"group.zero"});
  EXPECT_EQ(verify_rules(group({2, 4}, 8, 2, {1, 2}, {1, 1, 1, 1}, {0, 256, NAN, 0})), Rules{"group.zero"});
  EXPECT_EQ(verify_rules(group({2, 3}, 8, 3, {1, 0x01000000}, {1, 1}, {0, 0})), Rules{"group.unused_bits"});
  EXPECT_EQ(verify_rules(group({0, 4}, 8, 2, {}, {}, {})), Rules{});
  EXPECT_EQ(verify_rules(group({std::uint64_t{1} << 62, 0}, 8, 2, {}, {}, {})), Rules{});
}

Tensor random_matrix(std::uint64_t rows, std::uint64_t columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.02f);
  Floats values(rows * columns);
  for (float& v : values) v = normal(random);
  return dense("w", {rows, columns}, DType::f32, Blob::memory(packed(values)));
}

Tensor encode(const Tensor& tensor, const std::string& method) {
  return find_codec_by_method(method)->encode(tensor, {method, 1});
}

TEST(ZtGroupEncode, StaysWithinHalfAStep) {
  for (const auto& [method, bits] : std::map<std::string, int>{{"group2", 2}, {"zt.group4", 4}, {"group8", 8}}) {
    for (const std::uint64_t columns : {1u, 127u, 128u, 300u, 1024u}) {
      const Tensor input = random_matrix(5, columns, 11);
      const Tensor coded = encode(input, method);
      EXPECT_EQ(coded.layout, "quantized_group");
      EXPECT_EQ(coded.shape, input.shape);
      EXPECT_EQ(coded.attributes.find("bits")->data(), Value(bits).data());
      EXPECT_EQ(coded.attributes.find("group_size")->data(), Value(128).data());
      EXPECT_EQ(*coded.attributes.find("packing")->text(), std::to_string(32 / bits) + "_per_i32");
      ASSERT_EQ(check_rule(coded), "");
      EXPECT_EQ(verify_rules(coded), Rules{});
      const Floats in = unpacked<float>(input.component("data")->blob.bytes()), out = decoded(coded);
      const auto scales = unpacked<std::uint16_t>(coded.component("scales")->blob.bytes());
      const std::size_t groups = (columns + 127) / 128;
      for (std::size_t i = 0; i < in.size(); ++i) {
        const float scale = f16_to_f32(scales[i / columns * groups + i % columns / 128]);
        // Half a step for the code, half a step for the rounding of the zero-point at the ends of the range, and a
        // little for the rounding of the scale.
        ASSERT_LE(std::fabs(in[i] - out[i]), scale * 1.02f) << method << " " << i;
      }
    }
  }
}

TEST(ZtGroupEncode, ByHand) {
  // Range [-1, 2] in 3 steps of 1: zero 1, codes 0 1 2 3; 0.4 rounds to 0, 1.6 to 2.
  const Tensor coded =
      encode(dense("w", {1, 6}, DType::f32, Blob::memory(packed<float>({-1, 0, 1, 2, 0.4f, 1.6f}))), "group2");
  EXPECT_EQ(unpacked<std::uint32_t>(coded.component("packed_weight")->blob.bytes()),
            std::vector<std::uint32_t>({0b11'01'11'10'01'00}));
  EXPECT_EQ(unpacked<std::uint16_t>(coded.component("scales")->blob.bytes()), std::vector<std::uint16_t>({0x3C00}));
  EXPECT_EQ(unpacked<std::uint16_t>(coded.component("zeros")->blob.bytes()), std::vector<std::uint16_t>({0x3C00}));
  EXPECT_EQ(decoded(coded), Floats({-1, 0, 1, 2, 0, 2}));
}

TEST(ZtGroupEncode, ZeroAndConstantGroups) {
  Floats values(3 * 128);
  std::fill_n(values.begin() + 128, 128, 5.0f);
  std::fill_n(values.begin() + 256, 128, -3.0f);
  const Tensor coded = encode(dense("w", {3, 128}, DType::f32, Blob::memory(packed(values))), "group8");
  const Floats out = decoded(coded);
  EXPECT_EQ(Floats(out.begin(), out.begin() + 128), Floats(128));
  EXPECT_NEAR(out[128], 5, 0.02);
  EXPECT_NEAR(out[256], -3, 0.02);
  EXPECT_EQ(verify_rules(coded), Rules{});
}

TEST(ZtGroupEncode, TinyWeightsDoNotOutgrowTheirCodes) {
  // The exact scale lies between two subnormals of f16: rounded down, the largest weight would be cut off.
  for (const double scale : {1.4 * 0x1p-24, 0.3 * 0x1p-24, 7.49 * 0x1p-24}) {
    const auto high = static_cast<float>(15 * scale);
    const Tensor coded = encode(dense("w", {1, 2}, DType::f32, Blob::memory(packed<float>({high, 0}))), "group4");
    EXPECT_NEAR(decoded(coded)[0], high, 0x1p-24);
  }
}

TEST(ZtGroupEncode, OtherInputsOfTheSameValuesGiveTheSameBytes) {
  const Tensor half = cast(random_matrix(3, 200, 5), DType::bf16);
  const Tensor coded = encode(half, "group4"), wide = encode(cast(half, DType::f64), "group4");
  const Tensor slow = encode(sequential(half), "group4");
  for (const Component& c : coded.components) {
    EXPECT_EQ(c.blob.bytes(), wide.component(c.role)->blob.bytes()) << c.role;
    EXPECT_EQ(c.blob.bytes(), slow.component(c.role)->blob.bytes()) << c.role;
    EXPECT_EQ(slow.component(c.role)->blob.seek_granularity(), 0u);
    EXPECT_NE(c.blob.seek_granularity(), 0u);
    expect_enterable(c.blob);
  }
}

TEST(ZtGroupEncode, Refuses) {
  const auto rule_of = [](const Tensor& tensor, const std::string& method = "group4") -> std::string {
    try {
      const Tensor coded = find_codec("quantized_group")->encode(tensor, {method, 1});
      for (const Component& c : coded.components) c.blob.bytes();
    } catch (const Error& error) {
      EXPECT_EQ(error.item(), method == "group4" ? "w" : "");
      return error.rule() + ": " + error.sentence();
    }
    return "";
  };
  Floats values(2 * 300);
  values[300 + 290] = std::numeric_limits<float>::infinity();
  const auto matrix = [&] { return dense("w", {2, 300}, DType::f32, Blob::memory(packed(values))); };
  EXPECT_EQ(rule_of(matrix()).find("group.nonfinite: element [1, 290] is inf"), 0u) << rule_of(matrix());
  values[300 + 290] = NAN;
  EXPECT_EQ(rule_of(matrix()).find("group.nonfinite: element [1, 290] is nan"), 0u);
  values[300 + 290] = 3e38f;
  EXPECT_EQ(rule_of(matrix()).find("group.overflow"), 0u);
  EXPECT_EQ(rule_of(dense("w", {4}, DType::f32, Blob::memory(Bytes(16)))).find("group.rank"), 0u);
  EXPECT_EQ(rule_of(dense("w", {2, 2}, DType::i32, Blob::memory(Bytes(16)))).find("group.type"), 0u);
  EXPECT_EQ(rule_of(dense("w", {1, 2}, DType::f32, Blob::memory(Bytes(16)), "complex64")).find("group.type"), 0u);
  EXPECT_EQ(rule_of(dense("w", {2, 2}, DType::f32, Blob::memory(Bytes(16))), "group5").find("group.method"), 0u);
  EXPECT_EQ(rule_of(dense("w", {2, 2}, DType::f32, Blob::memory(Bytes(15)))).find("group.input"), 0u);
}

TEST(ZtGroupEncode, EmptyMatrices) {
  for (const Shape& shape : {Shape{0, 5}, Shape{5, 0}}) {
    const Tensor coded = encode(dense("w", shape, DType::f32, Blob::memory({})), "group4");
    EXPECT_EQ(check_rule(coded), "");
    EXPECT_EQ(verify_rules(coded), Rules{});
    EXPECT_EQ(decoded(coded), Floats{});
  }
}

}  // namespace
}  // namespace tare
