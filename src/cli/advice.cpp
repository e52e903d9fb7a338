#include "cli/advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/printable.hpp"
#include "cli/command.hpp"
#include "cli/text.hpp"

namespace tare::cli {
namespace {

struct Wording {
  Remedy remedy;
  std::string_view argument;   // the argument to match; kAny: any but the empty one
  std::string_view words;      // {}: the argument, for a shell
  std::string_view option;     // the option that they name
  std::string_view elsewhere;  // the words for a verb that does not have the option
};

constexpr std::string_view kAny = "ANY";

// The first matching row is used.
constexpr Wording kWords[] = {
    {Remedy::overwrite, "directory", "--force replaces its files", {}, {}},
    {Remedy::overwrite, "device", "--force writes into it", {}, {}},
    {Remedy::overwrite, "link", "--force creates that file", {}, {}},
    {Remedy::overwrite, "itself", "--force replaces the model by itself", {}, {}},
    {Remedy::overwrite, "", "--force replaces it", {}, {}},
    {Remedy::skip, "", "--skip omits tensors", "skip", "`tare convert --skip` omits tensors"},
    {Remedy::skip, "*", "--skip '*' omits them", "skip", "`tare convert --skip '*'` omits them"},
    {Remedy::skip, kAny, "--skip '{}' omits it", "skip", "`tare convert --skip '{}'` omits it"},
    {Remedy::match, "", "--match chooses among them", "match", "`tare convert --match` chooses among them"},
    {Remedy::cast, kAny, "--dtype {} casts tensors", "dtype", "`tare convert --dtype {}` casts tensors"},
    {Remedy::keep, "", "--keep GLOB keeps the tensor as it is", "keep",
     "`tare quantize --keep GLOB` keeps the tensor as it is"},
    {Remedy::use_method, "", "without --no-fallback another method is used", {}, {}},
    {Remedy::use_method, kAny, "--quant {} holds it", "quant", "{} holds it"},
    {Remedy::clip, "", "--clip MIN,MAX limits it", "clip", "`tare quantize --clip MIN,MAX` limits it"},
    {Remedy::no_range, "", "without --range they can be quantized", {}, {}},
    {Remedy::decode_first, kAny, "which --range does not encode anew; decode with --dtype {} first", "dtype",
     "which --range does not encode anew; decode with `tare convert --dtype {}` first"},
    {Remedy::accept_owners, "", "--any-owner takes it all the same", "any-owner",
     "`tare finish --any-owner` takes it all the same"},
    {Remedy::accept_overflow, "clamp", "--overflow clamp allows it", "overflow",
     "`tare convert --dtype TYPE --overflow clamp` allows it"},
    {Remedy::accept_overflow, "", "--overflow clamp or --overflow infinity allows it", "overflow",
     "`tare convert --dtype TYPE --overflow clamp`, or infinity, allows it"},
    {Remedy::allow_expansion, "", "--max-expansion allows more", "max-expansion",
     "`tare convert --max-expansion` allows more"},
    {Remedy::allow_expansion, kAny, "--max-expansion {} allows it", "max-expansion",
     "`tare convert --max-expansion {}` allows it"},
    {Remedy::name_format, "", "name the format with --to", "to", "name the format with `tare convert --to`"},
    {Remedy::keep_names, "", "--names keep keeps the input's names, but other programs may not load the file", "names",
     "`tare convert --names keep` keeps the input's names, but other programs may not load the file"},
    {Remedy::set, "", "--set KEY=TEXT fills them in", "set", "`tare convert --set KEY=TEXT` fills them in"},
    {Remedy::set, kAny, "`tare convert --set '{}'` writes that key into a file", {}, {}},
    {Remedy::attach, "tower", "--mmproj FILE writes it", "mmproj", "`tare convert --mmproj FILE` writes it"},
    {Remedy::attach, "", "--attach GLOB includes such files", "attach",
     "`tare convert --attach GLOB` includes such files"},
    {Remedy::compress, "", "--zstd compresses", "zstd", "`tare convert --zstd` compresses"},
    {Remedy::shard, "smaller", "a smaller --shard puts fewer tensors into a file", {}, {}},
    {Remedy::shard, "", "--shard splits the tensors over several files", "shard",
     "`tare convert --shard` splits the tensors over several files"},
    {Remedy::write_dialect, kAny, "--dialect {} needs less room", "dialect",
     "`tare convert --dialect {}` needs less room"},
    {Remedy::list_findings, "", "`tare verify` lists them", {}, {}},
    {Remedy::restore_leftover, kAny, "`tare convert {} --force` puts it here", {}, {}},
};

// Without a verb, options are named as `convert` has them, except --skip: verbs that only read have no such option, and
// meet the errors for which it is advised.
bool has(const Verb* verb, std::string_view option) {
  if (verb == nullptr) return option != "skip";
  return std::ranges::find(verb->options, option, &Option::name) != verb->options.end();
}

// Joins remedies of one option that is given several times: "--drop config --drop vocabulary omits them".
std::string words_for_drops(const std::vector<Advice>& remedies, const Verb* verb) {
  std::string flags;
  std::string_view them = "them";
  for (const Advice& advice : remedies) {
    if (advice.remedy != Remedy::drop) continue;
    const bool one = advice.argument == "config" || advice.argument == "vocabulary" || advice.argument == "metadata";
    them = flags.empty() && one ? "it" : "them";
    flags += fmt::format("{}--drop {}", flags.empty() ? "" : " ", advice.argument);
  }
  if (flags.empty()) return {};
  if (!has(verb, "drop")) return fmt::format("`tare convert {}` omits {}", flags, them);
  const bool all = std::ranges::find(remedies, Remedy::weights_only, &Advice::remedy) != remedies.end();
  const bool config = std::ranges::find(remedies, Advice{Remedy::drop, "config"}) != remedies.end();
  return fmt::format("{} omits {}{}", flags, them,
                     !all     ? ""
                     : config ? ", and so does --weights-only"
                              : ", --weights-only omits the config too");
}

// "FROM TO", where FROM is below TO: the paths may contain blanks.
std::string two_shell_words(const std::string& paths) {
  for (std::size_t blank = paths.find(' '); blank != paths.npos; blank = paths.find(' ', blank + 1))
    if (paths.starts_with(std::string_view(paths).substr(blank + 1)))
      return fmt::format("{} {}", shell_word(paths.substr(0, blank)), shell_word(paths.substr(blank + 1)));
  return shell_word(paths);
}

std::string words_of(const Advice& advice, const Verb* verb) {
  // What a terminal would show in another way cannot be copied from it.
  const std::string given = printable(advice.argument) == advice.argument ? advice.argument : std::string();
  for (const auto& [remedy, argument, words, option, elsewhere] : kWords) {
    if (remedy != advice.remedy || (argument == kAny ? given.empty() : argument != given)) continue;
    return fmt::format(fmt::runtime(option.empty() || has(verb, option) ? words : elsewhere),
                       remedy == Remedy::restore_leftover ? two_shell_words(given) : inside_shell_quotes(given));
  }
  return {};
}

}  // namespace

std::string words_for(const std::vector<Advice>& remedies, const Verb* verb) {
  std::vector<std::string> all;
  if (std::string drops = words_for_drops(remedies, verb); !drops.empty()) all.push_back(std::move(drops));
  for (const Advice& advice : remedies)
    if (std::string words = words_of(advice, verb); !words.empty()) all.push_back(std::move(words));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string advised(const std::string& sentence, const std::vector<Advice>& remedies, const Verb* verb) {
  const std::string words = words_for(remedies, verb);
  return words.empty() ? sentence : fmt::format("{}; {}", sentence, words);
}

std::string text_of(const Change& change, const Verb* verb) {
  return to_text(change, words_for(change.remedies, verb));
}

}  // namespace tare::cli
