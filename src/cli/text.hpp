// Text for a terminal: its width and shortening. base/printable.hpp makes text safe to print.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.hpp"
#include "base/printable.hpp"

namespace tare::cli {

// Returns the number of columns: two for East Asian wide characters, none for combining ones.
std::size_t display_width(std::string_view text);

// Shortens the text to at most `columns` in the middle, around `mark`, because both ends of a tensor's name matter.
std::string elide_middle(std::string_view text, std::size_t columns, std::string_view mark);
// The same, but shortened at the end.
std::string elide_end(std::string_view text, std::size_t columns, std::string_view mark);

// Breaks the text at spaces into lines of at most `columns`. Lines that begin with a space are kept unchanged.
std::vector<std::string> wrap(std::string_view text, std::size_t columns);

// The text with a capital at its beginning.
std::string sentence_case(std::string_view text);

// Escapes text for use between the single quotes of a shell command (bash, zsh or fish).
std::string inside_shell_quotes(std::string_view text);
// The text as one word of a shell command: in single quotes, unless no character in it needs them.
std::string shell_word(std::string_view text);

}  // namespace tare::cli
