// The command: finds the verb, parses the words after it, runs it, and turns the result into an exit code.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <filesystem>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cli/help.hpp"
#include "cli/interrupts.hpp"
#include "cli/json.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "io/input_files.hpp"
#include "io/remote/url.hpp"
#include "options/missing_file.hpp"
#include "tare/error.hpp"
#include "tare/sink.hpp"

namespace tare::cli {
namespace {

// The exit code that a shell reports for a command that a broken pipe ended.
constexpr int kBrokenPipe = 128 + SIGPIPE;

// Whether a program asked for JSON, in words that were not or could not be parsed.
bool wants_json(std::span<const std::string> words) { return std::ranges::find(words, "--json") != words.end(); }

// Prints JSON about an error. If that fails, the error itself is still reported, as text.
template <typename Print>
void try_json(Print print) {
  try {
    print();
  } catch (const Error&) {
  }
}

// Prints a sentence about the command line; `words` is the command line.
int usage_error(std::string_view verb, const std::string& sentence, std::span<const std::string> words) {
  if (wants_json(words)) {
    const Error error(ErrorKind::usage, "cli.usage", sentence);
    const std::string text = error_json(error, printable(sentence)) + "\n";
    try_json([&] { descriptor_sink(STDOUT_FILENO, "standard output")->write(std::as_bytes(std::span(text))); });
  }
  message(fmt::format("tare: {}{}{}", verb, verb.empty() ? "" : ": ", printable(sentence)));
  message(fmt::format("Try `tare help{}{}`.", verb.empty() ? "" : " ", verb));
  return kUsage;
}

// A file on a server exists as far as the command line is concerned.
bool exists(const std::string& path) {
  std::error_code ignored;
  return io::is_remote(path) || std::filesystem::exists(path, ignored);
}

// Whether a word in the place of the verb is a path: `tare model.gguf` is `tare info model.gguf`.
bool names_file(const std::string& word) { return !word.starts_with('-') && exists(word); }

std::string as_typed(std::span<const std::string> words) {
  std::string line = "tare";
  for (const std::string& word : words) line += " " + shell_word(word);
  return line;
}

bool has_option(const Verb& verb, std::string_view word) {
  const bool is_long = word.starts_with("--");
  const std::string_view name = word.substr(is_long ? 2 : 1, word.find('=') - (is_long ? 2 : 1));
  return std::ranges::any_of(options_of(verb), [&](const Option& option) {
    return is_long ? option.name == name : !name.empty() && option.letter == name[0];
  });
}

// The sentence about an option in the place of the verb.
std::string about_option(std::span<const std::string> words) {
  const std::string& word = words.front();
  if (word == "--all") return "unknown option '--all'; did you mean tare help --all?";
  const auto other = std::ranges::find_if_not(words, [](const std::string& one) { return one.starts_with('-'); });
  const bool names_verb = other != words.end() && find_verb(*other) != nullptr;
  const Verb* const verb = names_verb ? find_verb(*other) : find_verb("info");
  if (other != words.end() && (names_verb || names_file(*other)) && has_option(*verb, word)) {
    std::vector<std::string> meant = {std::string(verb->name)};
    meant.insert(meant.end(), words.begin(), other);
    meant.insert(meant.end(), names_verb ? other + 1 : other, words.end());
    return fmt::format("options come after the verb: {}", as_typed(meant));
  }
  const Words known = {"--help", "--version"};
  return fmt::format("unknown option '{}'{}", word,
                     word == "-v" ? "; did you mean --version?" : did_you_mean(word, known, 1));
}

int unknown_verb(std::span<const std::string> words) {
  const std::string& word = words.front();
  if (const std::string instead = not_a_file(word); !instead.empty())
    return usage_error({}, fmt::format("{}: {}", word, instead), words);
  if (word.starts_with('-')) return usage_error({}, about_option(words), words);
  const std::string hint = word.find_first_of("./") == word.npos ? verb_hint(word) : std::string();
  if (!hint.empty()) return usage_error({}, fmt::format("unknown verb '{}'{}", word, hint), words);
  return usage_error({}, fmt::format("'{}' is neither a verb nor a file that exists{}", word, missing_file_hint(word)),
                     words);
}

// Refuses operands in another order than the verb's: the error about a file that does not exist would mislead.
void check_order(const Verb& verb, const Arguments& arguments) {
  if (verb.operands.size() < 2 || arguments.size() < 2 || verb.operands[0].completes != Completes::files) return;
  const std::string& first = arguments.operand(0);
  const std::string& second = arguments.operand(1);
  if (exists(first) || !exists(second) || second == "-") return;
  if (verb.operands[1].completes == Completes::tensors)
    throw UsageError(fmt::format("the order is {}: {} is the file", operands_text(verb), printable(second)));
  // An output that exists is replaced with --force; then IN is more likely a typing mistake.
  if (verb.operands[1].name == "OUT" && !arguments.has("force") && missing_file_hint(first).empty() &&
      not_a_file(first).empty())
    throw UsageError(fmt::format("{} does not exist, and IN comes first: tare {} {} {}", printable(first), verb.name,
                                 shell_word(second), shell_word(first)));
}

int run_verb(const Verb& verb, std::span<const std::string> words) {
  const Arguments arguments = parse(verb, words);
  if (!arguments.has("help")) check_order(verb, arguments);
  Session session(arguments);
  const io::InputFiles inputs;  // whatever is read from here on is not replaced
  try {
    if (arguments.has("help")) {
      const bool brief = std::ranges::find(words, "-h") != words.end();
      session.print(brief ? short_help(verb, help_look(session)) : verb_help(verb, help_look(session)));
    } else {
      session.fail(verb.run(arguments, session));
    }
    session.flush();
  } catch (Error& error) {
    // An error without a file concerns the verb's first file.
    if (arguments.size() > 0 && verb.operands[0].completes == Completes::files) error.in(arguments.operand(0));
    if (!stdout_reader_gone()) try_json([&] { session.answer(error, &verb); });
    throw;
  }
  return session.code();
}

int run(std::vector<std::string> words) {
  if (words.empty()) {
    to_stderr(general_help({}));
    return kUsage;
  }
  if (words[0] == "--help" || words[0] == "-h") words[0] = "help";
  if (words[0] == "--version" || words[0] == "-V") words[0] = "version";
  const bool file_first = find_verb(words[0]) == nullptr && names_file(words[0]);
  if (file_first && words.size() > 1 && find_verb(words[1]) != nullptr && !exists(words[1])) {
    std::swap(words[0], words[1]);
    const std::string meant = as_typed(words);
    return usage_error({}, fmt::format("'{}' is a verb and comes first: {}", words[0], meant), words);
  }
  if (file_first || (words[0] == "--" && words.size() > 1)) words.insert(words.begin(), "info");
  const Verb* const verb = find_verb(words[0]);
  if (verb == nullptr) return unknown_verb(words);
  try {
    return run_verb(*verb, std::span(words).subspan(1));
  } catch (const UsageError& error) {
    return usage_error(verb->name == "help" ? "" : verb->name, error.what(), words);
  } catch (const Error& error) {
    if (stdout_reader_gone()) return kBrokenPipe;
    message(error_line(error, {}, verb));
    return exit_code_of(error);
  }
}

}  // namespace
}  // namespace tare::cli

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // Otherwise glibc raises both limits whenever a large block is freed, and then keeps up to 64 MiB of freed memory.
  ::mallopt(M_MMAP_THRESHOLD, 4 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 8 << 20);
#endif
  // A closed pipe and a file beyond the size limit become ordinary errors, so that temporary files are removed.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  const tare::cli::Interrupts interrupts;
  try {
    return tare::cli::run(std::vector<std::string>(argv + (argc > 0), argv + argc));
  } catch (const std::bad_alloc&) {
    tare::cli::to_stderr("tare: out of memory\n");
  } catch (const std::exception& error) {
    tare::cli::to_stderr(fmt::format("tare: {}\n", tare::printable(error.what())));
  }
  return tare::cli::kFailed;
}
