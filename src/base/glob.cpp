#include "base/glob.hpp"

#include <fnmatch.h>

#include <string>

namespace tare {

bool glob_match(std::string_view pattern, std::string_view name) {
  // A NUL would cut the C strings short; no pattern from a command line has one.
  if (name.find('\0') != std::string_view::npos) return pattern == name;
  return ::fnmatch(std::string(pattern).c_str(), std::string(name).c_str(), 0) == 0;
}

}  // namespace tare
