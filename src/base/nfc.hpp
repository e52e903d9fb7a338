// Unicode's Normalization Form C, which some containers ask of names.
#pragma once

#include <string_view>

namespace tare {

// Whether a text is in that form. One that is not UTF-8 is not. Throws std::bad_alloc.
bool is_nfc(std::string_view text);

}  // namespace tare
