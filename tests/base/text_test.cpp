// Formatting of numbers and sizes, and conversion of numbers between widths.
#include "base/text.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "base/half.hpp"
#include "conformance/scratch.hpp"
#include "wire/json.hpp"

namespace tare {
namespace {

using namespace tare::testing;

// The page (tests/view/format.mjs) and Python (python/tests/test_write.py) are tested with the same table.
TEST(Text, NumbersAndSizesAreThoseOfTheTable) {
  const Bytes bytes = get_file(std::string(TARE_TEST_DIR) + "/base/numbers.json");
  wire::TreeBounds bounds;
  const Value table = wire::read_json(to_text(bytes), bounds);
  const auto rows = [&](std::string_view key) { return *table.get<Map>()->find(key)->get<List>(); };
  ASSERT_GT(rows("sizes").size(), 10U);
  for (const Value& row : rows("sizes")) {
    const List& parts = *row.get<List>();
    EXPECT_EQ(size_text(static_cast<std::uint64_t>(*parts[0].get<std::int64_t>())), *parts[1].text());
  }
  ASSERT_GT(rows("numbers").size(), 10U);
  for (const Value& row : rows("numbers")) {
    const List& parts = *row.get<List>();
    const auto* const whole = parts[0].get<std::int64_t>();
    const double number = whole != nullptr ? static_cast<double>(*whole) : *parts[0].get<double>();
    EXPECT_EQ(number_text(number, static_cast<int>(*parts[1].get<std::int64_t>())), *parts[2].text());
  }
}

// Also for signalling NaN: a conversion would set their quiet bit.
TEST(Carry, NanKeepsItsBits) {
  for (const std::uint32_t sign : {0u, 0x80000000u})
    for (const std::uint32_t fraction : {1u, 2u, 0x200000u, 0x3FFFFFu, 0x400000u, 0x400001u, 0x7FFFFFu}) {
      const std::uint32_t bits = sign | 0x7F800000u | fraction;
      const double wide = carry_to_f64(std::bit_cast<float>(bits));
      EXPECT_TRUE(std::isnan(wide));
      EXPECT_EQ(std::bit_cast<std::uint32_t>(carry_to_f32(wide)), bits);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(carry_to_f32(decimal_double(std::bit_cast<float>(bits)))), bits);
    }
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const float value : {0.0F, -0.0F, 1.5F, 0.1F, 1e-45F, 3.4e38F, kInf, -kInf}) {
    EXPECT_EQ(carry_to_f64(value), static_cast<double>(value));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(carry_to_f32(value)), std::bit_cast<std::uint32_t>(value));
    EXPECT_EQ(carry_to_f32(decimal_double(value)), value);
  }
  // A NaN whose bits do not fit a float stays NaN.
  EXPECT_TRUE(std::isnan(carry_to_f32(std::bit_cast<double>(std::uint64_t{0x7FF0000000000001}))));
}

}  // namespace
}  // namespace tare
