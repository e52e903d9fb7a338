// What a verb is, as data: its words, its options, its function. Help, the man page, shell completions and the parser
// are loops over these tables, so an option is described once.
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
inline constexpr int kFailed = 1;  // the file is bad, they differ, it could not be done
inline constexpr int kUsage = 2;   // the command line is wrong

// What a shell should offer for a value or an operand.
enum class Completes : std::uint8_t { nothing, files, directories, verbs };

using Words = std::vector<std::string>;

struct Option {
  char letter = 0;              // 'o', or 0 when there is only the long name
  std::string_view name = {};   // "output", without dashes
  std::string_view value = {};  // "PATH"; empty: a switch
  std::string_view help = {};   // one sentence, no capital, no full stop
  bool optional_value = false;  // --zstd or --zstd=3
  bool repeatable = false;
  Words (*words)() = nullptr;  // the only values allowed, where that is a closed set
  Completes completes = Completes::nothing;
};

struct Operand {
  std::string_view name = {};  // "FILE"
  bool required = true;
  bool many = false;  // takes the rest; only the last operand may
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
  // The last value given, or `fallback`.
  std::string get(std::string_view option, std::string_view fallback = {}) const;
  // Every value given, in order.
  const std::vector<std::string>& all(std::string_view option) const;

  std::size_t size() const { return operands_.size(); }
  const std::string& operand(std::size_t i) const { return operands_.at(i); }
  std::span<const std::string> operands() const { return operands_; }

  // The options many verbs share.
  Access access() const;
  unsigned threads() const;
  // A whole number in [least, most], or a UsageError that names the option.
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
  std::string (*more)() = nullptr;    // another paragraph, of what is in a table
  std::span<const Operand> operands = {};
  std::span<const Option> options = {};  // its own and the shared ones it honours; the universal ones are added
  std::vector<Option> (*more_options)() = nullptr;  // one for each row of a table that has something to offer
  std::span<const Example> examples = {};
  int (*run)(const Arguments& arguments, Session& session) = nullptr;
  bool hidden = false;
};

// The command line is wrong: one sentence. Ends in exit code 2 and a hint to the verb's help.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The options every verb takes (--help, --color, --quiet).
std::span<const Option> universal_options();
// All its paragraphs.
std::string description_of(const Verb& verb);
// A verb's own options.
std::vector<Option> own_options_of(const Verb& verb);
// The same, followed by the universal ones.
std::vector<Option> options_of(const Verb& verb);
// "FILE [NAME]", "FILE..."
std::string operands_text(const Verb& verb);
// "--sort KEY", "--zstd[=LEVEL]"
std::string spelling(const Option& option);

// Parses what follows the verb.
Arguments parse(const Verb& verb, std::span<const std::string> words);

}  // namespace tare::cli
