// What it may cost to turn a text into tokens, or tokens into a text.
//
// The rules of a tokenizer come from a file, and a few bytes of rules can ask for a lot of work: pieces that begin alike,
// steps that make a text longer, replacements as long as the file. Therefore every step charges its work here: about one
// for each byte that is copied or compared, and one for each instruction of a pattern. What may be spent grows with the
// text that a user gives, and only slowly with the file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tare::tokenize {

class TextBudget {
 public:
  // For a text of this many bytes. No tokenizer of a known model needs a tenth of it.
  static TextBudget of_text(std::size_t bytes) { return TextBudget(bytes, 2048); }
  // For the texts that a tokenizer's file has itself, this many bytes in all.
  static TextBudget of_file(std::size_t bytes) { return TextBudget(bytes, 32); }

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
  TextBudget(std::size_t bytes, std::uint64_t steps_per_byte)
      : bytes_(bytes),
        steps_((std::uint64_t{1} << 20) + steps_per_byte * bytes),
        longest_((std::size_t{1} << 20) + 64 * bytes),
        growth_(longest_) {}
  [[noreturn]] void overspent_steps() const;
  [[noreturn]] void too_long() const;

  std::size_t bytes_;
  std::uint64_t steps_;
  std::size_t longest_, growth_;  // a character becomes at most 18 others, a blank three bytes
};

}  // namespace tare::tokenize
