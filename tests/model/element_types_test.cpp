// Every row of the table of element types, code by code: reading, casting, counting and comparing follow from it, and
// must agree with the type's specification.
#include "model/element_types.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/endian.hpp"
#include "inspect/scan.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tare/error.hpp"
#include "tare/inspect.hpp"

namespace tare {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// What the specifications state, in other terms than the table.
struct Fact {
  std::string_view name;
  int exponent, mantissa, bias;
  double largest, smallest;  // positive numbers
  std::vector<unsigned> first_nan, last_nan;
  unsigned infinity = 0;  // 0: none; the negative one also has the sign bit
  bool subnormals = true;
};
const std::vector<Fact> kFacts = {
    {"f16", 5, 10, 15, 65504, 0x1p-24, {0x7C01, 0xFC01}, {0x7FFF, 0xFFFF}, 0x7C00},
    {"bf16", 8, 7, 127, 0x1.fep127, 0x1p-133, {0x7F81, 0xFF81}, {0x7FFF, 0xFFFF}, 0x7F80},
    {"f8_e4m3fn", 4, 3, 7, 448, 0x1p-9, {0x7F, 0xFF}, {0x7F, 0xFF}},
    {"f8_e5m2", 5, 2, 15, 57344, 0x1p-16, {0x7D, 0xFD}, {0x7F, 0xFF}, 0x7C},
    {"f8_e4m3fnuz", 4, 3, 8, 240, 0x1p-10, {0x80}, {0x80}},
    {"f8_e5m2fnuz", 5, 2, 16, 57344, 0x1p-17, {0x80}, {0x80}},
    {"f8_e8m0", 8, 0, 127, 0x1p127, 0x1p-127, {0xFF}, {0xFF}, 0, false},
    {"f4_e2m1", 2, 1, 1, 6, 0.5, {}, {}},
    {"f6_e2m3", 2, 3, 1, 7.5, 0.125, {}, {}},
    {"f6_e3m2", 3, 2, 3, 28, 0.0625, {}, {}},
};

const Fact* fact_of(std::string_view name) {
  for (const Fact& fact : kFacts)
    if (fact.name == name) return &fact;
  return nullptr;
}

// The value of a code by the textbook formula.
double expected(const Fact& fact, unsigned code) {
  for (std::size_t i = 0; i < fact.first_nan.size(); ++i)
    if (code >= fact.first_nan[i] && code <= fact.last_nan[i]) return std::numeric_limits<double>::quiet_NaN();
  const unsigned sign = 1u << (fact.exponent + fact.mantissa), rest = code & (sign - 1);
  const double plus = (code & sign) != 0 ? -1 : 1;
  if (fact.infinity != 0 && rest == fact.infinity) return plus * kInf;
  const int exponent = static_cast<int>(rest >> fact.mantissa);
  const double fraction = std::ldexp(rest & ((1u << fact.mantissa) - 1), -fact.mantissa);
  return plus * (exponent == 0 && fact.subnormals ? std::ldexp(fraction, 1 - fact.bias)
                                                  : std::ldexp(1 + fraction, exponent - fact.bias));
}

// The same number, including the sign of a zero, or both NaN.
bool same(double a, double b) { return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b); }

std::string_view logical_name(const ElementType& type) {
  return &type == &element_type(type.storage) ? std::string_view() : type.name;
}

// Types that are small enough to test every code.
std::vector<const ElementType*> short_types() {
  std::vector<const ElementType*> types;
  for (const ElementType& type : kElementTypes)
    if (type.coding.bits <= 16) types.push_back(&type);
  return types;
}

Bytes bytes_of(const ElementType& type, const std::vector<unsigned>& codes) {
  const std::size_t width = size_of(type.storage);
  Bytes bytes(codes.size() * width);
  for (std::size_t i = 0; i < codes.size(); ++i)
    for (std::size_t b = 0; b < width; ++b) bytes[i * width + b] = static_cast<std::byte>(codes[i] >> (8 * b));
  return bytes;
}

std::vector<unsigned> all_codes(const ElementType& type) {
  std::vector<unsigned> codes(std::size_t{1} << type.coding.bits);
  for (unsigned code = 0; code < codes.size(); ++code) codes[code] = code;
  return codes;
}

Tensor tensor_of(const ElementType& type, const std::vector<unsigned>& codes) {
  return dense("t", {codes.size()}, type.storage, Blob::memory(bytes_of(type, codes)), std::string(logical_name(type)));
}

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  for_each_element_run(tensor,
                       [&](std::span<const double> run) { values.insert(values.end(), run.begin(), run.end()); });
  return values;
}

Bytes stored_bytes(const Tensor& tensor) {
  const Blob& blob = tensor.component("data")->blob;
  Bytes bytes(blob.size());
  blob.read(0, bytes);
  return bytes;
}

// The codes of finite numbers.
std::vector<unsigned> finite_codes(const ElementType& type) {
  std::vector<unsigned> codes = all_codes(type);
  const std::vector<double> values = values_of(tensor_of(type, codes));
  std::erase_if(codes, [&](unsigned code) { return !std::isfinite(values[code]); });
  return codes;
}

TEST(ElementTypes, EveryFloatIsHeldAgainstItsDocument) {
  for (const ElementType* const type : short_types())
    if (type->coding.is_float()) {
      EXPECT_NE(fact_of(type->name), nullptr) << type->name << ": add it to kFacts";
    }
  for (const SmallFloat& type : kSmallFloats) EXPECT_NE(fact_of(type.name), nullptr) << type.name;
}

TEST(ElementTypes, EveryCodeOfTheTable) {
  const auto check = [](const Coding& coding, const Fact& fact) {
    double largest = 0, smallest = kInf;
    std::set<std::pair<double, bool>> numbers;
    std::size_t not_numbers = 0;
    for (unsigned code = 0; code < 1u << coding.bits; ++code) {
      const double value = coding.value(code), wanted = expected(fact, code);
      ASSERT_TRUE(same(value, wanted)) << fact.name << " " << code << ": " << value << ", not " << wanted;
      if (std::isnan(value))
        ++not_numbers;
      else
        numbers.emplace(value, std::signbit(value));
      if (std::isfinite(value)) largest = std::max(largest, value);
      if (value > 0) smallest = std::min(smallest, value);
    }
    // No two codes have the same value, so that each number has one code.
    EXPECT_EQ(numbers.size() + not_numbers, std::size_t{1} << coding.bits) << fact.name;
    EXPECT_EQ(largest, fact.largest) << fact.name;
    EXPECT_EQ(coding.value(static_cast<std::uint32_t>(coding.largest())), fact.largest) << fact.name;
    EXPECT_EQ(coding.highest_exponent(), std::ilogb(fact.largest)) << fact.name;
    EXPECT_EQ(smallest, fact.smallest) << fact.name;
    EXPECT_EQ(std::ldexp(1.0, coding.lowest_exponent()), fact.smallest) << fact.name;
    EXPECT_EQ(coding.is_signed(), numbers.begin()->first < 0) << fact.name;
  };
  for (const ElementType* const type : short_types())
    if (type->coding.is_float()) check(type->coding, *fact_of(type->name));
  for (const SmallFloat& type : kSmallFloats) check(type.coding, *fact_of(type.name));
}

TEST(ElementTypes, EveryCodeAsItIsRead) {
  for (const ElementType* const type : short_types()) {
    const Fact* const fact = fact_of(type->name);
    const std::vector<unsigned> codes = all_codes(*type);
    const std::vector<double> values = values_of(tensor_of(*type, codes));
    ASSERT_EQ(values.size(), codes.size());
    for (const unsigned code : codes) {
      const int half = 1 << (type->coding.bits - 1), whole = 2 * half, number = static_cast<int>(code);
      const double wanted = fact != nullptr                              ? expected(*fact, code)
                            : type->coding.numbers == Numbers::boolean   ? (code != 0 ? 1 : 0)
                            : type->coding.is_signed() && number >= half ? number - whole
                                                                         : number;
      ASSERT_TRUE(same(values[code], wanted)) << type->name << " " << code << ": " << values[code];
    }
  }
}

TEST(ElementTypes, EveryCodeComesBackFromDouble) {
  for (const ElementType* const type : short_types()) {
    std::vector<unsigned> codes = all_codes(*type);
    const std::vector<double> values = values_of(tensor_of(*type, codes));
    // NaN may change its payload; booleans are 0 and 1.
    std::erase_if(codes, [&](unsigned code) { return std::isnan(values[code]); });
    if (type->coding.numbers == Numbers::boolean) codes = {0, 1};
    const Tensor original = tensor_of(*type, codes);
    const Tensor wide = cast(original, DType::f64);
    const std::vector<double> read = values_of(original), seen = values_of(wide);
    ASSERT_TRUE(std::equal(read.begin(), read.end(), seen.begin(), seen.end(), same)) << type->name;
    if (logical_name(*type).empty()) {
      EXPECT_EQ(stored_bytes(cast(wide, type->storage)), bytes_of(*type, codes)) << type->name;
    }
  }
}

TEST(ElementTypes, NotNumbersAreCountedAlike) {
  for (const ElementType* const type : short_types()) {
    const Fact* const fact = fact_of(type->name);
    if (fact == nullptr) continue;
    const std::vector<unsigned> codes = all_codes(*type);
    std::uint64_t nan = 0, inf = 0;
    const auto kind = inspect::scan_kind(type->storage, logical_name(*type));
    ASSERT_TRUE(kind) << type->name;
    for (const unsigned code : codes) {
      const double value = expected(*fact, code);
      nan += std::isnan(value);
      inf += std::isinf(value);
      const inspect::ScanCounts counts = inspect::scan(*kind, bytes_of(*type, {code}));
      ASSERT_EQ(counts.nan, std::isnan(value) ? 1u : 0u) << type->name << " " << code;
      ASSERT_EQ(counts.inf, std::isinf(value) ? 1u : 0u) << type->name << " " << code;
    }
    const inspect::ScanCounts counts = inspect::scan(*kind, bytes_of(*type, codes));
    EXPECT_EQ(counts.nan, nan) << type->name;
    EXPECT_EQ(counts.inf, inf) << type->name;
    const Statistics seen = statistics(tensor_of(*type, codes), 0, 0, {.threads = 1});
    EXPECT_EQ(seen.nan, nan) << type->name;
    EXPECT_EQ(seen.inf, inf) << type->name;
    EXPECT_EQ(seen.max, fact->largest) << type->name;
  }
  for (const DType dtype : kAllDTypes)
    EXPECT_EQ(inspect::scan_kind(dtype, "").has_value(), is_float(dtype) || dtype == DType::boolean) << name_of(dtype);
}

// What the table predicts for a cast, compared with the result for every number.
TEST(ElementTypes, EveryCastAsItsRangesSay) {
  for (const ElementType* const type : short_types())
    for (const DType to : kAllDTypes) {
      const Tensor original = tensor_of(*type, finite_codes(*type));
      const std::vector<double> before = values_of(original),
                                after =
                                    values_of(cast(original, to, is_float(to) ? Overflow::infinity : Overflow::clamp));
      ASSERT_EQ(before.size(), after.size());
      const Coding& coding = element_type(to).coding;
      const bool is_whole = coding.is_integer();
      const double most = is_whole ? std::ldexp(1.0, coding.digits()) : 0, least = coding.is_signed() ? -most : 0;
      bool lossless = true;
      std::uint64_t beyond = 0;
      for (std::size_t i = 0; i < before.size(); ++i) {
        lossless = lossless && before[i] == after[i];
        const double rounded = std::nearbyint(before[i]);
        beyond += is_float(to) ? std::isinf(after[i]) : is_whole && (rounded < least || rounded >= most);
      }
      EXPECT_EQ(cast_is_lossless(type->storage, logical_name(*type), to), lossless) << type->name << " " << name_of(to);
      EXPECT_EQ(count_overflow(original, to, 1), beyond) << type->name << " " << name_of(to);
    }
}

template <typename T>
void expect_limits(DType dtype) {
  using Limits = std::numeric_limits<T>;
  const Coding& coding = element_type(dtype).coding;
  EXPECT_EQ(coding.bits, 8 * sizeof(T));
  EXPECT_EQ(coding.digits(), Limits::digits);
  EXPECT_EQ(coding.is_signed(), Limits::is_signed);
  EXPECT_EQ(coding.is_float(), !Limits::is_integer);
  if constexpr (!Limits::is_integer) {
    EXPECT_EQ(coding.highest_exponent(), Limits::max_exponent - 1);
    EXPECT_EQ(coding.lowest_exponent(), std::ilogb(Limits::denorm_min()));
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    EXPECT_EQ(coding.infinity(), std::bit_cast<Bits>(Limits::infinity()));
    EXPECT_EQ(coding.largest(), std::bit_cast<Bits>(Limits::max()));
  }
}

TEST(ElementTypes, LongTypesAreThoseOfTheLanguage) {
  expect_limits<double>(DType::f64);
  expect_limits<float>(DType::f32);
  expect_limits<std::int64_t>(DType::i64);
  expect_limits<std::uint64_t>(DType::u64);
  expect_limits<std::int32_t>(DType::i32);
  expect_limits<std::uint32_t>(DType::u32);
  for (const std::uint32_t bits :
       {0u, 1u, 0x7FFFFFu, 0x800000u, 0x3F800001u, 0xFF7FFFFFu, 0x7F800000u, 0xFF800000u, 0x7F800001u})
    EXPECT_TRUE(same(element_type(DType::f32).coding.value(bits), double{std::bit_cast<float>(bits)})) << bits;
}

TEST(ElementTypes, TheLargestIsNamed) {
  const auto sentence = [](DType to) {
    Bytes bytes(8);
    store_le<double>(bytes.data(), 1e300);
    try {
      stored_bytes(cast(dense("t", {1}, DType::f64, Blob::memory(bytes)), to));
    } catch (const Error& error) {
      return error.sentence();
    }
    return std::string();
  };
  const auto starts = [](const std::string& text, std::string_view start) { return text.starts_with(start); };
  EXPECT_PRED2(starts, sentence(DType::f16), "element 0 is 1e+300, beyond the largest f16 (65504)");
  EXPECT_PRED2(starts, sentence(DType::bf16), "element 0 is 1e+300, beyond the largest bf16 (3.3895e38)");
  EXPECT_PRED2(starts, sentence(DType::f32), "element 0 is 1e+300, beyond the largest f32 (3.4028e38)");
}

TEST(ElementTypes, PairsAreTwoOfTheirStorage) {
  for (const ElementType& type : kElementTypes) {
    if (type.per_element == 1) continue;
    EXPECT_EQ(inspect::scan_kind(type.storage, type.name), inspect::scan_kind(type.storage, "")) << type.name;
    EXPECT_FALSE(cast_is_lossless(type.storage, type.name, type.storage)) << type.name;
    EXPECT_TRUE(is_numeric(type.storage, type.name)) << type.name;
    EXPECT_FALSE(type.is_real()) << type.name;
  }
}

}  // namespace
}  // namespace tare
