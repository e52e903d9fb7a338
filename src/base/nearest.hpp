// Guesses which name was meant by one that does not exist.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

// Changes ASCII letters only.
std::string lower_case(std::string text);
// Returns up to `most` candidates that are similar to `word`, the nearest first.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates, std::size_t most);

}  // namespace tare
