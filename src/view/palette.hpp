// Colours of types: Paul Tol's palette, which is safe for all kinds of colour vision. page/colour.js has the same
// colours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tare::view {

std::string_view colour_of_type(std::string_view type);
// Black or white, whichever is easier to read on the colour, which is spelled "#rrggbb".
std::string_view ink_on(std::string_view colour);
// From blue (-1) through white to red (1); beyond these a darker one, and amber for NaN and infinities.
std::string diverging(double share);
// Returns the largest value that a colour scale shows, so that a few outliers do not leave all other cells pale. It is
// the largest magnitude that is at most twice the 98th percentile of the magnitudes that are finite and not zero; for few
// values, twice the second largest magnitude. page/heat.js does the same.
double bound_without_outliers(std::vector<double> values);

}  // namespace tare::view
