// Turns the fuzzer's bytes into decisions: small numbers and pieces, taken from the beginning. After the end everything
// is 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tare/value.hpp"

namespace tare::fuzz {

class Script {
 public:
  explicit Script(std::span<const std::byte> bytes) : left_(bytes) {}

  bool at_end() const { return left_.empty(); }
  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const auto b = std::to_integer<std::uint8_t>(left_.front());
    left_ = left_.subspan(1);
    return b;
  }
  std::uint16_t word() {
    const unsigned low = byte();
    return static_cast<std::uint16_t>(low | unsigned{byte()} << 8);
  }
  // 0 .. count - 1.
  std::size_t below(std::size_t count) { return count < 2 ? 0 : (count <= 256 ? byte() : word()) % count; }
  bool coin() { return (byte() & 1) != 0; }
  template <typename Items>
  auto& one_of(const Items& items) {
    return *(items.begin() + static_cast<std::ptrdiff_t>(below(items.size())));
  }

  std::span<const std::byte> rest() const { return left_; }
  // `count` bytes: those that are left, repeated as necessary, without consuming them.
  Bytes filled(std::size_t count) const {
    Bytes out(count);
    if (!left_.empty())
      for (std::size_t i = 0; i < count; ++i) out[i] = left_[i % left_.size()];
    return out;
  }
  Bytes take(std::size_t count) {
    const auto part = left_.first(std::min(count, left_.size()));
    left_ = left_.subspan(part.size());
    return {part.begin(), part.end()};
  }

 private:
  std::span<const std::byte> left_;
};

}  // namespace tare::fuzz
