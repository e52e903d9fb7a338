// Bytes of a file or of memory as a Python object that others can look at and cannot change.
#pragma once

#include <memory>

#include "python.hpp"
#include "tare/source.hpp"
#include "tare/value.hpp"

namespace tare::py {

// Adds the type to the module.
void add_buffer_type(PyObject* module);

// `bytes` live as long as `owner` does.
Ref make_buffer(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

// The same bytes of a file as `view` shows, in memory that may be written to: pages are copied when they are changed, and the
// file is not. None where the file cannot be mapped.
Ref make_private_buffer(const SourcePtr& source, std::uint64_t offset, std::uint64_t length);

// A source over the bytes of a Python object, which it keeps.
SourcePtr source_over(PyObject* object, std::string name);

}  // namespace tare::py
