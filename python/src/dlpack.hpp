// Exports elements to other array libraries by the DLPack protocol.
#pragma once

#include "python.hpp"

namespace tare::py {

// _dlpack(bytes, shape, code, bits, versioned, read_only): a capsule that keeps `bytes`, an object with a buffer,
// alive.
PyObject* make_dlpack(PyObject* module, PyObject* args);

// _device_dlpack(address, device_type, device_id, shape, code, bits, versioned, owner): a capsule over device memory
// that keeps `owner` alive.
PyObject* make_device_dlpack(PyObject* module, PyObject* args);

}  // namespace tare::py
