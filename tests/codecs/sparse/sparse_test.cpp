// sparse_csr and sparse_coo: refusals, findings and decoding.
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

// Larger than the internal buffers.
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

// More output than one window, with entries in descending order.
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
    // The third entry comes before the others, so the entries are not in order.
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

}  // namespace
}  // namespace tare
