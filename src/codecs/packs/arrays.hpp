// The arrays of packed weights, readable at any offset, and their elements as floats.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/once.hpp"
#include "codecs/element_kinds.hpp"
#include "codecs/packs/nibbles.hpp"
#include "tare/codec.hpp"

namespace tare::codec::packs {

// No program makes larger scales, and the product of three of them and any code still fits f32.
inline constexpr float kUsualScale = 0x1p32f;

// Immutable; used by many threads.
class Array {
 public:
  explicit Array(const Component& component);

  const Component& component() const { return component_; }
  std::uint64_t elements() const { return component_.blob.size() / width_; }
  std::size_t width() const { return width_; }
  // Returns `length` bytes from `offset` on: in place if the array has a view, else copied to `buffer`. In place, other
  // programs may change them at any time.
  const std::byte* at(std::uint64_t offset, std::size_t length, Bytes& buffer) const;
  // Returns `count` lines of `bytes` bytes each, the first at `first`, `pitch` bytes apart, and the number of lines
  // that follow them. The bytes are as for `at`.
  Lines lines(std::uint64_t first, std::uint64_t pitch, std::size_t count, std::size_t bytes, Bytes& buffer) const;
  // Converts elements to f32.
  void floats(std::uint64_t first, std::size_t count, float* out) const;
  // Returns how many elements are NaN or infinite, and sets `first` to the first of them.
  std::uint64_t count_nonfinite(std::uint64_t& first) const;
  // Whether an f32, bf16 or f8_e8m0 element is larger than kUsualScale, or not finite. False for other types, unread.
  bool any_unusual() const;

 private:
  const Blob& seekable() const;
  // False if all these elements are finite.
  bool may_be_nonfinite(std::uint64_t first, std::size_t count) const;

  Component component_;
  std::size_t width_;
  Kind kind_;
  const std::byte* view_ = nullptr;
  mutable Once copied_;
  mutable Blob copy_;  // copied to scratch when first read, if the component is not seekable (zstd, deflate)
};

}  // namespace tare::codec::packs
