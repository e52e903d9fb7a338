// How the command spells the remedies that the library knows.
#pragma once

#include <string>
#include <vector>

#include "tare/change.hpp"
#include "tare/error.hpp"

namespace tare::cli {

// "--clip cuts it, --keep leaves the tensor as it is"; empty without remedies.
std::string words_for(const std::vector<Advice>& remedies);

// The sentence, and the words after it.
std::string advised(const std::string& sentence, const std::vector<Advice>& remedies);

// The sentence of a change, with the words in it.
std::string text_of(const Change& change);

}  // namespace tare::cli
