// A verb as data: its texts, its options, its function. Help, the man page, shell completions and the parser loop over
// these tables, so that an option is described once.
#pragma once

#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tare/source.hpp"

namespace tare::cli {

class Session;

// Exit codes.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;  // the file is bad, the files differ, or the work could not be done
inline constexpr int kUsage = 2;   // the command line is wrong

// What a shell completes for a value or an operand.
// `tensors`: those of the file that an earlier word names. `methods`: ways to quantize, and float types.
enum class Completes : std::uint8_t { nothing, files, directories, verbs, tensors, methods };

using Words = std::vector<std::string>;

struct Option {
  char letter = 0;              // 'o'; 0 if there is only the long name
  std::string_view name = {};   // "output", without dashes
  std::string_view value = {};  // "PATH"; empty: a switch
  std::string_view help = {};   // one sentence, no capital, no full stop
  bool optional_value = false;  // --zstd or --zstd=3
  bool repeatable = false;
  Words (*words)() = nullptr;  // the only values allowed, if there is a closed set
  std::string (*canonical)(const std::string& value) =
      nullptr;  // turns other spellings of a value into one of `words`, and mistakes into a spelling
  Completes completes = Completes::nothing;
};

// A heading in a verb's help, above the option `first` and those that follow it.
struct OptionSection {
  std::string_view title = {};
  std::string_view first = {};
};
// Whether each section begins with one of the options, the first section with the first option, all in order.
consteval bool divides(std::span<const OptionSection> sections, std::span<const Option> options) {
  std::size_t found = 0;
  for (const Option& option : options)
    if (found < sections.size() && option.name == sections[found].first) ++found;
  return found == sections.size() && found > 0 && sections.front().first == options.front().name;
}

struct Operand {
  std::string_view name = {};  // "FILE"
  bool required = true;
  bool many = false;  // takes all remaining words; only for the last operand
  Completes completes = Completes::nothing;
};

struct Example {
  std::string_view command = {};
  std::string_view meaning = {};
};

// The options and operands of one call, checked against the verb's tables.
class Arguments {
 public:
  bool has(std::string_view option) const;
  // Returns the last value given, or `fallback`.
  std::string get(std::string_view option, std::string_view fallback = {}) const;
  // Returns all values given, in order.
  const std::vector<std::string>& all(std::string_view option) const;

  std::size_t size() const { return operands_.size(); }
  const std::string& operand(std::size_t i) const { return operands_.at(i); }
  std::span<const std::string> operands() const { return operands_; }

  // Options that many verbs share.
  Access access() const;
  unsigned threads() const;
  // Returns an integer in [least, most]; throws a UsageError that names the option.
  long number(std::string_view option, long fallback, long least, long most) const;

 private:
  friend class Parser;
  std::map<std::string, std::vector<std::string>, std::less<>> options_;
  std::vector<std::string> operands_;
};

struct Verb {
  std::string_view name = {};
  std::string_view summary = {};      // one line
  std::string_view description = {};  // paragraphs, separated by an empty line
  std::string (*more)() = nullptr;    // another paragraph, made from a table
  std::span<const Operand> operands = {};
  std::span<const Option> options = {};             // its own and the shared ones; the universal ones are added
  std::vector<Option> (*more_options)() = nullptr;  // one for each row of a table that offers an option
  // For verbs with many options. The first section has the most used ones; `-h` shows only these.
  std::span<const OptionSection> sections = {};
  std::span<const Example> examples = {};
  int (*run)(const Arguments& arguments, Session& session) = nullptr;
  bool hidden = false;
};

// The command line is wrong, in one sentence. Leads to exit code 2 and a hint to the verb's help.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The options that every verb has (--help, --color, --quiet).
std::span<const Option> universal_options();
// Returns all paragraphs.
std::string description_of(const Verb& verb);
// A verb's own options.
std::vector<Option> own_options_of(const Verb& verb);
// Returns a verb's own options, followed by the universal ones.
std::vector<Option> options_of(const Verb& verb);
// Returns for example "FILE [NAME]" or "FILE...".
std::string operands_text(const Verb& verb);
// Returns for example "--sort KEY" or "--zstd[=LEVEL]".
std::string spelling(const Option& option);

// Parses the words after the verb.
Arguments parse(const Verb& verb, std::span<const std::string> words);

}  // namespace tare::cli
