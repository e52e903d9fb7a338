// Unicode's Normalization Form C, which some containers require for names.
#pragma once

#include <string_view>

namespace tare {

// Whether a text is valid UTF-8 in that form. Throws std::bad_alloc.
bool is_nfc(std::string_view text);

}  // namespace tare
