#include "tokenize/character_set.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/budget.hpp"
#include "tokenize/case_folding.hpp"

namespace tare::tokenize {
namespace {

constexpr Kinds kAllKinds = ~Kinds{0};
constexpr std::uint64_t kStepsToFinish = 32;  // for the answers for ASCII

}  // namespace

template <typename Operation>
CharacterSet::Stretches CharacterSet::combined(const Stretches& one, const Stretches& other,
                                               const Operation& operation) {
  charge_steps(one.size() + other.size());
  Stretches made;
  for (std::size_t i = 0, j = 0; i < one.size() || j < other.size();) {
    const std::uint32_t first =
        std::min(i < one.size() ? one[i].first : UINT32_MAX, j < other.size() ? other[j].first : UINT32_MAX);
    if (i < one.size() && one[i].first == first) ++i;
    if (j < other.size() && other[j].first == first) ++j;
    const Kinds kinds = operation(one[i - 1].kinds, other[j - 1].kinds);  // both begin at 0
    if (made.empty() || made.back().kinds != kinds) made.push_back({first, kinds});
  }
  return made;
}

CharacterSet::CharacterSet(std::vector<Range> ranges) : CharacterSet() {
  charge_steps(ranges.size());
  std::ranges::sort(ranges);
  for (std::size_t i = 0; i < ranges.size();) {
    auto [first, last] = ranges[i];
    for (++i; i < ranges.size() && ranges[i].first <= last + 1; ++i) last = std::max(last, ranges[i].second);
    if (first == 0)
      stretches_.front().kinds = kAllKinds;
    else
      stretches_.push_back({first, kAllKinds});
    if (last < kLast) stretches_.push_back({last + 1, 0});
  }
}

CharacterSet CharacterSet::united(std::vector<CharacterSet> sets) {
  if (sets.empty()) return CharacterSet();
  // In pairs, so that each stretch is copied as often as the logarithm of their number.
  for (; sets.size() > 1; sets.resize((sets.size() + 1) / 2))
    for (std::size_t i = 0; i < sets.size(); i += 2) {
      if (i + 1 < sets.size())
        sets[i].stretches_ = combined(sets[i].stretches_, sets[i + 1].stretches_, std::bit_or<Kinds>());
      if (i > 0) sets[i / 2] = std::move(sets[i]);
    }
  return std::move(sets.front());
}

void CharacterSet::intersect(const CharacterSet& other) {
  stretches_ = combined(stretches_, other.stretches_, std::bit_and<Kinds>());
}

void CharacterSet::negate() {
  for (Stretch& one : stretches_) one.kinds = ~one.kinds;
}

bool CharacterSet::is_ascii() const { return stretches_.back().first <= ascii_.size() && stretches_.back().kinds == 0; }

// What the letters of ASCII equal, without the table of all characters: most sets have no others.
std::vector<CharacterSet::Range> CharacterSet::equal_ascii() const {
  constexpr std::uint32_t kLongS = 0x17F, kKelvin = 0x212A;
  std::vector<Range> more;
  for (std::uint32_t small = 'a'; small <= 'z'; ++small) {
    const std::uint32_t capital = small - 'a' + 'A';
    if (!search(small) && !search(capital)) continue;
    more.insert(more.end(), {{small, small}, {capital, capital}});
    if (small == 's') more.emplace_back(kLongS, kLongS);
    if (small == 'k') more.emplace_back(kKelvin, kKelvin);
  }
  return more;
}

// The characters of the set, if they are few.
std::optional<std::vector<std::uint32_t>> CharacterSet::few() const {
  constexpr std::size_t kMost = 64;
  charge_steps(kMost);
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < stretches_.size() && i <= 2 * kMost; ++i) {
    const auto& [first, kinds] = stretches_[i];
    if (kinds == 0) continue;
    if (kinds != kAllKinds || i + 1 == stretches_.size()) return std::nullopt;
    const std::uint32_t end = stretches_[i + 1].first;
    if (end - first > kMost - found.size()) return std::nullopt;
    for (std::uint32_t c = first; c < end; ++c) found.push_back(c);
  }
  return stretches_.size() <= 2 * kMost + 1 ? std::optional(std::move(found)) : std::nullopt;
}

std::vector<CharacterSet::Range> CharacterSet::equal_characters() const {
  std::vector<Range> more;
  const CaseFolding& folding = CaseFolding::table();
  if (const auto characters = few()) {
    for (const std::uint32_t c : *characters)
      for (const std::uint32_t equal : folding.equal_to(c)) more.emplace_back(equal, equal);
    return more;
  }
  charge_steps(2 * folding.rows().size());
  std::vector<bool> wanted(folding.rows().size());
  for (const auto& [character, group] : folding.rows())
    if (!wanted[group] && search(character)) wanted[group] = true;
  for (const auto& [character, group] : folding.rows())
    if (wanted[group]) more.emplace_back(character, character);
  return more;
}

void CharacterSet::ignore_case() {
  charge_steps(kStepsToFinish);
  const CharacterSet more(is_ascii() ? equal_ascii() : equal_characters());
  stretches_ = combined(stretches_, more.stretches_, std::bit_or<Kinds>());
}

bool CharacterSet::equals_several() const {
  if (is_ascii()) return false;
  const CaseFolding& folding = CaseFolding::table();
  const auto equals = [&](std::uint32_t character) { return folding.equals_several(character); };
  if (const auto characters = few()) return std::ranges::any_of(*characters, equals);
  charge_steps(folding.several().size());
  return std::ranges::any_of(folding.several(), [&](std::uint32_t character) { return search(character); });
}

void CharacterSet::finish() {
  charge_steps(kStepsToFinish);
  std::size_t at = 0;
  for (std::uint32_t c = 0; c < ascii_.size(); ++c) {
    while (at + 1 < stretches_.size() && stretches_[at + 1].first <= c) ++at;
    ascii_[c] = (stretches_[at].kinds & kind_of(c)) != 0;
  }
  stretches_.shrink_to_fit();
  price_ = static_cast<std::uint32_t>(2 + std::bit_width(stretches_.size()) / 4);
}

bool CharacterSet::search(std::uint32_t character) const {
  const auto behind = std::ranges::upper_bound(stretches_, character, {}, &Stretch::first);
  const Kinds kinds = std::prev(behind)->kinds;
  return kinds == kAllKinds || (kinds != 0 && (kinds & kind_of(character)) != 0);
}

}  // namespace tare::tokenize
