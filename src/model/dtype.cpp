#include "tare/dtype.hpp"

#include <algorithm>

#include "model/element_types.hpp"

namespace tare {
namespace {

constexpr std::uint32_t pack(std::string_view text) {
  std::uint32_t number = 0;
  for (const char c : text) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

constexpr auto kLogical = [] {
  std::array<LogicalType, kLogicalTypeCount> types;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const ElementType& type = kElementTypes[kStorageTypes + i];
    types[i] = {type.name, type.storage, type.per_element};
  }
  return types;
}();

}  // namespace

std::size_t size_of(DType type) { return element_type(type).coding.bits / 8; }

std::string_view name_of(DType type) { return element_type(type).name; }

std::optional<DType> parse_dtype(std::string_view name) {
  // Names of up to four bytes compare as numbers: a manifest asks for every tensor.
  static constexpr auto kPacked = [] {
    std::array<std::uint32_t, kStorageTypes> packed{};
    for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = pack(kElementTypes[i].name);
    return packed;
  }();
  if (name.size() > 4) return std::nullopt;
  const auto found = std::find(kPacked.begin(), kPacked.end(), pack(name));
  if (found == kPacked.end()) return std::nullopt;
  const DType type = kAllDTypes[static_cast<std::size_t>(found - kPacked.begin())];
  return name_of(type).size() == name.size() ? std::optional(type) : std::nullopt;
}

bool is_float(DType type) { return element_type(type).coding.is_float(); }

std::span<const LogicalType> known_logical_types() { return kLogical; }

const LogicalType* find_logical_type(std::string_view name) {
  const ElementType* const found = logical_type(name);
  return found == nullptr ? nullptr : &kLogical[static_cast<std::size_t>(found - kElementTypes) - kStorageTypes];
}

}  // namespace tare
