#include "tare/dtype.hpp"

#include <algorithm>

namespace tare {
namespace {

struct DTypeRow {
  std::string_view name;
  std::uint8_t size;
};
// In the order of the enum.
constexpr DTypeRow kRows[] = {{"f64", 8}, {"f32", 4}, {"f16", 2}, {"bf16", 2}, {"i64", 8}, {"i32", 4}, {"i16", 2},
                              {"i8", 1},  {"u64", 8}, {"u32", 4}, {"u16", 2},  {"u8", 1},  {"bool", 1}};

constexpr std::uint32_t pack(std::string_view text) {
  std::uint32_t number = 0;
  for (const char c : text) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

constexpr LogicalType kLogical[] = {
    {"f8_e4m3fn", DType::u8, 1},   {"f8_e5m2", DType::u8, 1}, {"f8_e4m3fnuz", DType::u8, 1},
    {"f8_e5m2fnuz", DType::u8, 1}, {"f8_e8m0", DType::u8, 1}, {"complex64", DType::f32, 2},
    {"complex128", DType::f64, 2},
};

const DTypeRow& row(DType type) { return kRows[static_cast<std::size_t>(type)]; }

}  // namespace

std::size_t size_of(DType type) { return row(type).size; }

std::string_view name_of(DType type) { return row(type).name; }

std::optional<DType> parse_dtype(std::string_view name) {
  // Names of up to four bytes compare as numbers: a manifest asks this for every tensor.
  static constexpr auto kPacked = [] {
    std::array<std::uint32_t, std::size(kRows)> packed{};
    for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = pack(kRows[i].name);
    return packed;
  }();
  if (name.size() > 4) return std::nullopt;
  const auto found = std::find(kPacked.begin(), kPacked.end(), pack(name));
  if (found == kPacked.end()) return std::nullopt;
  const DType type = kAllDTypes[static_cast<std::size_t>(found - kPacked.begin())];
  return name_of(type).size() == name.size() ? std::optional(type) : std::nullopt;
}

bool is_float(DType type) {
  return type == DType::f64 || type == DType::f32 || type == DType::f16 || type == DType::bf16;
}

std::span<const LogicalType> known_logical_types() { return kLogical; }

const LogicalType* find_logical_type(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kLogical), std::end(kLogical), [&](const LogicalType& t) { return t.name == name; });
  return found == std::end(kLogical) ? nullptr : found;
}

}  // namespace tare
