// Fuzzy search in names: the typed letters must appear in order; matches that are closer together or start a part score
// higher.
#pragma once

#include <optional>
#include <string_view>

namespace tare::view {

// The score of `text` for what was typed, larger is better; nullopt if it does not match. All words, separated by
// spaces, must match, in any order. Ignores case (ASCII). Linear in the length of `text`, per word.
std::optional<int> fuzzy_score(std::string_view typed, std::string_view text);

}  // namespace tare::view
