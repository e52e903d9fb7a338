#include "cli/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tare::cli {
namespace {

struct Wording {
  Remedy remedy;
  std::string_view argument;  // what it must be; kAny: anything but nothing
  std::string_view words;     // {}: the argument
};

constexpr std::string_view kAny = "*";

// The first row that fits decides.
constexpr Wording kWords[] = {
    {Remedy::overwrite, "directory", "--force replaces its files"},
    {Remedy::overwrite, "device", "--force writes into it"},
    {Remedy::overwrite, "link", "--force creates that file"},
    {Remedy::overwrite, "", "--force replaces it"},
    {Remedy::skip, "", "`tare convert --skip` omits tensors"},
    {Remedy::skip, kAny, "`tare convert --skip '{}'` omits it"},
    {Remedy::match, "", "--match chooses among them"},
    {Remedy::cast, kAny, "--dtype {} casts tensors"},
    {Remedy::keep, "", "--keep GLOB keeps the tensor as it is"},
    {Remedy::use_method, "", "without --no-fallback another method is used"},
    {Remedy::use_method, kAny, "{} holds it"},
    {Remedy::clip, "", "--clip MIN,MAX limits it"},
    {Remedy::no_range, "", "without --range they can be quantized"},
    {Remedy::decode_first, kAny, "which --range does not encode anew; decode with --dtype {} first"},
    {Remedy::accept_overflow, "", "--overflow clamp or --overflow infinity allows it"},
    {Remedy::allow_expansion, "", "--max-expansion allows more"},
    {Remedy::allow_expansion, kAny, "--max-expansion {} allows it"},
    {Remedy::name_format, "", "name the format with --to"},
    {Remedy::keep_names, "", "--names keep keeps the input's names, but other programs may not load the file"},
    {Remedy::set, "", "--set KEY=TEXT fills them in"},
    {Remedy::set, kAny, "`tare convert --set '{}'` writes that key into a file"},
    {Remedy::attach, "", "--attach GLOB includes such files"},
    {Remedy::compress, "", "--zstd compresses"},
    {Remedy::shard, "smaller", "a smaller --shard puts fewer tensors into a file"},
    {Remedy::shard, "", "--shard splits the tensors over several files"},
    {Remedy::write_dialect, kAny, "--dialect {} needs less room"},
    {Remedy::list_findings, "", "`tare verify` lists them"},
    {Remedy::restore_leftover, kAny, "`tare convert {} --force` puts it here"},
};

// Those of one option that is given several times: "--drop config --drop vocabulary omits them".
std::string words_for_drops(const std::vector<Advice>& remedies) {
  std::string flags;
  std::string_view them = "them";
  for (const Advice& advice : remedies) {
    if (advice.remedy != Remedy::drop) continue;
    const bool one = advice.argument == "config" || advice.argument == "vocabulary" || advice.argument == "metadata";
    them = flags.empty() && one ? "it" : "them";
    flags += fmt::format("{}--drop {}", flags.empty() ? "" : " ", advice.argument);
  }
  if (flags.empty()) return {};
  const bool all = std::ranges::find(remedies, Remedy::weights_only, &Advice::remedy) != remedies.end();
  const bool config = std::ranges::find(remedies, Advice{Remedy::drop, "config"}) != remedies.end();
  return fmt::format("{} omits {}{}", flags, them,
                     !all     ? ""
                     : config ? ", and so does --weights-only"
                              : ", --weights-only omits the config too");
}

std::string words_of(const Advice& advice, bool has_skip) {
  if (has_skip && advice.remedy == Remedy::skip)
    return advice.argument.empty() ? "--skip omits tensors" : fmt::format("--skip '{}' omits it", advice.argument);
  for (const auto& [remedy, argument, words] : kWords)
    if (remedy == advice.remedy && (argument == advice.argument || (argument == kAny && !advice.argument.empty())))
      return fmt::format(fmt::runtime(words), advice.argument);
  return {};
}

}  // namespace

std::string words_for(const std::vector<Advice>& remedies, bool has_skip) {
  std::vector<std::string> all;
  if (std::string drops = words_for_drops(remedies); !drops.empty()) all.push_back(std::move(drops));
  for (const Advice& advice : remedies)
    if (std::string words = words_of(advice, has_skip); !words.empty()) all.push_back(std::move(words));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string advised(const std::string& sentence, const std::vector<Advice>& remedies, bool has_skip) {
  const std::string words = words_for(remedies, has_skip);
  return words.empty() ? sentence : fmt::format("{}; {}", sentence, words);
}

std::string text_of(const Change& change) { return to_text(change, words_for(change.remedies)); }

}  // namespace tare::cli
