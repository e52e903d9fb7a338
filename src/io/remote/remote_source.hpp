// A Source over a file on a server.
#pragma once

#include <string>

#include "tare/source.hpp"

namespace tare::io::remote {

// Opens the file at an address: https://, http:// or hf:. Throws `remote.*`.
SourcePtr open_remote(const std::string& address, Access access);

// Raises the budget of this thread, if it has one, by the bytes of a source with the name of an address: once for each name. It is
// called when a file is opened, and again by what reads it, which may have begun a budget since.
void grant_remote(const Source& source);

}  // namespace tare::io::remote
