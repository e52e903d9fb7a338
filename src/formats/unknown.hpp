// Descriptions of files and directories that Tare does not read as a model.
#pragma once

#include <string>

#include "tare/error.hpp"
#include "tare/source.hpp"

namespace tare {

// Returns what the bytes are, if they are of a well-known kind that no supported container begins like. Empty if the
// bytes may be anything.
std::string certain_words(const Source& source);
// Returns whether a zip archive has the members of another program's files.
bool is_foreign_archive(const Source& source);
// Describes the bytes as well as possible.
std::string words_for(const Source& source);
// Describes a directory that is not a model: which models it contains, and what else.
std::string words_for_directory(const std::string& path);

}  // namespace tare
