// Makes text of unknown origin safe to show. Anyone can write a file with any names, metadata and attachments, and a
// terminal obeys what it receives: escape sequences move the cursor or set the window title, bidirectional controls
// reorder words, and a line feed begins a line that looks like the program's own.
//
// Three functions for three kinds of output: `printable` for a line (the command's text and Error's sentences),
// `printable_json` for JSON, TerminalFilter for text with many lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tare {

struct CodePoint {
  std::uint32_t value = 0;  // the first byte if it is not valid
  std::size_t length = 1;   // in bytes
  bool valid = false;
};

// The first code point of a non-empty text; rejects overlong forms, surrogates and values beyond Unicode.
CodePoint first_code_point(std::string_view text);

// Whether a code point does more to a terminal than show a character: C0 and C1 controls, DEL, the line and paragraph
// separators, and everything that changes the direction of writing.
bool steers_terminal(std::uint32_t code_point);

// Text of a file for a message: like `escape_name`, but at most about 200 bytes ("..., 2,000,000 bytes in all"). A file
// can cause ten thousand messages, so each must cost the same whatever it quotes. Messages therefore quote only with
// this function (tools/layers.py lists the places that may call escape_name).
inline constexpr std::size_t kQuotedBytes = 200;
std::string quote(std::string_view text);
// "a, b and 3 more": at most `most` of the texts; `listed_names` quotes each.
std::string listed(std::span<const std::string> texts, std::size_t most = 8);
std::string listed_names(std::span<const std::string> names, std::size_t most = 8);
// The end of such a list: " and 3 more", or nothing if all are shown.
std::string and_more(std::size_t all, std::size_t shown);
// The first `most` bytes of a text, or fewer so that no code point is split.
std::string_view beginning(std::string_view text, std::size_t most);

// One line: line feeds and tabs become \n and \t; other code points that control a terminal, and bytes that are not
// UTF-8, become \xNN for each byte. Idempotent.
std::string printable(std::string_view text);
// Like `escape_name`, but characters that control a terminal stay unchanged: content digests are computed from this.
std::string one_line(std::string_view name);

// Escapes characters that control a terminal as \uNNNN in text that is already JSON. JSON allows those only inside
// strings (and C0 controls only as line feeds between values, which stay), so the value is unchanged.
std::string printable_json(std::string_view json);

// Filters a long text in pieces of any length: LF, TAB and "\r\n" stay, the rest is as in `printable`.
class TerminalFilter {
 public:
  std::string filter(std::string_view piece);
  // Returns what was held back because more bytes could have completed it.
  std::string finish();

 private:
  std::string drain(bool last);

  std::string waiting_;
};

}  // namespace tare
