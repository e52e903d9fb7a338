// Places in a template, and errors that name them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tare/error.hpp"

namespace tare::chat {

struct Place {
  std::uint32_t line = 1, column = 1;  // in characters
};

// "line 3, column 7: SENTENCE".
Error broken_syntax(Place place, std::string_view sentence);  // corrupt `chat.syntax`
Error not_known(Place place, std::string_view sentence);      // unsupported `chat.unknown`
Error bad_value(Place place, std::string_view sentence);      // corrupt `chat.value`
Error too_much(Place place, std::string_view sentence);       // limit `chat.limit`
Error raised(Place place, std::string_view sentence);         // usage `chat.raised`

// What a run may still cost, and where it is. Whatever a template can repeat is charged before it is done: each value that is
// made or visited, each byte that is read, and each byte that is written, while a text grows and not at its end.
class Meter {
 public:
  // At most this; see `allow`.
  Meter(std::uint64_t steps, std::uint64_t bytes)
      : most_steps_(steps),
        most_bytes_(bytes),
        steps_(std::min<std::uint64_t>(steps, 600'000)),
        bytes_(std::min<std::uint64_t>(bytes, std::uint64_t{32} << 20)) {}

  Place place = {};  // errors name it

  // A run may cost more the more it is given: for this many bytes of variables.
  void allow(std::uint64_t bytes) {
    bytes = std::min(bytes, most_bytes_);
    steps_ = std::min(steps_ + 12 * bytes, most_steps_);
    bytes_ = std::min(bytes_ + 64 * bytes, most_bytes_);
  }

  // The functions below throw limit `chat.limit` when nothing is left.
  void step(std::uint64_t count = 1) {
    if (count > steps_) no_steps();
    steps_ -= count;
  }
  // For memory that is kept until the end; also a step for each few bytes.
  void take(std::uint64_t bytes) {
    if (bytes > bytes_) no_bytes();
    bytes_ -= bytes;
    step(1 + bytes / 256);
  }
  // For work on a text of this length.
  void look(std::uint64_t bytes) { step(1 + bytes / 64); }
  std::uint64_t bytes_left() const { return bytes_; }

  // Counts how deep a recursion is.
  class Level {
   public:
    explicit Level(Meter& meter) : meter_(meter) {
      if (++meter_.depth_ > kDeepest) {
        --meter_.depth_;
        meter_.too_deep();
      }
    }
    ~Level() { --meter_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Meter& meter_;
  };

 private:
  static constexpr std::uint32_t kDeepest = 400;
  [[noreturn]] void no_steps() const;
  [[noreturn]] void no_bytes() const;
  [[noreturn]] void too_deep() const;

  std::uint64_t most_steps_, most_bytes_, steps_, bytes_;
  std::uint32_t depth_ = 0;
};

}  // namespace tare::chat
