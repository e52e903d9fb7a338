// Text for a terminal: how wide it is, how to shorten it, and near misses. What may be printed: base/printable.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.hpp"

namespace tare::cli {

// Columns the text takes: East Asian wide characters two, combining ones none.
std::size_t display_width(std::string_view text);

// At most `columns` wide, shortened in the middle around `mark` (both ends of a tensor's name say something).
std::string elide_middle(std::string_view text, std::size_t columns, std::string_view mark);
// The same, shortened at the end.
std::string elide_end(std::string_view text, std::size_t columns, std::string_view mark);

// Lines of at most `columns`, broken at spaces. Lines that begin with a space are kept as they are.
std::vector<std::string> wrap(std::string_view text, std::size_t columns);

// Up to `most` candidates that look like `word`, nearest first; empty when none is near.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates, std::size_t most);

// ASCII letters only.
std::string lower_case(std::string text);

}  // namespace tare::cli
