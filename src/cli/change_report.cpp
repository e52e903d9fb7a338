#include "cli/change_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "cli/model_text.hpp"
#include "cli/text.hpp"

namespace tare::cli {
namespace {

// A sentence by how it begins, what is in the middle of it and how it ends. Anchored at both ends where a file's own words
// are in it: none of those may turn a loss into a detail.
struct Sentence {
  Weight weight;
  std::string_view begin, middle, end;

  bool is(std::string_view text) const {
    return text.size() >= begin.size() + end.size() && text.starts_with(begin) && text.ends_with(end) &&
           text.find(middle) != text.npos;
  }
};

// The first that fits decides.
constexpr Sentence kSentences[] = {
    {Weight::warning, "tokenizer.json: what ", " does to a text ", ", which may change what a text becomes"},
    {Weight::detail, "metadata: ", "", ", it is about the source file"},
    {Weight::detail, "metadata: ", "", ", it is computed from the tensors"},
    {Weight::detail, "metadata: ", "", ", from the model's files"},
    {Weight::detail, "metadata: ", " left out, the config says it as ", ""},
    {Weight::detail, "metadata: ", " left out, it is the default ", ""},
    {Weight::detail, "index: total_parameters ", "", ""},
    {Weight::detail, "config: vocab_size = ", "", ", counted"},
    {Weight::detail, "config.json: its dtype is ", "", ""},
    {Weight::detail, "vocabulary: the order of ", "", " merges kept as scores"},
    {Weight::detail, "", " kept as ", ", not as a file"},
    {Weight::detail, "", " kept as ", ", not as files"},
    {Weight::detail, "empty, 0 or -1 in the file, ", "", ""},
    {Weight::detail, "unknown, 0 or -1 in the file, ", "", ""},
    {Weight::detail, "", "", ", too, where programs look for it"},
    {Weight::lost, "", " left out, ", " has no place for it"},
    {Weight::lost, "", " left out, ", " has no place for them"},
    {Weight::lost, "", "", " left out"},
    {Weight::changed, "", "", " by default"},
    {Weight::changed, "", "", " made, not copied"},
    {Weight::changed, "config: tie_word_embeddings = ", "", ""},
    {Weight::lost, "metadata dropped: ", "", ""},
    {Weight::lost, "config dropped (", "", ""},
    {Weight::lost, "vocabulary dropped (", "", ""},
    {Weight::lost, "attachments dropped: ", "", ""},
    {Weight::changed, "the weights are called ", "", ""},
    {Weight::changed, "dropout rate: ", "", ""},
};

// What was done to tensors: "cast from bf16 to f16 (lossy): a, b, c, d, and 17 more" of "21 tensors cast from ..."; empty
// when the sentence is about something else.
std::string_view done_to_tensors(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of("0123456789,"), text.size()));
  for (const std::string_view thing : {" tensor ", " tensors "})
    if (text.starts_with(thing)) return text.substr(thing.size());
  return {};
}

Weight weight_of_tensors(std::string_view what) {
  if (what.starts_with("with values beyond ")) return Weight::warning;
  return what.starts_with("kept") || what.starts_with("without") ? Weight::note : Weight::changed;
}

// The keys of a file that are lost are known by name, not only in words: the harmful ones are all in the sentence, of the
// others the first.
std::optional<Weight> weight_of_keys(std::string_view text, const std::vector<LostKeys>& lost) {
  for (const LostKeys& keys : lost) {
    std::vector<std::string> harmful;
    for (const std::string& key : keys.harmful) harmful.push_back(escape_name(key));
    if (!harmful.empty() && text.starts_with(fmt::format("{}: {} left out, ", keys.file, fmt::join(harmful, ", "))))
      return Weight::warning;
    if (keys.harmless.empty() || !text.ends_with(" left out")) continue;
    const std::string begin = fmt::format("{}: {}", keys.file, escape_name(keys.harmless.front()));
    const std::string_view rest = text.starts_with(begin) ? text.substr(begin.size()) : std::string_view();
    if (rest.starts_with(", ") || rest.starts_with(" and ") || rest == " left out") return Weight::detail;
  }
  return std::nullopt;
}

Weight weight_of(std::string_view text, const std::vector<LostKeys>& lost) {
  if (const auto known = weight_of_keys(text, lost)) return *known;
  if (const std::string_view what = done_to_tensors(text); !what.empty()) return weight_of_tensors(what);
  for (const Sentence& sentence : kSentences)
    if (sentence.is(text)) return sentence.weight;
  return Weight::note;
}

// What a line has room for beside its label.
constexpr std::size_t kBrief = 68;

// Without the names of tensors where there are many, and without what "lost" says already.
std::string brief_of(std::string_view text, Weight weight) {
  if (weight == Weight::changed && !done_to_tensors(text).empty() && display_width(text) > kBrief)
    return std::string(text.substr(0, text.rfind(": ")));
  const bool says_why = text.ends_with(" has no place for it") || text.ends_with(" has no place for them");
  const bool trims = weight == Weight::lost && (says_why || text.ends_with(" left out"));
  return std::string(text.substr(0, trims ? text.rfind(" left out") : text.npos));
}

struct Label {
  std::string_view word;
  Style style;
};

Label label_of(Weight weight) {
  switch (weight) {
    case Weight::warning: return {"warning", Style::red};
    case Weight::lost: return {"lost", Style::yellow};
    case Weight::changed: return {"changed", Style::cyan};
    case Weight::note: return {"note", Style::bold};
    case Weight::detail: return {"detail", Style::dim};
  }
  return {"", Style::plain};
}

}  // namespace

std::vector<Change> weigh(const std::vector<std::string>& changes, const std::vector<LostKeys>& lost) {
  std::vector<Change> weighed;
  weighed.reserve(changes.size());
  for (const std::string& text : changes) {
    const Weight weight = weight_of(text, lost);
    weighed.push_back({weight, brief_of(text, weight), text});
  }
  std::ranges::stable_sort(weighed, {}, &Change::weight);
  return weighed;
}

bool tells_of_tensors(const Change& change, std::string_view done) {
  return done_to_tensors(change.full).starts_with(done);
}

std::string headline_of(const Conversion& done, const Arguments& arguments) {
  return fmt::format("{} ({}) -> {} ({}): {}, {}", arguments.operand(0), done.from, arguments.operand(1), done.to,
                     counted(done.tensors, "tensor"), size_text(done.file_bytes));
}

void tell_changes(std::string_view headline, const std::vector<Change>& changes, bool verbose, Session& session) {
  session.remark(headline);
  std::size_t untold = 0;
  for (const Change& change : changes) {
    if (change.weight == Weight::detail && !verbose) {
      ++untold;
      continue;
    }
    const auto [word, style] = label_of(change.weight);
    session.remark_below(style, word, verbose ? change.full : change.brief);
  }
  if (untold > 0) session.remark_below(Style::dim, "more", fmt::format("{} with --verbose", counted(untold, "detail")));
}

}  // namespace tare::cli
