// The hint in the error for a file that does not exist.
#pragma once

#include <string>

namespace tare::cli {

// Returns the end of a sentence if the path is a URL, "-" or a typing mistake: "; did you mean models/tiny.zt?".
// Otherwise returns an empty string.
std::string missing_file_hint(const std::string& path);

}  // namespace tare::cli
