// A Source over a file on a server.
#pragma once

#include <string>

#include "tare/source.hpp"

namespace tare::io::remote {

// Opens the file at an address: https://, http:// or hf:. Throws `remote.*`.
SourcePtr open_remote(const std::string& address, Access access);

}  // namespace tare::io::remote
