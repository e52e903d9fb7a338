// What it may cost to turn a text into tokens, or tokens into a text.
//
// The rules of a tokenizer come from a file, and a few bytes of rules can ask for a lot of work: pieces that begin alike,
// steps that make a text longer, replacements as long as the file. Therefore every step charges its work here, in units of
// about 10 nanoseconds: an instruction of a pattern, a lookup, a few bytes that are copied or compared. What may be spent
// grows with the text that a user gives, and only slowly with the file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tare::tokenize {

class TextBudget {
 public:
  // For a text of this many bytes. No tokenizer of a known model needs a fifth of it.
  static TextBudget of_text(std::size_t bytes) { return {bytes, kPerTextByte * bytes, kMadePerByte * bytes}; }
  // For what a tokenizer's file wants to find in texts: so many added tokens of this many bytes in all.
  static TextBudget of_added(std::size_t count, std::size_t bytes) {
    constexpr std::size_t kLikeBytes = 8;  // what a token counts, in bytes
    return {bytes, kPerFileByte * (bytes + kLikeBytes * count), kMadePerByte * bytes};
  }
  // For tokens that become text: as many as the user asks for, of as many bytes as the file gives them.
  static TextBudget of_tokens(std::size_t count, std::size_t bytes) {
    return {bytes, kPerTextByte * count + kPerFileByte * bytes, kMadePerByte * count + 4 * bytes};
  }

  // Throws limit `tokenizer.steps`.
  void charge(std::uint64_t steps) {
    if (steps > steps_) overspent_steps();
    steps_ -= steps;
  }
  std::uint64_t steps_left() const { return steps_; }
  // For a text that a step makes. Throws limit `tokenizer.text` if it is too long.
  void check_length(std::size_t bytes) const {
    if (bytes > longest_) too_long();
  }
  // For bytes that are added to one of several texts. Throws the same if all of them together are too many.
  void grow(std::size_t bytes) {
    if (bytes > growth_) too_long();
    growth_ -= bytes;
  }
  // How many places a pattern may remember to go back to: each takes a few words of memory.
  std::size_t most_places() const { return (std::size_t{1} << 18) + bytes_; }

 private:
  static constexpr std::uint64_t kPerTextByte = 512, kPerFileByte = 32;
  static constexpr std::size_t kMadePerByte = 64;  // a character becomes at most 18 others, a blank three bytes

  TextBudget(std::size_t bytes, std::uint64_t steps, std::size_t made)
      : bytes_(bytes),
        steps_((std::uint64_t{1} << 20) + steps),
        longest_((std::size_t{1} << 20) + made),
        growth_(longest_) {}
  [[noreturn]] void overspent_steps() const;
  [[noreturn]] void too_long() const;

  std::size_t bytes_;
  std::uint64_t steps_;
  std::size_t longest_, growth_;
};

}  // namespace tare::tokenize
