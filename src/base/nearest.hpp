// Guesses which name was meant by one that does not exist.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

// Changes ASCII letters only.
std::string lower_case(std::string text);
// Returns up to `most` candidates that are similar to `word`, the nearest first.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates, std::size_t most);
// Returns "; did you mean a, b?", or an empty text if no candidate is similar.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates, std::size_t most);
// Returns the sentence about a name that does not exist: "there is no tensor x; did you mean y?". `otherwise`: its end if
// no candidate is similar.
std::string there_is_no(std::string_view thing, std::string_view name, std::span<const std::string> candidates,
                        std::string_view otherwise = {}, std::size_t most = 3);

}  // namespace tare
