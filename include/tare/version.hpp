// The library's version.
#pragma once

#include <string_view>

#include "tare/export.hpp"

namespace tare {

// Three numbers with points between them: "1.0.0".
[[nodiscard]] TARE_API std::string_view version();

}  // namespace tare
