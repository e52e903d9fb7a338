// Fuzzy search in names: the letters of what is typed, in order; nearer together and at the beginning of parts is better.
#pragma once

#include <optional>
#include <string_view>

namespace tare::view {

// How well `text` fits what was typed, larger is better; nothing when it does not. Words, separated by spaces, must all fit,
// in any order. Upper and lower case are alike (ASCII). Linear in the length of the text for each word.
std::optional<int> fuzzy_score(std::string_view typed, std::string_view text);

}  // namespace tare::view
