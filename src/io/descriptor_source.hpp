// A source from an open file: what was checked is what is read, wherever its path leads by now.
#pragma once

#include <string>

#include "io/descriptor.hpp"
#include "tare/source.hpp"

namespace tare::io {

// Reads with pread. Throws `io.open.not_a_file` for anything but a regular file.
SourcePtr descriptor_source(Descriptor file, std::string name);
// The same for a copy of a descriptor that the caller keeps.
SourcePtr source_of(int descriptor, std::string name);

}  // namespace tare::io
