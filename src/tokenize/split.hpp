// Splits a text into words.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "tokenize/rules.hpp"

namespace tare::tokenize {

// Calls visit(word) for each word of a part of a text, in order; no word is empty. `first`: the part is the beginning of
// the text. Throws what TextBudget throws.
void split_words(const std::vector<Splitter>& splitters, std::string_view text, bool first, TextBudget& budget,
                 const std::function<void(std::string_view)>& visit);

}  // namespace tare::tokenize
