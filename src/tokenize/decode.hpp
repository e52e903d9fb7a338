// How tokens become text.
#pragma once

#include <string>
#include <vector>

#include "tokenize/rules.hpp"

namespace tare::tokenize {

// The text of tokens, given by their own texts.
std::string joined_text(const std::vector<Decoder>& decoders, std::vector<std::string> tokens);
// What one token is in the middle of a text.
std::string piece_text(const std::vector<Decoder>& decoders, std::string token);

}  // namespace tare::tokenize
