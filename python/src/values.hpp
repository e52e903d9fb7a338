// Converts metadata between a tree of values and Python's dicts and lists.
#pragma once

#include "python.hpp"
#include "tare/value.hpp"

namespace tare::py {

Ref from_value(const Value& value);
Ref from_map(const Map& map);

// `path` is the position in the tree, for error messages ("metadata", then "metadata['a'][3]").
Value to_value(PyObject* object, const std::string& path, unsigned depth = 0);
Map to_map(PyObject* object, const std::string& path, unsigned depth = 0);

}  // namespace tare::py
