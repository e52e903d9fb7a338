// What torch.load makes of a checkpoint, made by the package's Python half.
#pragma once

#include "python.hpp"

namespace tare::py {

PyObject* open_checkpoint(PyObject* module, PyObject* args);

}  // namespace tare::py
