// The weights of a dense float tensor as f32, in order: what encoding reads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "codecs/element_kinds.hpp"
#include "tare/error.hpp"
#include "tare/model.hpp"

namespace tare {

// Where a weight that is NaN or infinite stands.
Error mcf_not_finite(const Tensor& tensor, std::uint64_t element, float value);

// Used by one thread. Values of other types are rounded to f32.
class McfValues {
 public:
  using Clip = std::optional<std::pair<float, float>>;

  // Begins at element `first` of `tensor`, which must outlive this.
  McfValues(const Tensor& tensor, const Clip& clip, std::uint64_t first);
  // Fills `out` with the next elements. With a clip, values beyond it are set to it, and those that are not finite are
  // refused (`quant.nonfinite`); without, the caller looks for them.
  void read(float* out, std::size_t count);
  // The next elements where they lie, without a copy; null when they cannot be used so, and then nothing is passed over.
  const float* view(std::size_t count);
  // The next element.
  std::uint64_t position() const { return next_; }
  // Throws when the file under a mapping has become shorter, so that what was read cannot be trusted.
  void check() const;

 private:
  const std::byte* take(std::size_t count);

  const Tensor& tensor_;
  const Component& data_;
  Clip clip_;
  Kind kind_;
  std::size_t width_;
  std::uint64_t next_, end_;
  const std::byte* view_ = nullptr;  // of element 0, when the bytes can be seen
  std::unique_ptr<BlobReader> reader_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0, filled_ = 0;
};

}  // namespace tare
