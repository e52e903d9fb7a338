// Colours of types: Paul Tol's palette, which is safe for all kinds of colour vision. page/colour.js has the same
// colours.
#pragma once

#include <string>
#include <string_view>

namespace tare::view {

std::string_view colour_of_type(std::string_view type);
// From blue (-1) through white to red (1); grey for NaN and infinities.
std::string diverging(double share);

}  // namespace tare::view
