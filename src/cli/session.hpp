// One run of the command: standard output, what the terminal can show, and how errors are told.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "cli/command.hpp"
#include "tare/error.hpp"
#include "tare/sink.hpp"

namespace tare::cli {

enum class Style : std::uint8_t { plain, bold, dim, red, yellow, green, cyan };

// What one of the standard streams is connected to.
struct Screen {
  bool terminal = false;
  bool color = false;
  std::size_t columns = 80;  // meaningful on a terminal only: elsewhere nothing is cut

  static Screen of(int descriptor, std::string_view color_option);
};

class Session {
 public:
  explicit Session(const Arguments& arguments);
  ~Session();

  // Standard output, buffered. Throws Error when it cannot be written.
  void print(std::string_view text);
  // print(text) and a line feed.
  void line(std::string_view text = {});
  void flush();
  // Standard output for bytes that are not text; what was printed comes first.
  Sink& raw();

  const Screen& screen() const { return screen_; }      // standard output
  const Screen& messages() const { return messages_; }  // standard error
  bool quiet() const { return quiet_; }
  // Whether the locale's characters are UTF-8: bars and dots beyond ASCII may be drawn.
  bool unicode() const { return unicode_; }
  std::string_view ellipsis() const { return unicode_ ? "…" : "..."; }

  // The text in a style, for standard output.
  std::string paint(Style style, std::string_view text) const;

  // Tells an error on standard error and remembers its exit code; the caller goes on with the next file.
  // `file` names it when the error itself does not know.
  void complain(const Error& error, std::string_view file = {});
  // A line for people on standard error; nothing when quiet.
  void remark(std::string_view text);
  // A line that belongs to the remark above it: indented, with a short word in front, wrapped on a terminal.
  void remark_below(Style style, std::string_view word, std::string_view text);
  // The exit code of what was complained about: the worst so far.
  int code() const { return code_; }
  void fail(int code = kFailed);

 private:
  std::unique_ptr<Sink> stdout_;
  std::string buffer_;
  Screen screen_, messages_;
  bool quiet_ = false, unicode_ = false;
  int code_ = kDone;
};

// Usage mistakes the library finds count as a wrong command line; what depends on the files that are there (one
// exists, is a directory, has such a tensor already) as work that could not be done.
int exit_code_of(const Error& error);
// "tare: FILE: sentence; --option helps (rule, byte N)"
// `verb`: whose options it may name.
std::string error_line(const Error& error, std::string_view file = {}, const Verb* verb = nullptr);
// Writes to standard error, whole, and does not care whether it arrives.
void to_stderr(std::string_view text);
// Whether the reader of standard output has gone away.
bool stdout_reader_gone();

std::string styled(Style style, std::string_view text, bool color);

}  // namespace tare::cli
