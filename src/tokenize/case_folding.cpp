#include "tokenize/case_folding.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/forever.hpp"

namespace tare::tokenize {
namespace {

constexpr std::uint32_t kEndOfCased = 0x20000;  // no script beyond has cases (a test looks at all)

std::u32string folded(std::uint32_t character) {
  constexpr std::size_t kMost = 8;
  utf8proc_int32_t made[kMost] = {};
  int last_class = 0;
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(character), made, kMost, UTF8PROC_CASEFOLD, &last_class);
  std::u32string text;
  for (utf8proc_ssize_t i = 0; i < count; ++i) text += static_cast<char32_t>(made[i]);
  return text;
}

}  // namespace

const CaseFolding& CaseFolding::table() {
  static Forever<CaseFolding> made;
  return *made;
}

CaseFolding::CaseFolding() {
  constexpr std::uint16_t kNoFolding = 0xFFFF;
  std::map<std::u32string, std::vector<std::uint32_t>> groups;
  for (std::uint32_t c = 0; c < kEndOfCased; ++c) {
    if (utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->casefold_seqindex == kNoFolding) continue;
    std::u32string text = folded(c);
    std::vector<std::uint32_t>& group = groups[text];
    if (group.empty() && text.size() == 1) group.push_back(text.front());
    group.push_back(c);
    if (text.size() > 1) several_.push_back(c);
  }
  for (const auto& [text, group] : groups) {
    if (text.size() > 1) rows_like_one_.push_back(text);
    if (group.size() == 1) continue;
    const auto number = static_cast<std::uint32_t>(first_members_.size());
    first_members_.push_back(static_cast<std::uint32_t>(members_.size()));
    for (const std::uint32_t c : group) {
      members_.push_back(c);
      rows_.emplace_back(c, number);
    }
  }
  first_members_.push_back(static_cast<std::uint32_t>(members_.size()));
  std::ranges::sort(rows_);
}

std::span<const std::uint32_t> CaseFolding::group(std::uint32_t number) const {
  return std::span(members_).subspan(first_members_[number], first_members_[number + 1] - first_members_[number]);
}

std::span<const std::uint32_t> CaseFolding::equal_to(std::uint32_t character) const {
  const auto found = std::ranges::lower_bound(rows_, character, {}, &Row::first);
  if (found == rows_.end() || found->first != character) return {};
  return group(found->second);
}

bool CaseFolding::equals_several(std::uint32_t character) const {
  return std::ranges::binary_search(several_, character);
}

bool CaseFolding::ends_like_one(std::u32string_view row) {
  constexpr std::size_t kLongest = 3;
  row = row.substr(row.size() - std::min(row.size(), kLongest));
  if (std::ranges::all_of(row, [](char32_t c) { return c < 0x80; })) {
    // For ASCII the answer is known without the table, which most patterns then never need. A longer row such as "ffi" ends
    // with one of these pairs.
    constexpr std::u32string_view kLikeOne[] = {U"ff", U"fi", U"fl", U"ss", U"st"};
    std::u32string text(row);
    for (char32_t& c : text)
      if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
    return std::ranges::any_of(kLikeOne, [&](std::u32string_view one) { return text.ends_with(one); });
  }
  std::u32string text;
  for (const char32_t c : row) text += folded(c);
  return std::ranges::any_of(table().rows_like_one_, [&](const std::u32string& one) { return text.ends_with(one); });
}

}  // namespace tare::tokenize
