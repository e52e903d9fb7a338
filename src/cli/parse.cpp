// The parser: a loop over the words after the verb, with look-ups in the verb's tables.
//
//   --name  --name VALUE  --name=VALUE   -n  -n VALUE  -nVALUE  -n=VALUE  -abc (switches)  --  operands anywhere
//
// A value is the next word, whatever it looks like, for the sake of `-o -` and `--threads -1`. The exception is one of
// the verb's own options: in `-o --force` the path was probably forgotten.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "cli/command.hpp"
#include "cli/text.hpp"
#include "options/words.hpp"

namespace tare::cli {
namespace {

std::string dashed(const Option& option) { return fmt::format("--{}", option.name); }

// What other programs call an option, and its name here. The first row whose option the verb has is meant.
constexpr std::pair<std::string_view, std::string_view> kForeign[] = {
    {"--quant", "method"},    {"--quantize", "method"}, {"--type", "method"},   {"--method", "quant"},
    {"--quantize", "quant"},  {"--type", "dtype"},      {"--outtype", "dtype"}, {"--precision", "dtype"},
    {"--overwrite", "force"}, {"--yes", "force"},       {"-y", "force"},        {"--format", "to"},
    {"--bpw", "bits"},        {"--delete", "remove"},   {"-d", "remove"},       {"-m", "method"},
    {"-m", "quant"},
};

// What people look for that a verb does in another way.
struct Elsewhere {
  std::string_view verb, word, sentence;
};
constexpr std::string_view kFirstLines = "`| head` shows the first lines";
constexpr std::string_view kNoTrial =
    "a conversion cannot be tried without being made; OUT appears whole or not at all, and --json reports what changed";
constexpr Elsewhere kElsewhere[] = {
    {"ls", "--limit", kFirstLines},      {"ls", "--head", kFirstLines}, {"ls", "-n", kFirstLines},
    {"vocab", "--limit", kFirstLines},   {"vocab", "-n", kFirstLines},  {"convert", "--dry-run", kNoTrial},
    {"quantize", "--dry-run", kNoTrial}, {"convert", "-n", kNoTrial},   {"quantize", "-n", kNoTrial},
};

// Whether one letter more, less, other or swapped with its neighbour makes one word of the other.
bool is_one_edit(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) a.remove_prefix(1), b.remove_prefix(1);
  while (!a.empty() && !b.empty() && a.back() == b.back()) a.remove_suffix(1), b.remove_suffix(1);
  const bool swapped = a.size() == 2 && b.size() == 2 && a[0] == b[1] && a[1] == b[0];
  return swapped || (a.size() <= 1 && b.size() <= 1);
}

// Returns the option of a verb that takes a word as its value: "--method" for q4_k_m; empty if none does.
std::string option_taking(std::string_view word, std::span<const Option> options) {
  const std::string lower = lower_case(std::string(word));
  for (const Option& option : options) {
    const bool methods = option.completes == Completes::methods;
    if (option.words == nullptr && !methods) continue;
    const Words allowed = methods ? method_words() : option.words();
    if (std::ranges::find(allowed, lower) != allowed.end()) return dashed(option);
  }
  return {};
}

// Returns the value, or the allowed word that differs only in case or is another spelling of it: Q4_K_M, float16.
std::string known_word(const Option& option, std::string value, std::span<const Option> options) {
  if (option.words == nullptr) return value;
  constexpr std::size_t kShortList = 16;
  const Words allowed = option.words();
  const auto is_allowed = [&](const std::string& word) {
    return std::find(allowed.begin(), allowed.end(), word) != allowed.end();
  };
  if (is_allowed(value)) return value;
  if (std::string lower = lower_case(value); is_allowed(lower)) return lower;
  const std::string other = option.canonical != nullptr ? option.canonical(value) : value;
  if (is_allowed(other)) return other;
  if (const std::string taker = option_taking(value, options); !taker.empty())
    throw UsageError(fmt::format("{}: unknown {} '{}'; did you mean {} {}?", dashed(option), option.value,
                                 printable(value), taker, lower_case(value)));
  if (option.words == dtype_words &&
      (value.starts_with("fp8") || value.starts_with("f8") || value.starts_with("float8")))
    throw UsageError(
        fmt::format("{}: 8-bit floats are read and carried, but Tare does not cast to them", dashed(option)));
  // Which dialects there are depends on the target.
  if (option.words == dialect_words) return value;
  if (option.words == quant_words)
    if (const std::string why = why_not_written(value); !why.empty())
      throw UsageError(fmt::format("{}: {}", dashed(option), why));
  Words near = nearest(lower_case(value), allowed, 1);
  if (near.empty() && other != value) near.push_back(other);
  const std::string meant = near.empty() ? "" : fmt::format("; did you mean {}?", near.front());
  if (allowed.size() > kShortList && !near.empty())
    throw UsageError(fmt::format("{}: unknown {} '{}'{}", dashed(option), option.value, printable(value), meant));
  if (allowed.size() == 1)
    throw UsageError(fmt::format("{} takes {}, not '{}'", dashed(option), allowed.front(), printable(value)));
  throw UsageError(
      fmt::format("{} takes one of {}, not '{}'{}", dashed(option), fmt::join(allowed, ", "), printable(value), meant));
}

}  // namespace

// Fills an Arguments, of which it is a friend.
class Parser {
 public:
  Parser(const Verb& verb, std::span<const std::string> words)
      : verb_(verb), options_(options_of(verb)), words_(words) {}

  Arguments parse() {
    while (!words_.empty()) {
      const std::string& word = next();
      if (word == "--") {
        for (; !words_.empty(); words_ = words_.subspan(1)) arguments_.operands_.push_back(words_.front());
      } else if (word.starts_with("--")) {
        parse_long(word);
      } else if (word.starts_with('-') && word.size() > 1) {
        parse_letters(word);
      } else {
        arguments_.operands_.push_back(word);
      }
    }
    if (!arguments_.has("help")) check_operands();
    std::ranges::copy_if(options_, std::back_inserter(arguments_.given_),
                         [&](const Option& option) { return arguments_.has(option.name); });
    return std::move(arguments_);
  }

 private:
  const std::string& next() {
    const std::string& word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }

  const Option* find(std::string_view name) const {
    const auto found = std::ranges::find(options_, name, &Option::name);
    return found == options_.end() ? nullptr : &*found;
  }
  const Option* find(char letter) const {
    const auto found = std::ranges::find(options_, letter, &Option::letter);
    return found == options_.end() || letter == 0 ? nullptr : &*found;
  }

  // Parses "--name" or "--name=VALUE".
  void parse_long(std::string_view word) {
    const std::size_t equals = word.find('=');
    const Option* const option = find(word.substr(2, equals == word.npos ? equals : equals - 2));
    if (option == nullptr) unknown(word);
    keep(*option, equals == word.npos ? std::nullopt : std::optional<std::string>(word.substr(equals + 1)));
  }

  // Parses "-f", "-fq", "-oVALUE" or "-foVALUE".
  void parse_letters(std::string_view word) {
    // "-output" is a long option with a dash missing, not "-o utput".
    if (find(word.substr(1, word.find('=') - 1)) != nullptr) unknown(word);
    for (std::size_t i = 1; i < word.size(); ++i) {
      const Option* const option = find(word[i]);
      if (option == nullptr) unknown(word, i);
      std::string_view rest = word.substr(i + 1);
      const bool says_value = rest.starts_with('=');
      if (says_value) rest.remove_prefix(1);
      const bool takes_rest = says_value || (!rest.empty() && !option->value.empty() && !option->optional_value);
      keep(*option, takes_rest ? std::optional<std::string>(rest) : std::nullopt);
      if (takes_rest) return;
    }
  }

  // `given`: the value, if it is in the same word as the option.
  void keep(const Option& option, std::optional<std::string> given) {
    std::vector<std::string>& values = arguments_.options_[std::string(option.name)];
    if (option.value.empty()) {
      if (given) throw UsageError(fmt::format("{} takes no value", dashed(option)));
      return;
    }
    if (!given && option.optional_value) return values.clear();  // the last one counts, and it has no value
    if (!given) given = following_value(option);
    values.push_back(known_word(option, std::move(*given), options_));
  }

  std::string following_value(const Option& option) {
    if (words_.empty() || words_.front() == "--") throw UsageError(fmt::format("{} needs a value", dashed(option)));
    if (names_option(words_.front()))
      throw UsageError(fmt::format("{0} needs a value; if {1} is meant as one, write {0}={1}", dashed(option),
                                   printable(words_.front())));
    return next();
  }

  bool names_option(std::string_view word) const {
    if (word.starts_with("--")) return find(word.substr(2, word.find('=') - 2)) != nullptr;
    return word.size() == 2 && word[0] == '-' && find(word[1]) != nullptr;
  }

  // `letter`: the place of the unknown letter in a word of single letters.
  [[noreturn]] void unknown(std::string_view word, std::size_t letter = 0) const {
    const std::string_view name = word.substr(0, word.find('='));
    if ((letter > 0 ? word.substr(letter, 1) == "o" : name == "--output") &&
        std::ranges::find(verb_.operands, "OUT", &Operand::name) != verb_.operands.end())
      throw UsageError(fmt::format("unknown option '{}'; name the output without it: tare {} {}", printable(name),
                                   verb_.name, operands_text(verb_)));
    const std::string_view asked = letter == 1 ? name.substr(0, 2) : name;  // "-n" of "-n5"
    for (const auto& [foreign, own] : kForeign)
      if (asked == foreign && find(own) != nullptr)
        throw UsageError(fmt::format("unknown option '{}'; did you mean --{}?", printable(asked), own));
    for (const Elsewhere& other : kElsewhere)
      if (other.verb == verb_.name && other.word == asked)
        throw UsageError(fmt::format("unknown option '{}'; {}", printable(asked), other.sentence));
    std::vector<std::string> names;
    names.reserve(options_.size());
    for (const Option& option : options_)
      if (option.name != "help" || is_one_edit(name, "--help")) names.push_back(dashed(option));
    if (const auto near = nearest(name, names, 1); !near.empty())
      throw UsageError(fmt::format("unknown option '{}'; did you mean {}?", printable(name), near.front()));
    if (letter > 1)
      throw UsageError(fmt::format("unknown option '-{}' in '{}'", printable(word.substr(letter, 1)), printable(word)));
    throw UsageError(fmt::format("unknown option '{}'", printable(name)));
  }

  void check_operands() const {
    const auto& given = arguments_.operands_;
    const auto& wanted = verb_.operands;
    for (std::size_t i = 0; i < given.size(); ++i)
      if (given[i].empty()) throw UsageError(fmt::format("operand {} is an empty string", i + 1));
    if (given.size() < wanted.size() && wanted[given.size()].required) {
      const Operand& missing = wanted[given.size()];
      const bool listed = missing.completes == Completes::tensors && !given.empty();
      throw UsageError(
          fmt::format("{} is missing{}", missing.name,
                      listed ? fmt::format("; `tare ls {}` lists them", shell_word(given.front())) : std::string()));
    }
    const bool many = !wanted.empty() && wanted.back().many;
    if (many || given.size() <= wanted.size()) return;
    // An option's value without the option may be any of the operands.
    for (const std::string& operand : given)
      if (const std::string taker = option_taking(operand, options_); !taker.empty())
        throw UsageError(fmt::format("unexpected operand '{0}'; did you mean {1} {0}?", printable(operand), taker));
    if (wanted.size() == 1 && wanted.front().completes == Completes::files)
      throw UsageError(fmt::format("takes one {}{}", wanted.front().name, several_files()));
    throw UsageError(fmt::format("unexpected operand '{}'", printable(given[wanted.size()])));
  }

  // The end of the sentence about a second operand: for `ls`, the verb that takes several; for `run`, the text after FILE,
  // as other programs take it.
  std::string several_files() const {
    const auto& given = arguments_.operands_;
    if (verb_.name == "run")
      return fmt::format("; did you mean tare run {} -p {}?", shell_word(given.front()),
                         shell_word(fmt::format("{}", fmt::join(given.begin() + 1, given.end(), " "))));
    std::vector<std::string> words;
    for (const std::string& file : given) words.push_back(shell_word(file));
    return verb_.name == "ls" ? fmt::format("; `tare info {}` takes several", fmt::join(words, " ")) : std::string();
  }

  const Verb& verb_;
  std::vector<Option> options_;
  std::span<const std::string> words_;  // words that were not parsed yet
  Arguments arguments_;
};

Arguments parse(const Verb& verb, std::span<const std::string> words) { return Parser(verb, words).parse(); }

}  // namespace tare::cli
