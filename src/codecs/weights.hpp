// The weights of a dense float tensor as f32, in order: the input of encoders.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "codecs/element_kinds.hpp"
#include "tare/error.hpp"
#include "tare/model.hpp"

namespace tare::codec {

// Throws usage `input_rule` unless the tensor is dense and valid, and unsupported `type_rule` unless its type is a
// float (8-bit floats included).
void require_floats(const Tensor& tensor, std::string_view input_rule, std::string_view type_rule);
// Throws usage `rule` unless the clip is two finite numbers, the lower one first.
void require_clip(const Tensor& tensor, const std::pair<float, float>& clip, std::string_view rule);

// The error for a weight that is NaN, infinite or outside f32; reads the element to see which. `rule` is the codec's.
Error not_finite(const Tensor& tensor, std::uint64_t element, std::string_view rule);

// What to do with values that are not finite as f32.
enum class Beyond : std::uint8_t {
  infinite,  // return them as infinite or NaN; the caller looks for them
  largest,   // replace finite ones by the largest f32, to be clipped; refuse the others by the codec's rule
};

// Used by one thread. Weights of other types are rounded to f32.
class WeightStream {
 public:
  // Begins at element `first` of `tensor`. The tensor and the rule must outlive the stream.
  WeightStream(const Tensor& tensor, Beyond beyond, std::string_view rule, std::uint64_t first);
  // Fills `out` with the next elements.
  void read(float* out, std::size_t count);
  // The number of the next element.
  std::uint64_t position() const { return next_; }
  // Throws if the file has changed, so that what was read cannot be trusted.
  void check() const;

 private:
  const std::byte* take(std::size_t count);

  const Tensor& tensor_;
  const Component& data_;
  Beyond beyond_;
  std::string_view rule_;
  Kind kind_;
  std::size_t width_;
  std::uint64_t next_, end_;
  const std::byte* view_ = nullptr;  // address of element 0; null if the bytes are read from a file
  std::unique_ptr<BlobReader> reader_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0, filled_ = 0;
};

}  // namespace tare::codec
