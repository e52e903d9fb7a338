// Elements for other array libraries, by the DLPack protocol.
#pragma once

#include "python.hpp"

namespace tare::py {

// _dlpack(bytes, shape, code, bits, versioned, read_only): a capsule that keeps `bytes`, an object with a buffer.
PyObject* make_dlpack(PyObject* module, PyObject* args);

}  // namespace tare::py
