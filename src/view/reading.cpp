#include "view/reading.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/stopping.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"

namespace tare::view {
namespace {

// Up to this granularity, entering a blob at any position costs almost nothing.
constexpr std::uint64_t kFine = 64 << 10;
constexpr std::size_t kWaste = 64 << 10;

}  // namespace

Reading::Reading(const Tensor& tensor, std::uint64_t budget) : dense_(to_dense(tensor)), budget_(budget) {
  component_ = dense_.component("data");
  if (component_ == nullptr || !is_numeric(component_->dtype, component_->type))
    throw Error(ErrorKind::unsupported, "view.type",
                fmt::format("elements of type {} cannot be shown as numbers", dtype_name(tensor)))
        .about(tensor.name);
  width_ = size_of(component_->dtype);
  const LogicalType* const logical = find_logical_type(component_->type);
  const std::uint64_t parts = logical == nullptr ? 1 : logical->per_element;
  const std::uint64_t all = component_->blob.size() / width_;
  const std::uint64_t last = dense_.shape.rank() == 0 ? 1 : dense_.shape.back();
  columns_ = checked_mul(last, parts).value_or(0);
  rows_ = columns_ == 0 ? 0 : all / columns_;
  if (component_->blob.is_plain())
    step_ = 1;
  else
    step_ = component_->blob.seek_granularity();
}

bool Reading::is_single() const {
  const DType dtype = component_->dtype;
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16 || !component_->type.empty();
}

bool Reading::is_wide_integer() const {
  return component_->type.empty() && (component_->dtype == DType::i64 || component_->dtype == DType::u64);
}

void Reading::pull(std::uint64_t offset, std::span<std::byte> out) {
  const Blob& blob = component_->blob;
  if (blob.is_plain() || (step_ > 0 && step_ <= kFine)) {
    blob.read(offset, out);
    return;
  }
  const std::uint64_t entry = step_ == 0 ? 0 : offset / step_ * step_;
  if (reader_ == nullptr || offset < position_ || position_ < entry) {
    reader_ = blob.open(entry);
    position_ = entry;
  }
  waste_.resize(kWaste);
  while (position_ < offset) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kWaste, offset - position_));
    check_stop();
    reader_->read(std::span(waste_).first(size));
    position_ += size;
  }
  reader_->read(out);
  position_ += out.size();
}

bool Reading::read(std::uint64_t first, std::span<double> out) {
  if (out.empty()) return true;
  const std::uint64_t offset = first * width_, size = out.size() * width_;
  std::uint64_t cost = size;
  if (step_ == 0 || step_ > kFine) {
    const std::uint64_t entry = step_ == 0 ? 0 : offset / step_ * step_;
    const bool goes_on = reader_ != nullptr && offset >= position_ && position_ >= entry;
    cost += offset - (goes_on ? position_ : entry);
  }
  if (read_ + cost > budget_) return false;
  check_stop();
  bytes_.resize(size);
  pull(offset, bytes_);
  read_ += cost;
  decode_elements(component_->dtype, component_->type, bytes_, out);
  return true;
}

}  // namespace tare::view
