// The command's wording for the remedies of the library.
#pragma once

#include <string>
#include <vector>

#include "tare/change.hpp"
#include "tare/error.hpp"

namespace tare::cli {

struct Verb;

// Returns for example "--clip MIN,MAX limits it, int8 holds it"; empty without remedies. For an option that `verb` does
// not have, the text names the verb that has it.
std::string words_for(const std::vector<Advice>& remedies, const Verb* verb = nullptr);

// Returns the sentence, followed by the advice.
std::string advised(const std::string& sentence, const std::vector<Advice>& remedies, const Verb* verb = nullptr);

// Returns the sentence of a change, with the advice in it.
std::string text_of(const Change& change, const Verb* verb = nullptr);

}  // namespace tare::cli
