// The arrays that a packed tensor is made of, entered anywhere, and what their elements are as floats.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/once.hpp"
#include "codecs/element_kinds.hpp"
#include "codecs/packs/nibbles.hpp"
#include "tare/codec.hpp"

namespace tare::codec::packs {

// No program makes scales larger than this, and three of them with any code are still a number that f32 holds.
inline constexpr float kUsualScale = 0x1p32f;

// Immutable; used by many threads.
class Array {
 public:
  explicit Array(const Component& component);

  const Component& component() const { return component_; }
  std::uint64_t elements() const { return component_.blob.size() / width_; }
  std::size_t width() const { return width_; }
  // `length` bytes from `offset` on: where they are, if they can be seen, else copied into `buffer`. Others may write to
  // them at any moment.
  const std::byte* at(std::uint64_t offset, std::size_t length, Bytes& buffer) const;
  // `bytes` bytes from `first` on and from every `pitch` bytes behind, `count` times, of the lines that the array has to its
  // end. As for `at`.
  Lines lines(std::uint64_t first, std::uint64_t pitch, std::size_t count, std::size_t bytes, Bytes& buffer) const;
  // Elements as f32.
  void floats(std::uint64_t first, std::size_t count, float* out) const;
  // How many of the elements are NaN or infinite, and the first of them.
  std::uint64_t count_nonfinite(std::uint64_t& first) const;
  // Whether some element is larger than kUsualScale, or not finite. Of types that cannot have such, nothing is read.
  bool any_unusual() const;

 private:
  const Blob& seekable() const;
  // False: these elements are all finite.
  bool may_be_nonfinite(std::uint64_t first, std::size_t count) const;

  Component component_;
  std::size_t width_;
  Kind kind_;
  const std::byte* view_ = nullptr;
  mutable Once copied_;
  mutable Blob copy_;  // of bytes that cannot be entered anywhere (zstd, deflate), once they were asked for
};

}  // namespace tare::codec::packs
