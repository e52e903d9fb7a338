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
#include <vector>

#include "cli/help.hpp"
#include "cli/interrupts.hpp"
#include "cli/json.hpp"
#include "cli/missing_file.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "io/input_files.hpp"
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
  to_stderr(fmt::format("tare: {}{}{}\nTry `tare help{}{}`.\n", verb, verb.empty() ? "" : ": ", printable(sentence),
                        verb.empty() ? "" : " ", verb));
  return kUsage;
}

// Whether a word in the place of the verb is a path: `tare model.gguf` is `tare info model.gguf`.
bool names_file(const std::string& word) {
  std::error_code ignored;
  return !word.starts_with('-') && std::filesystem::exists(word, ignored);
}

int unknown_verb(std::span<const std::string> words) {
  const std::string& word = words.front();
  if (word == "-") return usage_error({}, fmt::format("'-' is not a file{}", missing_file_hint(word)), words);
  if (word.starts_with('-')) {
    const Words near = word == "-v" ? Words{"--version"} : nearest(word, Words{"--help", "--version"}, 1);
    return usage_error({},
                       fmt::format("unknown option '{}'{}", word,
                                   near.empty() ? "" : fmt::format("; did you mean '{}'?", near.front())),
                       words);
  }
  const std::string hint = word.find_first_of("./") == word.npos ? verb_hint(word) : std::string();
  if (!hint.empty()) return usage_error({}, fmt::format("unknown verb '{}'{}", word, hint), words);
  return usage_error({}, fmt::format("'{}' is neither a verb nor a file that exists{}", word, missing_file_hint(word)),
                     words);
}

int run_verb(const Verb& verb, std::span<const std::string> words) {
  const Arguments arguments = parse(verb, words);
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
  if (find_verb(words[0]) == nullptr && names_file(words[0])) words.insert(words.begin(), "info");
  const Verb* const verb = find_verb(words[0]);
  if (verb == nullptr) return unknown_verb(words);
  try {
    return run_verb(*verb, std::span(words).subspan(1));
  } catch (const UsageError& error) {
    return usage_error(verb->name == "help" ? "" : verb->name, error.what(), words);
  } catch (const Error& error) {
    if (stdout_reader_gone()) return kBrokenPipe;
    to_stderr(error_line(error, {}, verb) + "\n");
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
