// Reads checkpoints of torch.save. The package's Python half makes the torch objects.
#pragma once

#include "python.hpp"

namespace tare::py {

PyObject* open_checkpoint(PyObject* module, PyObject* args);

}  // namespace tare::py
