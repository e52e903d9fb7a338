#pragma once

#include <string_view>

namespace tare {

// What a file is, in words, that is not what its name says: the wrong thing downloaded is the most common bad file there
// is. `head` is its first 64 bytes or more; empty when they are nothing well known.
std::string_view lookalike(std::string_view head);

}  // namespace tare
