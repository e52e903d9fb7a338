// Read-only Python buffers over bytes of a file or of memory.
#pragma once

#include <memory>

#include "python.hpp"
#include "tare/source.hpp"
#include "tare/value.hpp"

namespace tare::py {

// Adds the type to the module.
void add_buffer_type(PyObject* module);

// `owner` keeps `bytes` alive.
Ref make_buffer(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

// A range of a file in writable memory: pages are copied when they are changed, and the file is not changed. None if
// the file cannot be mapped.
Ref make_private_buffer(const SourcePtr& source, std::uint64_t offset, std::uint64_t length);

// A source over the bytes of a Python object, which it keeps alive.
SourcePtr source_over(PyObject* object, std::string name);

}  // namespace tare::py
