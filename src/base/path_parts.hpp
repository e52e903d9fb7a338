#pragma once

#include <algorithm>
#include <string_view>

namespace tare {

// Whether the relative path "a/b/c" cannot leave its directory: no part is empty, "." or "..".
inline bool stays_below(std::string_view path) {
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return false;
    at = end + 1;
  }
  return true;
}

}  // namespace tare
