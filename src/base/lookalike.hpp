#pragma once

#include <string_view>

namespace tare {

// Describes a file that is not what its name promises: the wrong thing downloaded is the most common bad file. `head`
// is its first 64 bytes or more. Empty if they are nothing well known.
std::string_view lookalike(std::string_view head);

}  // namespace tare
