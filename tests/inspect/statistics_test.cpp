// Statistics, compared with values computed by hand or by a plain two-pass reference in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "inspect/models.hpp"

namespace tare {
namespace {

using namespace tare::test;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Counts = std::vector<std::uint64_t>;

void expect_same(const Statistics& a, const Statistics& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.nan, b.nan);
  EXPECT_EQ(a.inf, b.inf);
  EXPECT_EQ(a.zeros, b.zeros);
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(a.max, b.max);
  EXPECT_EQ(a.mean, b.mean);  // exactly equal, because the order of the sums is fixed
  EXPECT_EQ(a.std, b.std);
  EXPECT_EQ(a.histogram, b.histogram);
  EXPECT_EQ(a.first, b.first);
}

TEST(InspectStatistics, SmallByHand) {
  const auto s = statistics(vector_of<float>("t", DType::f32, {1, 2, 3, 4}), 3, 2);
  EXPECT_EQ(s.count, 4u);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.max, 4);
  EXPECT_DOUBLE_EQ(s.mean, 2.5);
  EXPECT_DOUBLE_EQ(s.std, std::sqrt(1.25));
  EXPECT_EQ(s.histogram, (Counts{1, 1, 2}));  // the last bin includes its upper end
  EXPECT_EQ(s.first, (std::vector<double>{1, 2}));
  EXPECT_EQ(s.nan + s.inf + s.zeros, 0u);
}

TEST(InspectStatistics, NanInfAndZerosAreCountedApart) {
  const auto s = statistics(vector_of<double>("t", DType::f64, {0, kNan, kInf, -0.0, -kInf, 3, kNan, kNan, -1}), 4, 9);
  EXPECT_EQ(s.count, 9u);
  EXPECT_EQ(s.nan, 3u);
  EXPECT_EQ(s.inf, 2u);
  EXPECT_EQ(s.zeros, 2u);
  EXPECT_EQ(s.min, -1);
  EXPECT_EQ(s.max, 3);
  EXPECT_DOUBLE_EQ(s.mean, 0.5);
  EXPECT_DOUBLE_EQ(s.std, 1.5);
  EXPECT_EQ(s.histogram, (Counts{1, 2, 0, 1}));
  ASSERT_EQ(s.first.size(), 9u);
  EXPECT_TRUE(std::isnan(s.first[1]));
  EXPECT_EQ(s.first[4], -kInf);
}

TEST(InspectStatistics, NothingFinite) {
  const auto s = statistics(vector_of<float>("t", DType::f32, {NAN, INFINITY}), 3);
  EXPECT_EQ(s.count, 2u);
  EXPECT_EQ(s.nan, 1u);
  EXPECT_EQ(s.inf, 1u);
  EXPECT_EQ(s.min, 0);
  EXPECT_EQ(s.max, 0);
  EXPECT_EQ(s.mean, 0);
  EXPECT_EQ(s.std, 0);
  EXPECT_EQ(s.histogram, (Counts{0, 0, 0}));
}

TEST(InspectStatistics, EmptyAndScalar) {
  const auto none = statistics(tensor_of<float>("t", {0, 7}, DType::f32, {}), 5);
  EXPECT_EQ(none.count, 0u);
  EXPECT_TRUE(none.first.empty());
  EXPECT_EQ(none.histogram, Counts(5));
  const auto one = statistics(tensor_of<double>("t", {}, DType::f64, {-2.5}), 2);
  EXPECT_EQ(one.count, 1u);
  EXPECT_EQ(one.min, -2.5);
  EXPECT_EQ(one.max, -2.5);
  EXPECT_EQ(one.mean, -2.5);
  EXPECT_EQ(one.std, 0);
  EXPECT_EQ(one.first, (std::vector<double>{-2.5}));
}

TEST(InspectStatistics, ConstantHasNoSpread) {
  const auto s = statistics(vector_of("t", DType::f64, std::vector<double>(10001, 0.1)), 4);
  EXPECT_EQ(s.mean, 0.1);
  EXPECT_EQ(s.std, 0);
  EXPECT_EQ(s.histogram, (Counts{10001, 0, 0, 0}));
}

// One outlier column of 1,024 has 0.098 % of the values, and with an outlier row 99.9 % would reach the outliers.
TEST(InspectStatistics, OutlierColumnsAndRowsDoNotFlattenTheHistogram) {
  constexpr std::size_t kSide = 1024;
  const auto shown = [](bool column, bool row, std::size_t far_columns = 1) {
    std::vector<float> values(kSide * kSide);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool far = (column && i % kSide < far_columns) || (row && i / kSide == 5);
      values[i] = std::sin(static_cast<float>(i)) * (far ? 60.0F : 0.9F);
    }
    return statistics(vector_of("t", DType::f32, values), 16);
  };
  EXPECT_FALSE(shown(false, false).inner);
  for (const auto& s : {shown(true, false), shown(false, true), shown(true, true), shown(true, true, 8)}) {
    ASSERT_TRUE(s.inner);
    EXPECT_EQ(s.inner->low, -1);
    EXPECT_EQ(s.inner->high, 1);
    EXPECT_EQ(std::accumulate(s.inner->histogram.begin(), s.inner->histogram.end(), s.inner->below + s.inner->above),
              kSide * kSide);
  }
  EXPECT_FALSE(shown(true, false, 16).inner);  // 1.6 % are not outliers
}

// 99.9 % leaves out one value, 99 % the column next to it.
TEST(InspectStatistics, OutliersOfTwoMagnitudes) {
  std::vector<float> values(100'000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<float>(i)) * (i % 200 == 0 ? 60.0F : 0.9F);
  values[17] = 1e6F;
  const auto s = statistics(vector_of("t", DType::f32, values), 16);
  ASSERT_TRUE(s.inner);
  EXPECT_EQ(s.inner->low, -1);
  EXPECT_EQ(s.inner->high, 1);
}

TEST(InspectStatistics, NoBinsNoFirst) {
  const auto s = statistics(vector_of<float>("t", DType::f32, {1, 3}), 0, 0);
  EXPECT_TRUE(s.histogram.empty());
  EXPECT_TRUE(s.first.empty());
  EXPECT_DOUBLE_EQ(s.mean, 2);
  EXPECT_DOUBLE_EQ(s.std, 1);
}

TEST(InspectStatistics, SquaresNeitherOverflowNorVanish) {
  for (const double unit : {1e300, 1e307, 1e-300, 4.94065645841246544e-324}) {
    const auto s = statistics(vector_of<double>("t", DType::f64, {-unit, unit, unit, -unit}), 2);
    EXPECT_EQ(s.mean, 0) << unit;
    EXPECT_DOUBLE_EQ(s.std, unit);
    EXPECT_EQ(s.histogram, (Counts{2, 2}));
  }
  const double largest = std::numeric_limits<double>::max();
  const auto s = statistics(vector_of<double>("t", DType::f64, {-largest, largest}), 2);
  EXPECT_EQ(s.mean, 0);
  EXPECT_DOUBLE_EQ(s.std, largest);
  const auto top = statistics(vector_of<double>("t", DType::f64, {largest, largest, largest * 0.5}), 2);
  EXPECT_LE(top.mean, largest);
  EXPECT_NEAR(top.mean / largest, 2.5 / 3, 1e-15);
}

TEST(InspectStatistics, SmallSpreadOnALargeOffset) {
  std::vector<double> values(100000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1e9 + (i % 2 == 0 ? -1.0 : 1.0);
  const auto s = statistics(vector_of("t", DType::f64, values));
  EXPECT_DOUBLE_EQ(s.mean, 1e9);
  EXPECT_NEAR(s.std, 1, 1e-9);
}

TEST(InspectStatistics, IntegersBooleansAndSmallFloats) {
  const auto i8 = statistics(vector_of<std::int8_t>("t", DType::i8, {-128, 0, 127}), 3);
  EXPECT_EQ(i8.min, -128);
  EXPECT_EQ(i8.max, 127);
  EXPECT_EQ(i8.zeros, 1u);
  const auto u64 = statistics(vector_of<std::uint64_t>("t", DType::u64, {0, ~std::uint64_t{0}}), 2);
  EXPECT_EQ(u64.max, 18446744073709551616.0);
  const auto flags = statistics(vector_of<std::uint8_t>("t", DType::boolean, {0, 1, 1, 1}), 2);
  EXPECT_DOUBLE_EQ(flags.mean, 0.75);
  EXPECT_EQ(flags.histogram, (Counts{1, 3}));
  const auto f8 = statistics(vector_of<std::uint8_t>("t", DType::u8, {0x38, 0x7F, 0xB8}, "f8_e4m3fn"), 2);
  EXPECT_EQ(f8.nan, 1u);
  EXPECT_EQ(f8.min, -1);
  EXPECT_EQ(f8.max, 1);
  const auto bf16 = statistics(vector_of<std::uint16_t>("t", DType::bf16, {0x3F80, 0x7F80, 0xFFC0}), 2);
  EXPECT_EQ(bf16.inf, 1u);
  EXPECT_EQ(bf16.nan, 1u);
  EXPECT_EQ(bf16.max, 1);
}

TEST(InspectStatistics, ComplexPartsAreValues) {
  const auto s = statistics(tensor_of<float>("t", {2}, DType::f32, {1, -1, 0, 4}, "complex64"), 5, 3);
  EXPECT_EQ(s.count, 4u);
  EXPECT_EQ(s.zeros, 1u);
  EXPECT_DOUBLE_EQ(s.mean, 1);
  EXPECT_EQ(s.first, (std::vector<double>{1, -1, 0}));
}

TEST(InspectStatistics, OtherLayoutsAreDecoded) {
  const auto s = statistics(csr("s", {2, 3}, {1.5f, -2.0f}, {0, 2}, {0, 1, 2}), 2, 6);
  EXPECT_EQ(s.count, 6u);
  EXPECT_EQ(s.zeros, 4u);
  EXPECT_EQ(s.first, (std::vector<double>{1.5, 0, 0, 0, 0, -2}));
}

TEST(InspectStatistics, WhatHasNoNumbersIsRefused) {
  const auto rule = [](const Tensor& tensor) {
    try {
      statistics(tensor);
    } catch (const Error& error) {
      return error.rule();
    }
    return std::string("none");
  };
  Tensor odd = vector_of<float>("t", DType::f32, {1});
  odd.layout = "nobody.knows";
  EXPECT_EQ(rule(odd), "codec.unknown");
  EXPECT_EQ(rule(vector_of<std::uint8_t>("t", DType::u8, {1}, "utf8_text")), "stats.type");
  EXPECT_EQ(rule(csr("huge", {std::uint64_t{1} << 40, 2}, {}, {}, {0})), "csr.indptr");
}

TEST(InspectStatistics, MoreElementsThanAnybodyCouldWaitFor) {
  constexpr std::uint64_t kMany = std::uint64_t{1} << 41;
  const Tensor wide =
      dense("wide", {kMany}, DType::u8, Blob::produced(kMany, std::make_shared<const FromTheStart>(Bytes{})));
  try {
    statistics(wide);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), "stats.too_large");
    EXPECT_EQ(error.kind(), ErrorKind::limit);
  }
}

// Several blocks and pieces, in every form of storage.
TEST(InspectStatistics, SameToTheBitForAllThreadsAndStorage) {
  std::vector<float> values = weights(3'300'001);
  values[7] = NAN;
  values[3'000'000] = -INFINITY;
  values[2'000'000] = 0;
  const Bytes bytes = bytes_of(values);
  const ScratchDirectory scratch;
  Model model;
  model.tensors.push_back(vector_of("t", DType::f32, values));
  write_zt(model, scratch.file("raw.zt"));
  const auto expected = statistics(model.tensors[0], 24, 8, {.threads = 1});

  long double sum = 0, squares = 0;
  std::uint64_t finite = 0;
  for (const float v : values)
    if (std::isfinite(v)) sum += v, ++finite;
  const long double mean = sum / static_cast<long double>(finite);
  for (const float v : values)
    if (std::isfinite(v)) squares += (v - mean) * (v - mean);
  EXPECT_NEAR(expected.mean, static_cast<double>(mean), 1e-12);
  EXPECT_NEAR(expected.std, static_cast<double>(std::sqrt(squares / static_cast<long double>(finite))), 1e-12);
  EXPECT_EQ(std::accumulate(expected.histogram.begin(), expected.histogram.end(), std::uint64_t{0}), finite);
  EXPECT_EQ(expected.nan, 1u);
  EXPECT_EQ(expected.inf, 1u);

  const Model file = open(scratch.file("raw.zt"));
  const Model read = open(scratch.file("raw.zt"), reading(Access::pread));
  const auto shape = Shape{values.size()};
  for (const Tensor& tensor :
       {model.tensors[0], file.tensors[0], read.tensors[0], dense("t", shape, DType::f32, packed(bytes)),
        dense("t", shape, DType::f32, packed(bytes, 1'000'003)), dense("t", shape, DType::f32, from_the_start(bytes))})
    for (const unsigned threads : {1u, 2u, 7u}) {
      auto found = statistics(tensor, 24, 8, {.threads = threads});
      ASSERT_TRUE(std::isnan(found.first[7]));
      found.first[7] = 0;
      auto wanted = expected;
      wanted.first[7] = 0;
      expect_same(found, wanted);
    }
}

}  // namespace
}  // namespace tare
