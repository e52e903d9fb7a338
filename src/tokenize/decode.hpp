// How tokens become text.
#pragma once

#include <string>
#include <vector>

#include "tokenize/rules.hpp"
#include "tokenize/text_budget.hpp"

namespace tare::tokenize {

// The text of tokens, given by their own texts. Both throw what TextBudget throws.
std::string joined_text(const std::vector<Decoder>& decoders, std::vector<std::string> tokens, TextBudget& budget);
// What one token is in the middle of a text.
std::string piece_text(const std::vector<Decoder>& decoders, std::string token, TextBudget& budget);

}  // namespace tare::tokenize
