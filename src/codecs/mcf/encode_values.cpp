#include "codecs/mcf/encode_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.hpp"

namespace tare::codec::mcf {
namespace {

// Bytes pulled at a time where they cannot be seen: worth a system call.
constexpr std::size_t kPull = std::size_t{256} << 10;

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

Error not_finite(const Tensor& tensor, std::uint64_t element) {
  const double value = element_at(*tensor.component("data"), element);
  const char* const why = std::isfinite(value) ? "outside f32; --clip would cut it, --keep leave the tensor as it is"
                                               : "and only finite weights can be quantized";
  return Error(ErrorKind::unsupported, "quant.nonfinite",
               fmt::format("element {} is {}, {}", index_text(tensor.shape, element), value, why))
      .about(tensor.name);
}

Values::Values(const Tensor& tensor, Beyond beyond, std::uint64_t first)
    : tensor_(tensor),
      data_(*tensor.component("data")),
      beyond_(beyond),
      kind_(kind_of(data_.dtype, data_.type)),
      width_(size_of(data_.dtype)),
      next_(first),
      end_(data_.blob.size() / width_) {
  if (const auto view = data_.blob.view())
    view_ = view->data();
  else
    reader_ = data_.blob.open(first * width_);
}

const std::byte* Values::take(std::size_t count) {
  const std::size_t bytes = count * width_;
  if (view_ != nullptr) {
    // A copy: what a block's scale is chosen by must be what is then divided by it.
    if (buffer_.size() < bytes) buffer_.resize(bytes);
    std::memcpy(buffer_.data(), view_ + next_ * width_, bytes);
    return buffer_.data();
  }
  if (filled_ - at_ < bytes) {
    const std::size_t kept = filled_ - at_;
    if (buffer_.size() < std::max(bytes, kPull)) buffer_.resize(std::max(bytes, kPull));
    std::memmove(buffer_.data(), buffer_.data() + at_, kept);
    const std::uint64_t left = (end_ - next_) * width_ - kept;
    const auto fresh = static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer_.size() - kept));
    reader_->read(std::span(buffer_).subspan(kept, fresh));
    at_ = 0;
    filled_ = kept + fresh;
  }
  const std::byte* const from = buffer_.data() + at_;
  at_ += bytes;
  return from;
}

void Values::read(float* out, std::size_t count) {
  if (count > end_ - next_) throw Error(ErrorKind::usage, "blob.bounds", "read past the end of a component");
  const std::byte* const from = take(count);
  with_kind(kind_, [&]<Kind K>() {
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (K == Kind::f64)
        out[i] = f64_to_f32(load<K>(from, i));
      else
        out[i] = static_cast<float>(load<K>(from, i));
    }
    if (beyond_ == Beyond::infinite) return;
    for (std::size_t i = 0; i < count; ++i) {
      if (std::isfinite(out[i])) continue;
      if (!std::isfinite(static_cast<double>(load<K>(from, i)))) throw not_finite(tensor_, next_ + i);
      out[i] = std::copysign(std::numeric_limits<float>::max(), out[i]);
    }
  });
  next_ += count;
}

void Values::check() const {
  if (view_ != nullptr && data_.blob.source() != nullptr) data_.blob.source()->check();
}

}  // namespace tare::codec::mcf
