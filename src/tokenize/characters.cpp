#include "tokenize/characters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/endian.hpp"
#include "tare/error.hpp"

namespace tare::tokenize {
namespace {

Error bad_table(std::string_view why) {
  return {ErrorKind::corrupt, "tokenizer.charsmap",
          fmt::format("the table that rewrites characters is damaged: {}", why)};
}

}  // namespace

CharacterTable::CharacterTable(std::string_view bytes) {
  if (bytes.empty()) return;
  constexpr std::size_t kUnit = sizeof(std::uint32_t);
  const auto* const data = reinterpret_cast<const std::byte*>(bytes.data());
  const std::size_t size = bytes.size() < kUnit ? SIZE_MAX : load_le<std::uint32_t>(data);
  if (size > bytes.size() - kUnit || size % kUnit != 0)
    throw bad_table(fmt::format("it states {} bytes of units and has {} in all", size, bytes.size()));
  for (std::size_t at = 0; at < size; at += kUnit) units_.push_back(load_le<std::uint32_t>(data + kUnit + at));
  texts_ = bytes.substr(kUnit + size);
}

std::uint32_t CharacterTable::unit(std::size_t at) const {
  if (at >= units_.size()) throw bad_table(fmt::format("it leads to unit {} of {}", at, units_.size()));
  return units_[at];
}

std::optional<CharacterTable::Found> CharacterTable::find(std::string_view text, bool longest,
                                                          TextBudget& budget) const {
  if (units_.empty()) return std::nullopt;
  constexpr std::uint32_t kEnd = 0x100, kFar = 0x200, kIsValue = 0x80000000, kLabel = kIsValue | 0xFF;
  const auto offset = [](std::uint32_t one) { return std::size_t{one >> 10} << ((one & kFar) >> 6); };
  std::optional<Found> found;
  std::size_t at = offset(unit(0));
  for (std::size_t i = 0; i < text.size(); ++i) {
    budget.charge(1);
    const auto byte = static_cast<unsigned char>(text[i]);
    at ^= byte;
    if (byte == 0 || at >= units_.size()) break;
    const std::uint32_t here = units_[at];
    if ((here & kLabel) != byte) break;
    at ^= offset(here);
    if ((here & kEnd) == 0) continue;
    const std::size_t begin = unit(at) & ~kIsValue;
    const std::size_t end = begin < texts_.size() ? texts_.find('\0', begin) : texts_.npos;
    budget.charge(1 + (std::min(end, texts_.size()) - std::min(begin, texts_.size())) / 16);
    if (end == texts_.npos) throw bad_table(fmt::format("no replacement ends after byte {}", begin));
    found = Found{i + 1, std::string_view(texts_).substr(begin, end - begin)};
    if (!longest) break;
  }
  return found;
}

}  // namespace tare::tokenize
