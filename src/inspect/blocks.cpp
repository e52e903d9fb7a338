#include "inspect/blocks.hpp"

#include <algorithm>

#include "tare/elements.hpp"

namespace tare::inspect {

std::uint64_t storage_elements(const Component& component) { return component.blob.size() / size_of(component.dtype); }

ElementPuller::ElementPuller(const Component& component, std::uint64_t first)
    : component_(component),
      puller_(component.blob, first * size_of(component.dtype)),
      width_(size_of(component.dtype)),
      left_(storage_elements(component) - first),
      values_(std::make_unique_for_overwrite<double[]>(kRunElements)) {}

std::span<const double> ElementPuller::next() {
  static_assert(kChunk % (kRunElements * 8) == 0, "a chunk holds whole runs of every element size");
  if (chunk_.empty()) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, kChunk / width_));
    chunk_ = puller_.next(count * width_);
    left_ -= count;
  }
  const std::size_t count = std::min(kRunElements, chunk_.size() / width_);
  raw_ = chunk_.first(count * width_);
  chunk_ = chunk_.subspan(raw_.size());
  const std::span values(values_.get(), count);
  decode_elements(component_.dtype, component_.type, raw_, values);
  return values;
}

std::uint64_t blocks_per_piece(const Component& component) {
  return units_per_piece(component.blob, kBlockElements * size_of(component.dtype));
}

}  // namespace tare::inspect
