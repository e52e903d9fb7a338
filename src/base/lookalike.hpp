#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tare {

// Describes a file that is not what its name promises: the wrong thing downloaded is the most common bad file. `head`
// is its first 64 bytes or more. Empty if they are nothing well known.
std::string_view lookalike(std::string_view head);

// The same for weights of other programs, by their first bytes (300 or more). Other binary files may begin with the
// same bytes, so call it only if nothing else recognised the file. `name` decides if the bytes are ambiguous.
std::string_view foreign_lookalike(std::string_view head, std::string_view name);
// Decides by the names of a zip archive's members.
std::string_view archive_lookalike(std::span<const std::string> members);
// The kind of a weights file by its name, in a word or two ("GGUF"); empty if the name is unknown.
std::string_view foreign_weights(std::string_view file_name);

}  // namespace tare
