#include "codecs/weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.hpp"
#include "codecs/rows.hpp"
#include "model/element_types.hpp"
#include "tare/elements.hpp"

namespace tare::codec {
namespace {

// Bytes read at a time if there is no view: enough to be worth a system call.
constexpr std::size_t kPulled = std::size_t{256} << 10;

std::string index_text(const Shape& shape, std::uint64_t element) {
  std::vector<std::uint64_t> index(shape.rank());
  for (std::size_t i = shape.rank(); i-- > 0;) {
    index[i] = element % shape[i];
    element /= shape[i];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

double element_at(const Component& data, std::uint64_t element) {
  std::array<std::byte, sizeof(double)> bytes;
  const std::size_t width = size_of(data.dtype);
  data.blob.read(element * width, std::span(bytes).first(width));
  double value = 0;
  with_kind(kind_of(data.dtype, data.type), [&]<Kind K>() { value = static_cast<double>(load<K>(bytes.data(), 0)); });
  return value;
}

}  // namespace

void require_floats(const Tensor& tensor, std::string_view input_rule, std::string_view type_rule) {
  const Component* const data = tensor.is_dense() ? tensor.component("data") : nullptr;
  if (data == nullptr || kDense.check(tensor))
    throw Error(ErrorKind::usage, input_rule, "only a valid dense tensor can be quantized").about(tensor.name);
  const ElementType* const type = element_type(data->dtype, data->type);
  if (type == nullptr || !type->is_real())
    throw Error(ErrorKind::unsupported, type_rule,
                fmt::format("only floats can be quantized, this tensor is {}", data->type_name()))
        .about(tensor.name);
}

void require_clip(const Tensor& tensor, const std::pair<float, float>& clip, std::string_view rule) {
  if (std::isfinite(clip.first) && std::isfinite(clip.second) && clip.first <= clip.second) return;
  throw Error(
      ErrorKind::usage, rule,
      fmt::format("a clip is two finite numbers, the lower one first; found {} and {}", clip.first, clip.second))
      .about(tensor.name);
}

Error not_finite(const Tensor& tensor, std::uint64_t element, std::string_view rule) {
  const double value = element_at(*tensor.component("data"), element);
  const bool finite = std::isfinite(value);
  Error error(ErrorKind::unsupported, rule,
              fmt::format("element {} is {}, {}", index_text(tensor.shape, element), value,
                          finite ? "outside f32" : "and only finite weights can be quantized"));
  error.about(tensor.name).blame(Subject::input);
  return finite ? error.remedy(Remedy::clip).remedy(Remedy::keep) : error;
}

WeightStream::WeightStream(const Tensor& tensor, Beyond beyond, std::string_view rule, std::uint64_t first)
    : tensor_(tensor),
      data_(*tensor.component("data")),
      beyond_(beyond),
      rule_(rule),
      kind_(kind_of(data_.dtype, data_.type)),
      width_(size_of(data_.dtype)),
      next_(first),
      end_(data_.blob.size() / width_) {
  // File bytes are read even if the file is mapped: each is needed only once, and mapped pages would stay resident.
  const bool in_memory = data_.blob.source() != nullptr && data_.blob.source()->descriptor() < 0;
  if (const auto view = in_memory ? data_.blob.view() : std::nullopt)
    view_ = view->data();
  else
    reader_ = data_.blob.open(first * width_);
}

const std::byte* WeightStream::take(std::size_t count) {
  const std::size_t bytes = count * width_;
  if (view_ != nullptr) {
    // Copied, because the bytes may change: a block must be divided by the scale that was chosen for the same bytes.
    if (buffer_.size() < bytes) buffer_.resize(bytes);
    std::memcpy(buffer_.data(), view_ + next_ * width_, bytes);
    return buffer_.data();
  }
  if (filled_ - at_ < bytes) {
    const std::size_t kept = filled_ - at_;
    const std::uint64_t rest = (end_ - next_) * width_, left = rest - kept;
    // No more than there is: a model can have many tensors of a few bytes.
    const auto room = std::max(bytes, static_cast<std::size_t>(std::min<std::uint64_t>(rest, kPulled)));
    if (buffer_.size() < room) buffer_.resize(room);
    std::memmove(buffer_.data(), buffer_.data() + at_, kept);
    const auto fresh = static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer_.size() - kept));
    reader_->read(std::span(buffer_).subspan(kept, fresh));
    at_ = 0;
    filled_ = kept + fresh;
  }
  const std::byte* const from = buffer_.data() + at_;
  at_ += bytes;
  return from;
}

void WeightStream::read(float* out, std::size_t count) {
  if (count > end_ - next_) throw Error(ErrorKind::usage, "blob.bounds", "read past the end of a component");
  const std::byte* const from = take(count);
  with_kind(kind_, [&]<Kind K>() {
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (K == kind_of(DType::f64))
        out[i] = f64_to_f32(load<K>(from, i));
      else
        out[i] = static_cast<float>(load<K>(from, i));
    }
    if (beyond_ == Beyond::infinite) return;
    for (std::size_t i = 0; i < count; ++i) {
      if (std::isfinite(out[i])) continue;
      if (!std::isfinite(static_cast<double>(load<K>(from, i)))) throw not_finite(tensor_, next_ + i, rule_);
      out[i] = std::copysign(std::numeric_limits<float>::max(), out[i]);
    }
  });
  next_ += count;
}

void WeightStream::check() const {
  if (data_.blob.source() != nullptr) data_.blob.source()->check();
}

}  // namespace tare::codec
