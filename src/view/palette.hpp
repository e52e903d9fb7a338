// The colours of types: Paul Tol's, which people with any colour vision can tell apart. page/colour.js has the same.
#pragma once

#include <string>
#include <string_view>

namespace tare::view {

std::string_view colour_of_type(std::string_view type);
// From blue by white to red, for -1 to 1; grey for what is not a number.
std::string diverging(double share);

}  // namespace tare::view
