#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tare {

// What a file is, in words, that is not what its name says: the wrong thing downloaded is the most common bad file there
// is. `head` is its first 64 bytes or more; empty when they are nothing well known.
std::string_view lookalike(std::string_view head);

// The same for weights of other programs, by their first bytes (300 or more), which may well be those of another file of
// numbers: for a file that nothing else is known of. `name` decides where the bytes leave it open.
std::string_view foreign_lookalike(std::string_view head, std::string_view name);
// By the names of a zip archive's members.
std::string_view archive_lookalike(std::span<const std::string> members);
// What a file with weights is by its name, in a word or two ("GGUF"); empty for one that is none of those.
std::string_view foreign_weights(std::string_view file_name);

}  // namespace tare
