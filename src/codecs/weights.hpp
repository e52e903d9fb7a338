// The weights of a dense float tensor as f32, in order: what encoding reads.
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

// What every encoder asks of its input: a sound dense tensor (else usage `input_rule`) of floats, fp8 included (else
// unsupported `type_rule`).
void require_floats(const Tensor& tensor, std::string_view input_rule, std::string_view type_rule);
// Two finite numbers, the lower one first (else usage `rule`).
void require_clip(const Tensor& tensor, const std::pair<float, float>& clip, std::string_view rule);

// Where a weight stands that is NaN, infinite or outside f32; which of them is read from the tensor. `rule` is the codec's.
Error not_finite(const Tensor& tensor, std::uint64_t element, std::string_view rule);

// What becomes of values that no finite f32 can be.
enum class Beyond : std::uint8_t {
  infinite,  // they are infinite or NaN, and the caller looks for them
  largest,   // finite ones are set to the largest f32, to be clipped; the others are refused by the codec's rule
};

// Used by one thread. WeightStream of other types are rounded to f32.
class WeightStream {
 public:
  // Begins at element `first` of `tensor`, which must outlive this, as the rule must.
  WeightStream(const Tensor& tensor, Beyond beyond, std::string_view rule, std::uint64_t first);
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
  std::string_view rule_;
  Kind kind_;
  std::size_t width_;
  std::uint64_t next_, end_;
  const std::byte* view_ = nullptr;  // of element 0, when the bytes can be seen
  std::unique_ptr<BlobReader> reader_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0, filled_ = 0;
};

}  // namespace tare::codec
