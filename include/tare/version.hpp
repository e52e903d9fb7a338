// The library's version.
#pragma once

#include <string_view>

#include "tare/export.hpp"

namespace tare {

// "0.1.0"
[[nodiscard]] TARE_API std::string_view version();

}  // namespace tare
