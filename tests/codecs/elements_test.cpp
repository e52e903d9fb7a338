// Half floats bit by bit, decoding of elements, and casts.
#include "tare/elements.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "produced_blob.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The value of a sign-exponent-mantissa code by the textbook formula; no special codes.
double formula(unsigned bits, int exponent_bits, int mantissa_bits, int bias) {
  const unsigned mantissa = bits & ((1u << mantissa_bits) - 1);
  const int exponent = static_cast<int>((bits >> mantissa_bits) & ((1u << exponent_bits) - 1));
  const double sign = ((bits >> (mantissa_bits + exponent_bits)) & 1) != 0 ? -1 : 1;
  const double fraction = std::ldexp(mantissa, -mantissa_bits);
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias));
}

// An IEEE half type, so that the tests can treat f16 and bf16 alike.
struct HalfType {
  int exponent_bits, mantissa_bits, bias;
  float (*widen)(std::uint16_t);
  std::uint16_t (*from_f32)(float);
  std::uint16_t (*from_f64)(double);
  std::uint16_t infinity;
};
const HalfType kF16 = {5, 10, 15, f16_to_f32, f32_to_f16, f64_to_f16, 0x7C00};
const HalfType kBf16 = {8, 7, 127, bf16_to_f32, f32_to_bf16, f64_to_bf16, 0x7F80};

class Half : public ::testing::TestWithParam<HalfType> {};

TEST_P(Half, EveryCodeWidensToItsValueAndComesBack) {
  const HalfType& type = GetParam();
  for (unsigned code = 0; code < 0x10000; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    const float value = type.widen(bits);
    const unsigned magnitude = code & 0x7FFF;
    if (magnitude > type.infinity) {
      ASSERT_TRUE(std::isnan(value)) << code;
      ASSERT_GT(type.from_f32(value) & 0x7FFF, type.infinity) << code;
      ASSERT_GT(type.from_f64(value) & 0x7FFF, type.infinity) << code;
      continue;
    }
    const double expected = magnitude == type.infinity
                                ? (code > 0x7FFF ? -kInf : kInf)
                                : formula(code, type.exponent_bits, type.mantissa_bits, type.bias);
    ASSERT_EQ(value, expected) << code;
    ASSERT_EQ(std::signbit(value), code > 0x7FFF) << code;
    ASSERT_EQ(type.from_f32(value), bits) << code;
    ASSERT_EQ(type.from_f64(value), bits) << code;
  }
}

// Around the midpoint of every two neighbours: below it the lower one, above it the upper one, on it the even one. The
// pair (largest, infinity) has the midpoint that one more binade would give.
TEST_P(Half, RoundsToNearestEvenAroundEveryMidpoint) {
  const HalfType& type = GetParam();
  for (unsigned code = 0; code < type.infinity; ++code) {
    const auto low = static_cast<std::uint16_t>(code), high = static_cast<std::uint16_t>(code + 1);
    const double a = type.widen(low);
    const double b = formula(code + 1, type.exponent_bits, type.mantissa_bits, type.bias);
    const double middle = (a + b) / 2;
    const std::uint16_t even = code % 2 == 0 ? low : high;
    for (const std::uint16_t sign : {std::uint16_t{0}, std::uint16_t{0x8000}}) {
      const double s = sign == 0 ? 1 : -1;
      ASSERT_EQ(type.from_f64(s * middle), sign | even) << code;
      ASSERT_EQ(type.from_f64(s * std::nextafter(middle, 0.0)), sign | low) << code;
      ASSERT_EQ(type.from_f64(s * std::nextafter(middle, kInf)), sign | high) << code;
      const auto f = static_cast<float>(s * middle);
      if (f != s * middle) continue;  // bf16's lowest midpoints are below f32
      ASSERT_EQ(type.from_f32(f), sign | even) << code;
      ASSERT_EQ(type.from_f32(std::nextafter(f, 0.0f)), sign | low) << code;
      ASSERT_EQ(type.from_f32(std::nextafter(f, f * std::numeric_limits<float>::infinity())), sign | high) << code;
    }
  }
}

TEST_P(Half, TakesExtremesFromDouble) {
  const HalfType& type = GetParam();
  EXPECT_EQ(type.from_f64(1e300), type.infinity);
  EXPECT_EQ(type.from_f64(-1e300), 0x8000 | type.infinity);
  EXPECT_EQ(type.from_f64(kInf), type.infinity);
  EXPECT_EQ(type.from_f64(1e-300), 0);
  EXPECT_EQ(type.from_f64(-1e-300), 0x8000);
  EXPECT_EQ(type.from_f64(std::numeric_limits<double>::denorm_min()), 0);
  EXPECT_EQ(type.from_f64(-0.0), 0x8000);
  EXPECT_TRUE(std::isnan(type.widen(type.from_f64(kNaN))));
}

INSTANTIATE_TEST_SUITE_P(Types, Half, ::testing::Values(kF16, kBf16),
                         [](const auto& type) { return type.param.bias == 15 ? "f16" : "bf16"; });

// Rounded to f32 first, this double would become a tie and then round the wrong way.
TEST(HalfOnce, DoubleIsNotRoundedTwice) {
  const double value = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(f32_to_f16(static_cast<float>(value)), 0x3C00);
  EXPECT_EQ(f64_to_f16(value), 0x3C01);
}

TEST(RoundEven, AgreesWithRint) {
  for (double value : {0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999999999999994, 4503599627370495.5, 0x1p52,
                       0x1p53 + 2, -0x1p60, 1e300, kInf}) {
    EXPECT_EQ(round_even(value), std::rint(value)) << value;
    EXPECT_EQ(std::signbit(round_even(value)), std::signbit(value)) << value;
  }
}

// --- decoding ---

template <typename T>
Bytes bytes_of(std::initializer_list<T> values) {
  Bytes bytes(values.size() * sizeof(T));
  std::size_t i = 0;
  for (const T value : values) store_le<T>(bytes.data() + sizeof(T) * i++, value);
  return bytes;
}

std::vector<double> decoded_elements(DType dtype, std::string_view type, const Bytes& bytes) {
  std::vector<double> out(bytes.size() / size_of(dtype));
  decode_elements(dtype, type, bytes, out);
  return out;
}

using Doubles = std::vector<double>;

TEST(Elements, EveryStorageType) {
  EXPECT_EQ(decoded_elements(DType::f64, "", bytes_of<double>({1.5, -1e300})), Doubles({1.5, -1e300}));
  EXPECT_EQ(decoded_elements(DType::f32, "", bytes_of<float>({0.1f, -2})), Doubles({double{0.1f}, -2}));
  EXPECT_EQ(decoded_elements(DType::f16, "", bytes_of<std::uint16_t>({0x3C00, 0xC000, 1})), Doubles({1, -2, 0x1p-24}));
  EXPECT_EQ(decoded_elements(DType::bf16, "", bytes_of<std::uint16_t>({0x3F80, 0xFF80})), Doubles({1, -kInf}));
  EXPECT_EQ(decoded_elements(DType::i64, "", bytes_of<std::int64_t>({-1, INT64_MIN})), Doubles({-1, -0x1p63}));
  EXPECT_EQ(decoded_elements(DType::i32, "", bytes_of<std::int32_t>({-1, INT32_MAX})), Doubles({-1, 2147483647}));
  EXPECT_EQ(decoded_elements(DType::i16, "", bytes_of<std::int16_t>({-32768, 7})), Doubles({-32768, 7}));
  EXPECT_EQ(decoded_elements(DType::i8, "", bytes_of<std::int8_t>({-128, 127})), Doubles({-128, 127}));
  EXPECT_EQ(decoded_elements(DType::u64, "", bytes_of<std::uint64_t>({5, UINT64_MAX})), Doubles({5, 0x1p64}));
  EXPECT_EQ(decoded_elements(DType::u32, "", bytes_of<std::uint32_t>({UINT32_MAX})), Doubles({4294967295.0}));
  EXPECT_EQ(decoded_elements(DType::u16, "", bytes_of<std::uint16_t>({65535})), Doubles({65535}));
  EXPECT_EQ(decoded_elements(DType::u8, "", bytes_of<std::uint8_t>({255})), Doubles({255}));
  EXPECT_EQ(decoded_elements(DType::boolean, "", bytes_of<std::uint8_t>({0, 1, 7})), Doubles({0, 1, 1}));
}

TEST(Elements, LogicalTypes) {
  EXPECT_EQ(decoded_elements(DType::u8, "f8_e4m3fn", bytes_of<std::uint8_t>({0x38, 0x7E})), Doubles({1, 448}));
  EXPECT_EQ(decoded_elements(DType::u8, "f8_e5m2", bytes_of<std::uint8_t>({0x3C})), Doubles({1}));
  EXPECT_EQ(decoded_elements(DType::u8, "f8_e4m3fnuz", bytes_of<std::uint8_t>({0x40})), Doubles({1}));
  EXPECT_EQ(decoded_elements(DType::u8, "f8_e5m2fnuz", bytes_of<std::uint8_t>({0x40})), Doubles({1}));
  EXPECT_EQ(decoded_elements(DType::f32, "complex64", bytes_of<float>({1, 2})), Doubles({1, 2}));
  EXPECT_EQ(decoded_elements(DType::u8, "mystery", bytes_of<std::uint8_t>({0x38})), Doubles({0x38}));
  EXPECT_EQ(decoded_elements(DType::i8, "f8_e4m3fn", bytes_of<std::int8_t>({0x38})), Doubles({0x38}));
  EXPECT_TRUE(is_numeric(DType::u8, "f8_e4m3fn"));
  EXPECT_TRUE(is_numeric(DType::f32, "complex64"));
  EXPECT_TRUE(is_numeric(DType::boolean, ""));
  EXPECT_FALSE(is_numeric(DType::u8, "mystery"));
  EXPECT_FALSE(is_numeric(DType::i8, "f8_e4m3fn"));
}

TEST(Elements, RunsCoverTheTensorInOrder) {
  constexpr std::size_t kCount = 50'001;
  Bytes bytes(kCount * 4);
  for (std::size_t i = 0; i < kCount; ++i) store_le<std::uint32_t>(bytes.data() + 4 * i, static_cast<std::uint32_t>(i));
  double expected = 0;
  for_each_element_run(dense("t", {3, 16667}, DType::u32, Blob::memory(bytes)), [&](std::span<const double> run) {
    for (const double value : run) ASSERT_EQ(value, expected++);
  });
  EXPECT_EQ(expected, kCount);
  for_each_element_run(dense("t", {0, 5}, DType::f32, Blob::memory({})), [](std::span<const double>) { FAIL(); });
}

TEST(Elements, RunsRefuseWhatIsNotDense) {
  Tensor tensor = dense("t", {2}, DType::f32, Blob::memory(Bytes(8)));
  tensor.layout = "sparse_coo";
  EXPECT_THROW(for_each_element_run(tensor, [](std::span<const double>) {}), Error);
  EXPECT_THROW(
      for_each_element_run(dense("t", {3}, DType::f32, Blob::memory(Bytes(8))), [](std::span<const double>) {}), Error);
}

// --- casts ---

// Every kind of element that can be cast.
struct NumberType {
  DType dtype;
  std::string_view type;
};
std::vector<NumberType> all_sources() {
  std::vector<NumberType> sources;
  for (const DType dtype : kAllDTypes) sources.push_back({dtype, ""});
  for (const LogicalType& type : known_logical_types())
    if (type.per_element == 1) sources.push_back({type.storage, type.name});
  return sources;
}

// The exact value of an element: long double holds all of i64, u64 and double.
long double exact(NumberType source, const std::byte* bytes) {
  if (source.type.empty() && source.dtype == DType::i64) return load_le<std::int64_t>(bytes);
  if (source.type.empty() && source.dtype == DType::u64) return load_le<std::uint64_t>(bytes);
  double value = 0;
  decode_elements(source.dtype, source.type, {bytes, size_of(source.dtype)}, {&value, 1});
  return value;
}

// The nearest of all finite halves, ties to the even code; beyond the last midpoint infinite. Simple by design.
std::uint16_t nearest_half(long double value, const HalfType& type) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const long double magnitude = std::fabs(value);
  unsigned low = 0, high = type.infinity;  // formula(low) <= magnitude < formula(high); for infinity, the next binade
  const auto at = [&](unsigned code) -> long double {
    return formula(code, type.exponent_bits, type.mantissa_bits, type.bias);
  };
  if (magnitude >= at(high)) return static_cast<std::uint16_t>(sign | type.infinity);
  while (high - low > 1) (at((low + high) / 2) <= magnitude ? low : high) = (low + high) / 2;
  const long double below = magnitude - at(low), above = at(high) - magnitude;
  const unsigned code = below < above || (below == above && low % 2 == 0) ? low : high;
  return static_cast<std::uint16_t>(sign | code);
}

template <typename Int>
Bytes nearest_integer(long double value) {
  using Limits = std::numeric_limits<Int>;
  const long double rounded = std::rint(value);
  Bytes bytes(sizeof(Int));
  store_le<Int>(bytes.data(), rounded <= static_cast<long double>(Limits::min())   ? Limits::min()
                              : rounded >= static_cast<long double>(Limits::max()) ? Limits::max()
                                                                                   : static_cast<Int>(rounded));
  return bytes;
}

Bytes reference(long double value, DType to) {
  switch (to) {
    case DType::f64: return bytes_of<double>({static_cast<double>(value)});
    case DType::f32: return bytes_of<float>({static_cast<float>(value)});
    case DType::f16: return bytes_of<std::uint16_t>({nearest_half(value, kF16)});
    case DType::bf16: return bytes_of<std::uint16_t>({nearest_half(value, kBf16)});
    case DType::i64: return nearest_integer<std::int64_t>(value);
    case DType::i32: return nearest_integer<std::int32_t>(value);
    case DType::i16: return nearest_integer<std::int16_t>(value);
    case DType::i8: return nearest_integer<std::int8_t>(value);
    case DType::u64: return nearest_integer<std::uint64_t>(value);
    case DType::u32: return nearest_integer<std::uint32_t>(value);
    case DType::u16: return nearest_integer<std::uint16_t>(value);
    case DType::u8: return nearest_integer<std::uint8_t>(value);
    case DType::boolean: return bytes_of<std::uint8_t>({static_cast<std::uint8_t>(value != 0)});
  }
  return {};
}

// All codes of small types; for larger ones random bits and the neighbourhoods of powers of two.
Bytes interesting(NumberType source) {
  const std::size_t width = size_of(source.dtype);
  Bytes bytes;
  const auto add = [&](std::uint64_t bits) {
    bytes.resize(bytes.size() + 8);
    store_le(bytes.data() + bytes.size() - 8, bits);
    bytes.resize(bytes.size() - 8 + width);
  };
  if (width <= 2) {
    for (std::uint64_t code = 0; code < (std::uint64_t{1} << (8 * width)); ++code) add(code);
    return bytes;
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 4000; ++i) add(random() >> (random() % 64));
  for (unsigned power = 0; power < 64; ++power) {
    for (std::int64_t delta = -3; delta <= 3; ++delta) {
      const std::uint64_t integer = (std::uint64_t{1} << power) + static_cast<std::uint64_t>(delta);
      add(integer);
      add(0 - integer);
      // Midpoints of f16 and bf16 and their neighbours, as integers and as floats.
      for (const unsigned digits : {8u, 11u, 24u, 53u})
        if (power >= digits) {
          const std::uint64_t tie = integer + (std::uint64_t{1} << (power - digits));
          add(tie);
          add(0 - tie);
          add(std::bit_cast<std::uint64_t>(static_cast<double>(tie)));
        }
      const double d = static_cast<double>(integer) / 2;
      add(std::bit_cast<std::uint64_t>(d));
      add(std::bit_cast<std::uint64_t>(-1 / d));
      add(std::bit_cast<std::uint32_t>(static_cast<float>(d)));
      add(std::bit_cast<std::uint32_t>(static_cast<float>(-1 / d)));
    }
  }
  return bytes;
}

// What a number out of range becomes: the infinity of a float type, or the nearest integer.
Overflow beyond(DType to) { return is_float(to) ? Overflow::infinity : Overflow::clamp; }

TEST(Cast, EveryPairRoundsOnceAndClamps) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "long double is too short for the reference";
  for (const NumberType source : all_sources()) {
    const std::size_t width = size_of(source.dtype);
    const Bytes all = interesting(source);
    Bytes in;  // without NaN, which has its own test
    for (std::size_t i = 0; i < all.size(); i += width)
      if (!std::isnan(exact(source, all.data() + i))) in.insert(in.end(), all.begin() + i, all.begin() + i + width);
    const std::size_t count = in.size() / width;
    for (const DType to : kAllDTypes) {
      const Tensor tensor = dense("t", {count}, source.dtype, Blob::memory(in), std::string(source.type));
      const Tensor result = cast(tensor, to, beyond(to));
      ASSERT_EQ(result.component("data")->dtype, to);
      ASSERT_EQ(result.component("data")->type, "");
      if (source.type.empty() && source.dtype == to) continue;  // the same type, so the bytes stay unchanged
      const Bytes out = result.component("data")->blob.bytes();
      ASSERT_EQ(out.size(), count * size_of(to));
      for (std::size_t i = 0; i < count; ++i) {
        const long double value = exact(source, in.data() + i * width);
        const Bytes expected = reference(value, to);
        ASSERT_EQ(std::memcmp(out.data() + i * size_of(to), expected.data(), expected.size()), 0)
            << name_of(source.dtype) << " " << source.type << " to " << name_of(to) << ": " << value;
      }
    }
  }
}

TEST(Cast, NaN) {
  Bytes bytes(40'000 * 8);
  store_le<double>(bytes.data() + 33'333 * 8, kNaN);
  const Tensor tensor = dense("w", {40'000}, DType::f64, Blob::memory(bytes));
  for (const DType to : kAllDTypes) {
    const Tensor result = cast(tensor, to);  // lazy, so nothing is thrown yet
    if (is_float(to)) {
      const auto values = decoded_elements(to, "", result.component("data")->blob.bytes());
      EXPECT_TRUE(std::isnan(values[33'333]));
      EXPECT_EQ(values[33'332], 0);
      continue;
    }
    if (to == DType::boolean) {
      EXPECT_EQ(cast(tensor, to, Overflow::clamp).component("data")->blob.bytes()[33'333], std::byte{1});
    }
    try {
      result.component("data")->blob.bytes();
      ADD_FAILURE() << name_of(to);
    } catch (const Error& error) {
      EXPECT_EQ(error.rule(), to == DType::boolean ? "cast.fraction" : "cast.nan");
      EXPECT_EQ(error.item(), "w");
      EXPECT_NE(error.sentence().find("element 33333 "), std::string::npos) << error.sentence();
    }
  }
}

TEST(Cast, ValuesBeyondTheLargestAreRefusedUnlessToldWhatBecomesOfThem) {
  struct Case {
    DType from, to;
    double fits, too_large, largest;
  };
  // What rounds down to the largest number fits; half a step more does not.
  const Case cases[] = {{DType::f32, DType::f16, 65519.0, 65520.0, 65504.0},
                        {DType::f64, DType::f16, 65519.999, 65520.0, 65504.0},
                        {DType::i32, DType::f16, 65519.0, 70000.0, 65504.0},
                        {DType::f64, DType::f32, 0x1.fffffep127, 1e39, 0x1.fffffep127},
                        {DType::f32, DType::bf16, 0x1.fep127, 0x1.fffffep127, 0x1.fep127}};
  for (const Case& it : cases) {
    const DType from = it.from, to = it.to;
    SCOPED_TRACE(fmt::format("{} to {}", name_of(from), name_of(to)));
    const std::size_t count = 40'000;
    Bytes bytes(count * size_of(from));
    const auto put = [&](std::size_t i, double value) {
      std::byte* const at = bytes.data() + i * size_of(from);
      if (from == DType::f64)
        store_le<double>(at, value);
      else if (from == DType::f32)
        store_le<float>(at, static_cast<float>(value));
      else
        store_le<std::int32_t>(at, static_cast<std::int32_t>(value));
    };
    put(7, it.fits);
    // Not finite before the cast.
    if (from != DType::i32) put(8, std::numeric_limits<double>::infinity()), put(9, kNaN);
    Tensor tensor = dense("w", {count}, from, Blob::memory(bytes));
    EXPECT_EQ(count_overflow(tensor, to), 0U);
    EXPECT_NO_THROW(cast(tensor, to).component("data")->blob.bytes());
    put(33'333, it.too_large);
    put(33'335, -it.too_large);
    tensor = dense("w", {count}, from, Blob::memory(bytes));
    EXPECT_EQ(count_overflow(tensor, to, 2), 2U);
    EXPECT_EQ(count_overflow(dense("w", {count}, from, test::produced_blob(bytes, 24)), to, 2), 2U);
    try {
      cast(tensor, to).component("data")->blob.bytes();
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.rule(), "cast.overflow");
      EXPECT_EQ(error.kind(), ErrorKind::lossy);
      EXPECT_EQ(error.item(), "w");
      EXPECT_NE(error.sentence().find("element 33333 "), std::string::npos) << error.sentence();
    }
    const auto infinite = decoded_elements(to, "", cast(tensor, to, beyond(to)).component("data")->blob.bytes());
    EXPECT_EQ(infinite[33'333], std::numeric_limits<double>::infinity());
    EXPECT_EQ(infinite[33'335], -std::numeric_limits<double>::infinity());
    const auto clamped = decoded_elements(to, "", cast(tensor, to, Overflow::clamp).component("data")->blob.bytes());
    EXPECT_EQ(clamped[33'333], it.largest);
    EXPECT_EQ(clamped[33'335], -it.largest);
    EXPECT_EQ(clamped[7], infinite[7]);
    if (from != DType::i32) {
      EXPECT_TRUE(std::isinf(clamped[8]));  // not changed by clamping
      EXPECT_TRUE(std::isnan(clamped[9]));
    }
  }
}

TEST(Cast, IntegersOutOfRangeAreRefusedOrClamped) {
  struct Case {
    Tensor tensor;
    DType to;
    double clamped;  // what element 1 becomes; nothing else is out of range
    std::string_view range;
  };
  const float below = std::nextafter(0x1p63F, 0.0F);
  const Case cases[] = {
      {dense<float>("w", {3}, {255.4F, 255.6F, -0.5F}), DType::u8, 255, "u8 (0 to 255)"},
      {dense<float>("w", {3}, {-128.5F, -129, 127.4F}), DType::i8, -128, "i8 (-128 to 127)"},
      {dense<float>("w", {3}, {below, 0x1p63F, -0x1p63F}), DType::i64, 0x1p63,
       "i64 (-9223372036854775808 to 9223372036854775807)"},
      {dense<float>("w", {3}, {0, -1, 0x1p63F}), DType::u64, 0, "u64 (0 to 18446744073709551615)"},
      {dense<float>("w", {3}, {1, std::numeric_limits<float>::infinity(), 2}), DType::i32, 2147483647,
       "i32 (-2147483648 to 2147483647)"},
      {dense<std::int64_t>("w", {3}, {255, 256, 0}), DType::u8, 255, "u8 (0 to 255)"},
      {dense<std::uint64_t>("w", {3}, {1, UINT64_MAX, 2}), DType::i64, 0x1p63,
       "i64 (-9223372036854775808 to 9223372036854775807)"},
      {dense<std::int8_t>("w", {3}, {127, -1, 0}), DType::u64, 0, "u64 (0 to 18446744073709551615)"},
  };
  for (const Case& it : cases) {
    SCOPED_TRACE(it.range);
    EXPECT_EQ(count_overflow(it.tensor, it.to), 1U);
    for (const Overflow refusing : {Overflow::refuse, Overflow::infinity}) try {
        cast(it.tensor, it.to, refusing).component("data")->blob.bytes();
        ADD_FAILURE();
      } catch (const Error& error) {
        EXPECT_EQ(error.rule(), "cast.overflow");
        EXPECT_NE(error.sentence().find("element 1 is "), std::string::npos) << error.sentence();
        EXPECT_NE(error.sentence().find(it.range), std::string::npos) << error.sentence();
      }
    const Bytes bytes = cast(it.tensor, it.to, Overflow::clamp).component("data")->blob.bytes();
    EXPECT_EQ(decoded_elements(it.to, "", bytes)[1], it.clamped);
  }
  try {
    cast(dense<float>("w", {1}, {std::nanf("")}), DType::u8, Overflow::clamp).component("data")->blob.bytes();
    ADD_FAILURE() << "a NaN was clamped";
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), "cast.nan");
  }
}

TEST(Cast, FractionsAreRefusedUnlessTheyMayBeRounded) {
  struct Case {
    Tensor tensor;  // element 1 would not survive
    DType to;
    std::string_view sentence;
    double rounded;
  };
  const Case cases[] = {
      {dense<float>("w", {3}, {3, 2.5F, -1}), DType::i8, "element 1 is 2.5, and i8 holds whole numbers only", 2},
      {dense<double>("w", {3}, {0, -1e-300, 1}), DType::i64, "element 1 is -1e-300, and i64 holds whole numbers only",
       0},
      {dense<float>("w", {3}, {1, 1.0000001F, 2}), DType::u16,
       "element 1 is 1.0000001192092896, and u16 holds whole numbers only", 1},
      {dense("w", {3}, DType::u16, Blob::memory(bytes_of<std::uint16_t>({0x3C00, 0x3800, 0x4000}))), DType::i16, "", 0},
      {dense("w", {2}, DType::u8, Blob::memory(bytes_of<std::uint8_t>({0x38, 0x3C})), "f8_e4m3fn"), DType::i32,
       "element 1 is 1.5, and i32 holds whole numbers only", 2},
      {dense<float>("w", {3}, {1, 2, 0}), DType::boolean, "element 1 is 2, and bool holds 0 and 1 only", 1},
      {dense<std::int32_t>("w", {3}, {1, -1, 0}), DType::boolean, "element 1 is -1, and bool holds 0 and 1 only", 1},
  };
  for (const Case& it : cases) {
    SCOPED_TRACE(it.sentence);
    if (it.sentence.empty()) {  // integers have no fractions
      EXPECT_NO_THROW(cast(it.tensor, it.to).component("data")->blob.bytes());
      continue;
    }
    for (const Overflow refusing : {Overflow::refuse, Overflow::infinity}) try {
        cast(it.tensor, it.to, refusing).component("data")->blob.bytes();
        ADD_FAILURE();
      } catch (const Error& error) {
        EXPECT_EQ(error.rule(), "cast.fraction");
        EXPECT_EQ(error.sentence(), it.sentence);
      }
    const Bytes bytes = cast(it.tensor, it.to, Overflow::clamp).component("data")->blob.bytes();
    EXPECT_EQ(decoded_elements(it.to, "", bytes)[1], it.rounded);
  }
  // Whole numbers survive, and what comes before a fraction can be read.
  EXPECT_NO_THROW(cast(dense<float>("w", {3}, {-128, 0, 127}), DType::i8).component("data")->blob.bytes());
  EXPECT_NO_THROW(cast(dense<float>("w", {3}, {1, 0, -0.0F}), DType::boolean).component("data")->blob.bytes());
}

TEST(Cast, CanBeEnteredAnywhere) {
  EXPECT_TRUE(rc::check("a cast read from any offset equals the tail of the whole", [] {
    const auto from = *rc::gen::elementOf(std::vector<DType>{DType::u8, DType::i16, DType::f32, DType::u64});
    const auto to = *rc::gen::elementOf(std::vector<DType>{DType::f64, DType::bf16, DType::i32, DType::boolean});
    const auto count = *rc::gen::inRange<std::size_t>(1, 200);
    Bytes in(count * size_of(from));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>((i * 37) & 0x3F);
    // Seekable at any byte, in steps that do not fit elements, or not at all.
    const auto step = *rc::gen::elementOf(std::vector<std::uint64_t>{0, 1, 6});
    const Blob blob = step == 1 ? Blob::memory(in) : test::produced_blob(in, step);
    const Blob result = cast(dense("t", {count}, from, blob), to, Overflow::clamp).component("data")->blob;
    const Bytes whole = result.bytes();
    RC_ASSERT((result.seek_granularity() == 0) == (step == 0));
    RC_ASSERT(result.seek_granularity() % size_of(to) == 0);
    const auto offset = *rc::gen::inRange<std::size_t>(0, whole.size() + 1);
    const auto reader = result.open(offset);
    Bytes tail(whole.size() - offset);
    for (std::size_t at = 0; at < tail.size();) {
      const auto part = std::min<std::size_t>(tail.size() - at, *rc::gen::inRange<std::size_t>(1, 40));
      reader->read(std::span(tail).subspan(at, part));
      at += part;
    }
    RC_ASSERT(std::equal(tail.begin(), tail.end(), whole.begin() + static_cast<std::ptrdiff_t>(offset)));
  }));
}

TEST(Cast, Edges) {
  const Tensor scalar =
      cast(dense("s", {}, DType::f32, Blob::memory(bytes_of<float>({2.5f}))), DType::i8, Overflow::clamp);
  EXPECT_EQ(scalar.component("data")->blob.bytes(), bytes_of<std::int8_t>({2}));
  const Tensor empty = cast(dense("e", {0, 7}, DType::f32, Blob::memory({})), DType::f16);
  EXPECT_EQ(empty.component("data")->blob.size(), 0u);
  EXPECT_EQ(empty.component("data")->blob.bytes(), Bytes());
  EXPECT_THROW(cast(dense("c", {1}, DType::f32, Blob::memory(Bytes(8)), "complex64"), DType::f64), Error);
  EXPECT_THROW(cast(dense("m", {1}, DType::u8, Blob::memory(Bytes(1)), "mystery"), DType::f32), Error);
}

// Tries every value of types of at most 16 bits; for larger ones the rule follows from their widths.
TEST(CastLossless, AgreesWithTryingEveryValue) {
  for (const NumberType source : all_sources()) {
    if (size_of(source.dtype) > 2) continue;
    const std::size_t width = size_of(source.dtype);
    Bytes all = interesting(source), in;
    if (source.dtype == DType::boolean) all.resize(2);
    bool has_nan = false;
    for (std::size_t i = 0; i < all.size(); i += width) {
      const bool nan = std::isnan(exact(source, all.data() + i));
      if (!nan) in.insert(in.end(), all.begin() + i, all.begin() + i + width);
      has_nan |= nan;
    }
    const Doubles values = decoded_elements(source.dtype, source.type, in);
    const Tensor tensor = dense("t", {values.size()}, source.dtype, Blob::memory(in), std::string(source.type));
    for (const DType to : kAllDTypes) {
      const Doubles back = decoded_elements(to, "", cast(tensor, to, beyond(to)).component("data")->blob.bytes());
      bool same = is_float(to) || !has_nan;
      // Integers cannot represent the sign of a zero.
      for (std::size_t i = 0; i < values.size(); ++i)
        same = same && back[i] == values[i] && std::signbit(back[i]) == std::signbit(values[i]);
      EXPECT_EQ(cast_is_lossless(source.dtype, source.type, to), same)
          << name_of(source.dtype) << " " << source.type << " to " << name_of(to);
    }
  }
}

TEST(CastLossless, WideTypes) {
  const auto lossless_to = [](DType from) {
    std::string names;
    for (const DType to : kAllDTypes)
      if (cast_is_lossless(from, "", to)) names += std::string(name_of(to)) + " ";
    return names;
  };
  EXPECT_EQ(lossless_to(DType::f64), "f64 ");
  EXPECT_EQ(lossless_to(DType::f32), "f64 f32 ");
  EXPECT_EQ(lossless_to(DType::i64), "i64 ");
  EXPECT_EQ(lossless_to(DType::u64), "u64 ");
  EXPECT_EQ(lossless_to(DType::i32), "f64 i64 i32 ");
  EXPECT_EQ(lossless_to(DType::u32), "f64 i64 u64 u32 ");
  EXPECT_FALSE(cast_is_lossless(DType::f32, "complex64", DType::f64));
  EXPECT_FALSE(cast_is_lossless(DType::u8, "mystery", DType::f64));
}

}  // namespace
}  // namespace tare
