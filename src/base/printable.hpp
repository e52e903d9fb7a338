// Text of unknown origin, made safe to show. Names, metadata and attachments come from files that anybody can write, and
// a terminal obeys what it is sent: escape sequences move the cursor or retitle the window, bidirectional controls show
// words in another order than they stand in, and a line feed begins a line that we did not write.
//
// Three functions, one for each way out: `printable` for a line (the command's text and Error's sentences),
// `printable_json` for JSON, TerminalFilter for text of many lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tare {

struct CodePoint {
  std::uint32_t value = 0;  // the first byte where it is not valid
  std::size_t length = 1;   // in bytes
  bool valid = false;
};

// The first code point of a text that is not empty; strict about overlong forms, surrogates and the end of Unicode.
CodePoint first_code_point(std::string_view text);

// Whether a code point does something to a terminal other than show a character: C0 and C1 controls, DEL, the line and
// paragraph separators, and everything that changes the direction of writing.
bool steers_terminal(std::uint32_t code_point);

// Text of a file for a message: as `escape_name`, but never more than about 200 bytes of it ("..., 2,000,000 bytes in
// all"). A message costs the same whatever it quotes, and a file can bring about ten thousand of them; so messages quote
// with this and nothing else (tools/layers.py lists the places that may call escape_name).
inline constexpr std::size_t kQuotedBytes = 200;
std::string quote(std::string_view text);
// The beginning of a text, `most` bytes of it at most, not cut inside a code point.
std::string_view beginning(std::string_view text, std::size_t most);

// On one line: line feeds and tabs as \n and \t; other code points that steer, and bytes that are not UTF-8, as \xNN
// for each of their bytes. What it returns it leaves as it is.
std::string printable(std::string_view text);
// A name as `escape_name` has it, but for characters that steer a terminal, which stay as they are: what content digests
// are computed from.
std::string one_line(std::string_view name);

// Text that is JSON already, with what steers a terminal as \uNNNN. JSON has such characters inside strings only (C0
// controls not at all, but line feeds between values, which stay), so the value is the same.
std::string printable_json(std::string_view json);

// A long text in pieces, cut anywhere: lines, tabs and "\r\n" stay, the rest is as `printable`.
class TerminalFilter {
 public:
  std::string filter(std::string_view piece);
  // What was held back because it could have gone on.
  std::string finish();

 private:
  std::string drain(bool last);

  std::string waiting_;
};

}  // namespace tare
