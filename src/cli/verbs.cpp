#include "cli/verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/nearest.hpp"

namespace tare::cli {

std::span<const Verb* const> verbs() {
  static constexpr const Verb* kTable[] = {
      &info_verb::kVerb,    &ls_verb::kVerb,       &show_verb::kVerb,       &cat_verb::kVerb,
      &extract_verb::kVerb, &meta_verb::kVerb,     &vocab_verb::kVerb,      &tokens_verb::kVerb,
      &convert_verb::kVerb, &quantize_verb::kVerb, &append_verb::kVerb,     &plan_verb::kVerb,
      &task_verb::kVerb,    &finish_verb::kVerb,   &verify_verb::kVerb,     &hash_verb::kVerb,
      &diff_verb::kVerb,    &compare_verb::kVerb,  &perplexity_verb::kVerb, &calibrate_verb::kVerb,
      &load_verb::kVerb,    &view_verb::kVerb,     &report_verb::kVerb,     &run_verb::kVerb,
      &formats_verb::kVerb, &families_verb::kVerb, &cache_verb::kVerb,      &demo_verb::kVerb,
      &version_verb::kVerb, &help_verb::kVerb,     &man_verb::kVerb,        &completions_verb::kVerb};
  return kTable;
}

std::span<const VerbGroup> verb_groups() {
  static constexpr const Verb* kLook[] = {&info_verb::kVerb, &ls_verb::kVerb, &show_verb::kVerb, &view_verb::kVerb};
  static constexpr const Verb* kCheck[] = {&verify_verb::kVerb, &diff_verb::kVerb, &compare_verb::kVerb,
                                           &hash_verb::kVerb};
  static constexpr const Verb* kWrite[] = {&convert_verb::kVerb, &quantize_verb::kVerb, &meta_verb::kVerb,
                                           &extract_verb::kVerb};
  static constexpr VerbGroup kGroups[] = {{"Look", kLook}, {"Check and compare", kCheck}, {"Write", kWrite}};
  return kGroups;
}

namespace {

constexpr Alias kAliases[] = {
    {"inspect", "info"}, {"list", "ls"}, {"cp", "convert"}, {"check", "verify"}, {"sum", "hash"}};

// Words for jobs that an option of another verb does.
constexpr std::pair<std::string_view, std::string_view> kJobs[] = {
    {"merge", "tare convert BASE OUT --merge ADAPTER"},
    {"cast", "tare convert IN OUT --dtype TYPE"},
    {"split", "tare convert IN OUT --shard SIZE"},
    {"shard", "tare convert IN OUT --shard SIZE"},
};

}  // namespace

std::span<const Alias> aliases() { return kAliases; }

const Verb* find_verb(std::string_view name) {
  if (const auto* alias = std::ranges::find(kAliases, name, &Alias::word); alias != std::end(kAliases))
    name = alias->verb;
  const auto found = std::find_if(verbs().begin(), verbs().end(), [&](const Verb* verb) { return verb->name == name; });
  return found == verbs().end() ? nullptr : *found;
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb* verb : verbs())
    if (!verb->hidden) names.emplace_back(verb->name);
  return names;
}

std::string verb_hint(const std::string& word) {
  if (const auto* job = std::ranges::find(kJobs, word, &std::pair<std::string_view, std::string_view>::first);
      job != std::end(kJobs))
    return fmt::format("; did you mean {}?", job->second);
  std::vector<std::string> words = verb_names();
  for (const Alias& alias : kAliases) words.emplace_back(alias.word);
  return did_you_mean(word, words, 1);
}

}  // namespace tare::cli
