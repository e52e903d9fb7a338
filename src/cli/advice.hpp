// How the command spells the remedies that the library knows.
#pragma once

#include <string>
#include <vector>

#include "tare/change.hpp"
#include "tare/error.hpp"

namespace tare::cli {

// "--clip MIN,MAX limits it, int8 holds it"; empty without remedies. `has_skip`: the verb itself has the option --skip.
std::string words_for(const std::vector<Advice>& remedies, bool has_skip = false);

// The sentence, and the words after it.
std::string advised(const std::string& sentence, const std::vector<Advice>& remedies, bool has_skip = false);

// The sentence of a change, with the words in it.
std::string text_of(const Change& change);

}  // namespace tare::cli
