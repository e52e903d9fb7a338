// A file that is open already as a source: what was looked at is what is read, whatever its path leads to by now.
#pragma once

#include <string>

#include "io/descriptor.hpp"
#include "tare/source.hpp"

namespace tare::io {

// Reads with pread. Throws `io.open.not_a_file` for what is no regular file.
SourcePtr descriptor_source(Descriptor file, std::string name);

}  // namespace tare::io
