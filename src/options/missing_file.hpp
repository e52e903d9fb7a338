// The sentence about a file that does not exist, for the command and for Python.
#pragma once

#include <string>
#include <string_view>

namespace tare {

// Returns the sentence about a path that cannot be a file: "-" and URLs. Otherwise returns an empty string.
std::string not_a_file(std::string_view path);
// Returns the end of a sentence if the path is a typing mistake: "; did you mean models/tiny.zt?", or a model on
// Hugging Face. Otherwise returns an empty string.
std::string missing_file_hint(const std::string& path);
// Returns the complete sentence of such an error. `sentence`: its beginning.
std::string missing_file_sentence(std::string_view sentence, const std::string& path);

}  // namespace tare
