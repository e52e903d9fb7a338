// Which characters are equal if case does not count, by Unicode's full case folding, as Oniguruma has it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tare {
template <typename T>
class Forever;
}

namespace tare::tokenize {

class CaseFolding {
 public:
  // The table of all characters. The first call makes it, which takes a few milliseconds.
  static const CaseFolding& table();

  // A character, and the group of those that equal it: only characters that have others, by value.
  using Row = std::pair<std::uint32_t, std::uint32_t>;
  std::span<const Row> rows() const { return rows_; }
  std::span<const std::uint32_t> group(std::uint32_t number) const;
  // The characters that equal this one, itself included; empty if there is no other.
  std::span<const std::uint32_t> equal_to(std::uint32_t character) const;
  // Characters that equal several others in a row, as U+00DF equals "ss", by value.
  std::span<const std::uint32_t> several() const { return several_; }
  bool equals_several(std::uint32_t character) const;
  // Whether the row ends with several characters that one character equals, as U+FB01 equals "fi".
  static bool ends_like_one(std::u32string_view row);

 private:
  friend class Forever<CaseFolding>;
  CaseFolding();

  std::vector<Row> rows_;
  std::vector<std::uint32_t> members_, first_members_;  // group i: from first_members_[i] to first_members_[i + 1]
  std::vector<std::uint32_t> several_;
  std::vector<std::u32string> rows_like_one_;
};

}  // namespace tare::tokenize
