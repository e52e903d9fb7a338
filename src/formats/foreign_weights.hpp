// Recognises the weights of other programs. Tare cannot read these yet: the error should name the file's kind and what
// to do, not show its first eight bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tare {

// Describes the weights of another program by their first bytes (300 or more); empty if they are nothing well known.
// Other binary files may begin with the same bytes, so call it only if nothing else recognised the file. `name` decides
// if the bytes are ambiguous.
std::string_view foreign_lookalike(std::string_view head, std::string_view name);
// Decides by the names of a zip archive's members.
std::string_view archive_lookalike(std::span<const std::string> members);
// The kind of a weights file by its name, in a word or two ("GGUF"); empty if the name is unknown.
std::string_view foreign_weights(std::string_view file_name);

}  // namespace tare
