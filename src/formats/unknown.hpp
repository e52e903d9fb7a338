// Words for what is no model that Tare reads.
#pragma once

#include <string>

#include "tare/error.hpp"
#include "tare/source.hpp"

namespace tare {

// What the bytes are, if they are a well-known thing that no file of ours begins like; empty: they may be anything.
std::string certain_words(const Source& source);
// Whether a zip archive has the members of another program's files.
bool is_foreign_archive(const Source& source);
// As far as can be told.
std::string words_for(const Source& source);
// For a directory that is no model: where in it models are, and what else is there.
std::string words_for_directory(const std::string& path);

}  // namespace tare
