// A verb as data: its texts, its options, its function. Help, the man page, shell completions and the parser loop over
// these tables, so that an option is described once.
#pragma once

#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "options/option.hpp"

namespace tare::cli {

class Session;

// Exit codes.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;  // the file is bad, the files differ, or the work could not be done
inline constexpr int kUsage = 2;   // the command line is wrong

// A heading in a verb's help, above the option `first` and those that follow it.
struct OptionSection {
  std::string_view title = {};
  std::string_view first = {};
};

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

  // The options that were given, in the order of the verb's table.
  std::span<const Option> given() const { return given_; }

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
  std::vector<Option> given_;
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
  // For verbs with many options. The first section has the most used ones; `-h` shows only these. Without sections, help
  // has the options that mean the same for most verbs under a heading of their own, and `-h` only names them.
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
// Returns the sentence in the verb's help about one of its options.
std::string help_of(const Verb& verb, const Option& option);
// Returns for example "--sort KEY" or "--zstd[=LEVEL]".
std::string spelling(const Option& option);

// Parses the words after the verb.
Arguments parse(const Verb& verb, std::span<const std::string> words);

}  // namespace tare::cli
