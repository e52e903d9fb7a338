#include "cli/verbs.hpp"

#include <algorithm>

namespace tare::cli {

std::span<const Verb* const> verbs() {
  static constexpr const Verb* kTable[] = {&kInfo,     &kLs,     &kShow,    &kCat,  &kExtract, &kConvert,
                                           &kQuantize, &kAppend, &kVerify,  &kHash, &kDiff,    &kRun,
                                           &kFormats,  &kDemo,   &kVersion, &kHelp, &kMan,     &kCompletions};
  return kTable;
}

const Verb* find_verb(std::string_view name) {
  const auto found = std::find_if(verbs().begin(), verbs().end(), [&](const Verb* verb) { return verb->name == name; });
  return found == verbs().end() ? nullptr : *found;
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb* verb : verbs())
    if (!verb->hidden) names.emplace_back(verb->name);
  return names;
}

}  // namespace tare::cli
