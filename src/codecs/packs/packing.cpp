#include "codecs/packs/packing.hpp"

#include <fmt/format.h>

#include "base/checked.hpp"

namespace tare::codec::packs {
namespace {

std::optional<std::uint64_t> count_weights(const Model& model, const Found& found,
                                           std::optional<std::uint64_t> usual_bits) {
  std::vector<std::uint64_t> weights(model.tensors.size(), 0);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto elements = model.tensors[i].shape.elements();
    if (!elements) return std::nullopt;
    if (found.parts[i].empty()) weights[i] = *elements;
  }
  for (const FoundSet& set : found.sets) {
    if (set.scheme == nullptr) continue;
    const std::uint64_t width = set.scheme->bits != 0 ? set.scheme->bits : usual_bits.value_or(0);
    const auto stored = checked_mul(model.tensors[set.codes].bytes(), std::uint64_t{8});
    if (width == 0 || !stored) return std::nullopt;
    weights[set.codes] = *stored / width;
  }
  std::optional<std::uint64_t> sum = 0;
  for (const std::uint64_t number : weights) sum = sum ? checked_add(*sum, number) : std::nullopt;
  return sum;
}

}  // namespace

std::string Packing::text() const {
  std::string words = title;
  const bool whole_bytes = bits == 8 && (stored.ends_with("i8") || stored.ends_with("u8") || stored.starts_with("f8"));
  if (bits && !whole_bytes) words += fmt::format(" {}-bit", *bits);
  if (group) words += fmt::format(", group {}", *group);
  if (!stored.empty()) words += fmt::format(", {} {}", stored.starts_with('f') ? "stored as" : "packed in", stored);
  return words;
}

std::optional<Packing> packing_of(const Model& model, const Found& found) {
  if (!found.any()) return std::nullopt;
  const Stated& stated = found.stated;
  Packing packing;
  packing.scheme = packing.title = stated.method.empty() ? "unknown" : stated.method;
  for (const FoundSet& set : found.sets) {
    if (set.scheme == nullptr || packing.tensors++ != 0) continue;
    packing.scheme = set.scheme->name;
    packing.title = set.scheme->title;
    packing.stored = model.tensors[set.codes].component("data")->type_name();
    packing.first = set.codes;
    if (set.scheme->bits != 0) packing.bits = set.scheme->bits;
  }
  packing.said_by = stated.file;
  if (!packing.bits) packing.bits = stated.bits;
  packing.group = stated.group;
  if (packing.tensors != 0) packing.parameters = count_weights(model, found, packing.bits);
  return packing;
}

}  // namespace tare::codec::packs
