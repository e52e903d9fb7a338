#pragma once

#include <string>
#include <string_view>

#include "tare/export.hpp"

namespace tare {

// Shell-style match: * any run (a / too), ? one byte, [a-z] a set. A pattern without wildcards is a whole name.
TARE_API bool glob_match(std::string_view pattern, std::string_view name);

// The pattern that matches this name and no other.
std::string escape_glob(std::string_view name);

}  // namespace tare
