// The library's own version.
#pragma once

#include <string_view>

namespace tare {

// "0.1.0"
std::string_view version();

}  // namespace tare
