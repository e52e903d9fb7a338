// How the command spells the remedies that the library knows.
#pragma once

#include <string>
#include <vector>

#include "tare/change.hpp"
#include "tare/error.hpp"

namespace tare::cli {

struct Verb;

// "--clip MIN,MAX limits it, int8 holds it"; empty without remedies. Options that `verb` does not have are named with the
// verb that has them.
std::string words_for(const std::vector<Advice>& remedies, const Verb* verb = nullptr);

// The sentence, and the words after it.
std::string advised(const std::string& sentence, const std::vector<Advice>& remedies, const Verb* verb = nullptr);

// The sentence of a change, with the words in it.
std::string text_of(const Change& change, const Verb* verb = nullptr);

}  // namespace tare::cli
