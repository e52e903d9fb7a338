// Help texts, made from the table of verbs.
#pragma once

#include <string>

#include "cli/session.hpp"
#include "cli/verbs.hpp"

namespace tare::cli {

inline constexpr std::string_view kTagline = "open, inspect, check and convert model-weight files";

struct HelpLook {
  std::size_t columns = 80;
  bool color = false;
};
HelpLook help_look(const Session& session);

// Returns the list of verbs, one line each.
std::string general_help(const HelpLook& look);
// Every verb with its summary; general_help() has the most used ones, and fits a terminal of 24 lines.
std::string all_verbs(const HelpLook& look);
// Returns the full help of one verb.
std::string verb_help(const Verb& verb, const HelpLook& look);
// Returns the usage, the examples and the options, without those that mean the same for most verbs; of a verb with
// sections, only the first one.
std::string short_help(const Verb& verb, const HelpLook& look);

}  // namespace tare::cli
