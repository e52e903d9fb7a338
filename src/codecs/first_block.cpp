#include "codecs/first_block.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "tare/elements.hpp"
#include "tare/error.hpp"

namespace tare::codec {

std::optional<FirstBlock> first_block(const Tensor& tensor) {
  const Codec* const row = find_codec(tensor.layout);
  if (row == nullptr || tensor.shape.elements().value_or(0) == 0) return std::nullopt;
  if (row->check != nullptr && row->check(tensor)) return std::nullopt;
  std::optional<FirstBlock> block = row->explain == nullptr ? std::nullopt : row->explain(tensor);
  if (!block) return std::nullopt;
  // Filled here, because `explain` may have looked at a copy whose roles no longer exist.
  for (BlockField& field : block->fields)
    if (field.name.empty()) field.name = tensor.components[field.component].role;
  return block;
}

Bytes bytes_of(const Component& component, const BlockField& field) {
  const Blob& blob = component.blob;
  const auto size = static_cast<std::size_t>(field.bytes);
  Bytes all(size * static_cast<std::size_t>(field.runs));
  const auto run = [&](std::uint64_t i) { return std::span(all).subspan(i * size, size); };
  if (field.runs == 1 || blob.is_plain() || blob.seek_granularity() != 0) {
    for (std::uint64_t i = 0; i < field.runs; ++i) blob.read(field.offset + i * field.stride, run(i));
    return all;
  }
  // A blob that can only be read from the beginning is read once.
  const std::unique_ptr<BlobReader> reader = blob.open(field.offset);
  Bytes between(static_cast<std::size_t>(std::min<std::uint64_t>(field.stride - field.bytes, 64 << 10)));
  for (std::uint64_t i = 0; i < field.runs; ++i) {
    reader->read(run(i));
    for (std::uint64_t left = i + 1 < field.runs ? field.stride - field.bytes : 0; left > 0;) {
      const auto part =
          std::span(between).first(static_cast<std::size_t>(std::min<std::uint64_t>(left, between.size())));
      reader->read(part);
      left -= part.size();
    }
  }
  return all;
}

std::vector<double> codes_in(std::span<const std::byte> bytes, unsigned bits, std::uint64_t count, bool high_first) {
  const auto most = bytes.size() * 8 / bits;
  std::vector<double> codes(static_cast<std::size_t>(std::min(count, most)));
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const std::size_t first = i * bits, at = first / 8;
    unsigned word = std::to_integer<unsigned>(bytes[at]);
    if (at + 1 < bytes.size()) word |= std::to_integer<unsigned>(bytes[at + 1]) << 8;
    const auto shift = static_cast<unsigned>(high_first ? 8 - bits - first % 8 : first % 8);
    codes[i] = word >> shift & ((1U << bits) - 1);
  }
  return codes;
}

Explainer::Explainer(const Tensor& tensor, std::uint64_t weights, std::string_view formula, std::uint64_t step)
    : tensor_(tensor) {
  block_.weights = weights;
  block_.formula = formula;
  block_.step = step;
}

Bytes Explainer::field(std::string_view role, BlockField field) {
  while (field.component < tensor_.components.size() && tensor_.components[field.component].role != role)
    ++field.component;
  if (field.component == tensor_.components.size()) return {};
  Bytes bytes = bytes_of(tensor_.components[field.component], field);
  block_.fields.push_back(field);
  return bytes;
}

std::vector<double> Explainer::numbers(std::string_view role, std::string_view what, std::uint64_t first,
                                       std::uint64_t count, std::uint64_t step) {
  const Component* const component = tensor_.component(role);
  if (component == nullptr) return {};
  const std::uint64_t width = size_of(component->dtype);
  const bool side_by_side = step == 1;
  const Bytes bytes = field(role, {.what = what,
                                   .kind = FieldKind::elements,
                                   .offset = first * width,
                                   .bytes = side_by_side ? count * width : width,
                                   .runs = side_by_side ? 1 : count,
                                   .stride = side_by_side ? 0 : step * width});
  std::vector<double> values(count);
  decode_elements(component->dtype, component->type, bytes, values);
  return values;
}

std::vector<double> Explainer::codes(std::string_view role, std::string_view what, unsigned bits, bool high_first) {
  const Component* const component = tensor_.component(role);
  if (component == nullptr) return {};
  // Rounded up to whole storage elements, because codes may fill words.
  const std::uint64_t word = size_of(component->dtype);
  const std::uint64_t bytes = ceil_div(ceil_div(block_.weights * bits, std::uint64_t{8}), word) * word;
  const Bytes read = field(role, {.what = what,
                                  .kind = FieldKind::bits,
                                  .bytes = std::min(bytes, component->blob.size()),
                                  .bits = bits,
                                  .high_first = high_first});
  return codes_in(read, bits, block_.weights, high_first);
}

Explainer& Explainer::term(std::string_view name, std::vector<double> values) {
  block_.terms.push_back({name, std::move(values)});
  return *this;
}

}  // namespace tare::codec
