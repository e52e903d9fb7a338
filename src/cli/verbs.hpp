// The table of verbs. Help, the man page, completions and the dispatcher loop over it: a new verb is one file, one
// declaration here and one entry in verbs.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace tare::cli {

// In the order in which help lists them. Hidden ones come last.
std::span<const Verb* const> verbs();
// Null when there is no such verb.
const Verb* find_verb(std::string_view name);
// The names of the verbs that are not hidden.
std::vector<std::string> verb_names();

extern const Verb kInfo, kLs, kShow, kCat, kExtract, kConvert, kQuantize, kAppend, kVerify, kHash, kDiff, kRun,
    kFormats, kDemo, kVersion, kHelp, kMan, kCompletions;

}  // namespace tare::cli
