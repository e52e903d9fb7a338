#pragma once

#include <string>
#include <string_view>

#include "tare/export.hpp"

namespace tare {

// Shell-style match: * any run (including /), ? one byte, [a-z] a set. A pattern without wildcards must equal the name.
// Charges the budget of the thread for the bytes compared: throws limit `open.steps`.
TARE_API bool glob_match(std::string_view pattern, std::string_view name);

// The pattern that matches only this name.
std::string escape_glob(std::string_view name);

}  // namespace tare
