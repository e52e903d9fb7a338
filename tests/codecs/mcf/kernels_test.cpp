// The SIMD kernels of MCF's methods compared with the scalar reference, on every SIMD target of the machine.
#include "codecs/mcf/kernels.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "simd_targets.hpp"
#include "tare/value.hpp"

namespace tare::codec::mcf {
namespace {

using testing::for_each_simd_target;

constexpr std::uint64_t kKernelWidths[] = {1,   2,   15,  31,  32,  33,  63,  64,   65,   96,
                                           255, 256, 257, 480, 511, 512, 513, 1000, 1024, 2085};

// The kinds of scales in a payload.
enum class Scales { usual, tiny, largest, zero, negative };

std::uint16_t scale_bits(Scales kind, std::mt19937& random) {
  switch (kind) {
    case Scales::usual: return f32_to_f16(std::uniform_real_distribution<float>(0.001f, 2)(random));
    case Scales::tiny: return static_cast<std::uint16_t>(1 + random() % 0x400);  // mostly subnormal
    case Scales::largest: return 0x7BFF;
    case Scales::zero: return 0;
    case Scales::negative: return static_cast<std::uint16_t>(0x8000 | f32_to_f16(0.5f));
  }
  return 0;
}

// A payload with every possible code, including the most negative. It has the exact length, so that a sanitizer detects
// a kernel that reads beyond it.
Bytes random_payload(const Geometry& geometry, Scales kind, unsigned seed) {
  std::mt19937 random(seed);
  Bytes payload(static_cast<std::size_t>(geometry.bytes));
  for (std::size_t i = geometry.codes.offset; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(random());
  if (geometry.method->family == Family::raw) {
    const float scale = kind == Scales::tiny      ? std::numeric_limits<float>::denorm_min() * 1000
                        : kind == Scales::largest ? std::numeric_limits<float>::max() / 128
                                                  : f16_to_f32(scale_bits(kind, random));
    store_le<float>(&payload[geometry.scales.offset], scale);
    if (geometry.domain == Domain::activations) store_le<float>(&payload[geometry.zero.offset], -3);
    return payload;
  }
  for (std::uint64_t i = 0; i < geometry.scales.size; i += 2)
    store_le<std::uint16_t>(&payload[geometry.scales.offset + i], scale_bits(kind, random));
  for (std::uint64_t i = 0; i < geometry.sub_scales.size; ++i)
    payload[geometry.sub_scales.offset + i] = static_cast<std::byte>(random() % 64);
  return payload;
}

std::vector<float> random_vector(std::uint64_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(size));
  for (float& v : values) v = normal(random);
  return values;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Calls check(geometry, payload) for every method, domain, width and kind of scales.
template <class Check>
void for_each_payload(std::uint64_t rows, const Check& check) {
  unsigned seed = 0;
  for (const Method& method : all_methods())
    for (const Domain domain : {Domain::weights, Domain::activations})
      for (const std::uint64_t columns : kKernelWidths)
        for (const Scales kind : {Scales::usual, Scales::tiny, Scales::largest, Scales::zero, Scales::negative}) {
          const auto geometry = geometry_of(method, domain, Shape{rows, columns});
          if (!geometry) continue;
          SCOPED_TRACE(::testing::Message() << method.name << " " << name_of(domain) << " " << rows << "x" << columns
                                            << " scales " << static_cast<int>(kind));
          check(*geometry, random_payload(*geometry, kind, ++seed));
        }
}

TEST(McfKernels, DecodeGivesTheReferencesBits) {
  for (const std::uint64_t rows : {1, 3})
    for_each_payload(rows, [&](const Geometry& geometry, const Bytes& payload) {
      const RowSpan all = rows_of(geometry, payload.data(), 0, rows);
      std::vector<float> expected(static_cast<std::size_t>(geometry.elements()));
      reference_decode(all, expected);
      for_each_simd_target([&] {
        std::vector<float> found(expected.size(), -1);
        decode_rows(all, found.data());
        EXPECT_TRUE(same_bits(found, expected));
      });
    });
}

// Also values that no encoder writes: infinities and NaN.
TEST(McfKernels, AnyBitsMayBeAScale) {
  std::mt19937 random(7);
  for (const Method& method : all_methods()) {
    const auto geometry = geometry_of(method, Domain::weights, Shape{2, 600});
    if (!geometry || method.family == Family::raw) continue;
    SCOPED_TRACE(method.name);
    Bytes payload = random_payload(*geometry, Scales::usual, 3);
    for (std::uint64_t i = 0; i < geometry->scales.size; i += 2)
      store_le<std::uint16_t>(&payload[geometry->scales.offset + i],
                              static_cast<std::uint16_t>(random() | (random() % 2 == 0 ? 0x7C00U : 0U)));
    const RowSpan all = rows_of(*geometry, payload.data(), 0, 2);
    std::vector<float> expected(static_cast<std::size_t>(geometry->elements()));
    reference_decode(all, expected);
    for_each_simd_target([&] {
      std::vector<float> found(expected.size(), -1);
      decode_rows(all, found.data());
      for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_TRUE(std::isnan(expected[i]) ? std::isnan(found[i]) : found[i] == expected[i])
            << "value " << i << ": " << found[i] << ", expected " << expected[i];
    });
  }
}

TEST(McfKernels, DecodeOfARowTouchesNoOther) {
  for_each_payload(5, [&](const Geometry& geometry, const Bytes& payload) {
    std::vector<float> whole(static_cast<std::size_t>(geometry.elements()));
    reference_decode(rows_of(geometry, payload.data(), 0, 5), whole);
    for (std::uint64_t row = 0; row < 5; ++row) {
      std::vector<float> found(static_cast<std::size_t>(geometry.columns));
      decode_rows(rows_of(geometry, payload.data(), row, 1), found.data());
      const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(row * geometry.columns);
      EXPECT_TRUE(same_bits(found, {begin, begin + static_cast<std::ptrdiff_t>(geometry.columns)}));
    }
  });
}

double tolerance(std::uint64_t columns) { return (static_cast<double>(columns) / 4 + 16) * 0x1p-24; }

TEST(McfKernels, DotWithFloatsIsWithinTheBound) {
  for_each_payload(3, [&](const Geometry& geometry, const Bytes& payload) {
    const RowSpan all = rows_of(geometry, payload.data(), 0, 3);
    const auto vector = random_vector(geometry.columns, 7);
    std::vector<float> weights(static_cast<std::size_t>(geometry.elements()));
    reference_decode(all, weights);
    for_each_simd_target([&] {
      float found[3];
      dot_rows(all, vector, found);
      for (std::uint64_t row = 0; row < 3; ++row) {
        // int*: S q x and S Z x are summed separately.
        double magnitude = 0;
        for (std::size_t i = 0; i < vector.size(); ++i)
          magnitude += std::fabs(static_cast<double>(weights[row * geometry.columns + i]) * vector[i]) +
                       2 * std::fabs(static_cast<double>(all.scale) * all.zero * vector[i]);
        if (!(magnitude < std::numeric_limits<float>::max())) continue;  // may overflow in between
        const double expected = reference_dot(row_of(all, row), vector);
        EXPECT_NEAR(found[row], expected,
                    tolerance(geometry.columns) * magnitude + std::numeric_limits<float>::denorm_min());
      }
    });
  });
}

TEST(McfKernels, DotWithCodesIsWithinTheBound) {
  for_each_payload(3, [&](const Geometry& geometry, const Bytes& payload) {
    const RowSpan all = rows_of(geometry, payload.data(), 0, 3);
    const Vector vector = reference_vector(random_vector(geometry.columns, 8));
    std::vector<float> weights(static_cast<std::size_t>(geometry.elements()));
    reference_decode(all, weights);
    for_each_simd_target([&] {
      float found[3];
      dot_rows(all, vector, found);
      for (std::uint64_t row = 0; row < 3; ++row) {
        double magnitude = 0;
        for (std::size_t i = 0; i < geometry.columns; ++i) {
          const double x = static_cast<double>(vector.scales[i / 32]) * vector.codes[i];
          magnitude += std::fabs(weights[row * geometry.columns + i] * x) +
                       2 * std::fabs(static_cast<double>(all.scale) * all.zero * x);
        }
        if (!(magnitude < std::numeric_limits<float>::max())) continue;  // may overflow in between
        const double expected = reference_dot(row_of(all, row), vector);
        EXPECT_NEAR(found[row], expected,
                    tolerance(geometry.columns) * magnitude + std::numeric_limits<float>::denorm_min());
      }
    });
  });
}

TEST(McfKernels, VectorGivesTheReferencesCodes) {
  for (const std::uint64_t size : kKernelWidths) {
    auto values = random_vector(size, static_cast<unsigned>(size));
    for (const int kind : {0, 1, 2, 3, 4}) {
      SCOPED_TRACE(::testing::Message() << size << " values, kind " << kind);
      if (kind == 1) values.assign(values.size(), 0);
      if (kind == 2) values[values.size() / 2] = 3e38f;
      if (kind == 3) values.back() = std::numeric_limits<float>::denorm_min() * 300;
      if (kind == 4) values.front() = std::numeric_limits<float>::infinity();
      const Vector expected = reference_vector(values);
      for_each_simd_target([&] {
        const Vector found = quantized(values);
        EXPECT_EQ(found.codes, expected.codes);
        EXPECT_EQ(found.ones.offsets, expected.ones.offsets);
        EXPECT_EQ(found.twos.offsets, expected.twos.offsets);
        EXPECT_EQ(found.fours.offsets, expected.fours.offsets);
        for (std::size_t j = 0; j < 4; ++j) {
          EXPECT_EQ(found.twos.codes[j], expected.twos.codes[j]);
          EXPECT_EQ(found.fours.codes[j], expected.fours.codes[j]);
        }
        EXPECT_TRUE(found.total == expected.total || std::isnan(expected.total));
        ASSERT_EQ(found.scales.size(), expected.scales.size());
        for (std::size_t i = 0; i < found.scales.size(); ++i)
          EXPECT_TRUE(found.scales[i] == expected.scales[i] ||
                      (std::isnan(found.scales[i]) && std::isnan(expected.scales[i])))
              << i;
      });
    }
  }
}

TEST(McfKernels, DotDoesNotDependOnTheRowsBesideIt) {
  for_each_payload(4, [&](const Geometry& geometry, const Bytes& payload) {
    const auto vector = random_vector(geometry.columns, 9);
    const Vector codes = quantized(vector);
    float together[4], together8[4];
    dot_rows(rows_of(geometry, payload.data(), 0, 4), vector, together);
    dot_rows(rows_of(geometry, payload.data(), 0, 4), codes, together8);
    for (std::uint64_t row = 0; row < 4; ++row) {
      float alone = 0, alone8 = 0;
      dot_rows(rows_of(geometry, payload.data(), row, 1), vector, &alone);
      dot_rows(rows_of(geometry, payload.data(), row, 1), codes, &alone8);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(alone), std::bit_cast<std::uint32_t>(together[row]));
      EXPECT_EQ(std::bit_cast<std::uint32_t>(alone8), std::bit_cast<std::uint32_t>(together8[row]));
    }
  });
}

TEST(McfKernels, ANonFiniteVectorMakesTheProductNaN) {
  const auto geometry = geometry_of(*find_method("q8"), Domain::weights, Shape{1, 64});
  const Bytes payload = random_payload(*geometry, Scales::usual, 1);
  auto values = random_vector(64, 10);
  values[40] = std::numeric_limits<float>::quiet_NaN();
  float found = 0;
  dot_rows(rows_of(*geometry, payload.data(), 0, 1), quantized(values), &found);
  EXPECT_TRUE(std::isnan(found));
}

}  // namespace
}  // namespace tare::codec::mcf
