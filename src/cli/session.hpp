// One run of the command: standard output, the abilities of the terminal, and error messages.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "tare/error.hpp"
#include "tare/sink.hpp"

namespace tare::cli {

enum class Style : std::uint8_t { plain, bold, dim, red, yellow, green, cyan };

// What a standard stream is connected to.
struct Screen {
  bool terminal = false;
  bool color = false;
  std::size_t columns = 80;  // valid on a terminal only: elsewhere nothing is shortened

  static Screen of(int descriptor, std::string_view color_option);
};

class Session {
 public:
  explicit Session(const Arguments& arguments);
  ~Session();

  // Writes to standard output, buffered. Throws Error if that fails. What steers a terminal is escaped, except line feeds,
  // tabs and the styles of `paint`.
  void print(std::string_view text);
  // Writes one line: line feeds in the text are escaped too, unless it is JSON (--json).
  void line(std::string_view text = {});
  void flush();
  // Returns standard output for bytes that are not text; flushes printed text first.
  Sink& raw();

  const Screen& screen() const { return screen_; }      // standard output
  const Screen& messages() const { return messages_; }  // standard error
  bool quiet() const { return quiet_; }
  // Whether the locale is UTF-8, so that bars and dots beyond ASCII may be drawn.
  bool unicode() const { return unicode_; }
  std::string_view ellipsis() const { return unicode_ ? "…" : "..."; }

  // Returns the text in a style, for standard output.
  std::string paint(Style style, std::string_view text) const;

  // Prints an error on standard error and remembers its exit code; the caller continues with the next file. `file` is
  // used if the error itself has no file.
  void complain(const Error& error, std::string_view file = {});
  // complain(), for an error that takes the place of a file's result: with --json, standard output gets it as JSON.
  void give_up(const Error& error, std::string_view file);
  // With --json, prints the error as JSON on standard output; its sentence for people is the caller's.
  void answer(const Error& error, const Verb* verb, std::string_view file = {});
  // Prints a line for people on standard error, unless --quiet was given.
  void remark(std::string_view text);
  // Prints a line that belongs to the remark above it: indented, with a short label, wrapped on a terminal.
  void remark_below(Style style, std::string_view word, std::string_view text);
  // The worst exit code of all complaints so far.
  int code() const { return code_; }
  void fail(int code = kFailed);

 private:
  std::unique_ptr<Sink> stdout_;
  std::string buffer_;
  Screen screen_, messages_;
  bool quiet_ = false, json_ = false, unicode_ = false;
  int code_ = kDone;
};

// Returns the exit code: 2 for usage errors that the library finds, except those that depend on existing files (one
// exists, is a directory, or has such a tensor already), which are failed work.
int exit_code_of(const Error& error);
// Returns "tare: FILE: sentence; --option helps (rule, byte N)". `verb`: the verb whose options it may name.
std::string error_line(const Error& error, std::string_view file = {}, const Verb* verb = nullptr);
// Writes all of the text to standard error, and ignores errors.
void to_stderr(std::string_view text);
// Writes a sentence to standard error as a line; on a terminal as several, broken at spaces.
void message(std::string_view sentence);
// Returns the sentence in lines that fit a terminal; otherwise as one.
std::vector<std::string> lines_of(std::string_view sentence, const Screen& screen);
// Returns whether the reader of standard output has closed it.
bool stdout_reader_gone();

std::string styled(Style style, std::string_view text, bool color);

}  // namespace tare::cli
