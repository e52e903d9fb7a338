// The weights of a dense float tensor as f32, in order: what encoding reads.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "codecs/element_kinds.hpp"
#include "tare/error.hpp"
#include "tare/model.hpp"

namespace tare::codec::mcf {

// Where a weight stands that is NaN, infinite or outside f32; which of them is read from the tensor.
Error not_finite(const Tensor& tensor, std::uint64_t element);

// What becomes of values that no finite f32 can be.
enum class Beyond : std::uint8_t {
  infinite,  // they are infinite or NaN, and the caller looks for them
  largest,   // finite ones are set to the largest f32, to be clipped; the others are refused (`quant.nonfinite`)
};

// Used by one thread. Values of other types are rounded to f32.
class Values {
 public:
  // Begins at element `first` of `tensor`, which must outlive this.
  Values(const Tensor& tensor, Beyond beyond, std::uint64_t first);
  // Fills `out` with the next elements.
  void read(float* out, std::size_t count);
  // The next element.
  std::uint64_t position() const { return next_; }
  // Throws when the file under a mapping has changed, so that what was read cannot be trusted.
  void check() const;

 private:
  const std::byte* take(std::size_t count);

  const Tensor& tensor_;
  const Component& data_;
  Beyond beyond_;
  Kind kind_;
  std::size_t width_;
  std::uint64_t next_, end_;
  const std::byte* view_ = nullptr;  // of element 0, when the bytes can be seen
  std::unique_ptr<BlobReader> reader_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0, filled_ = 0;
};

}  // namespace tare::codec::mcf
