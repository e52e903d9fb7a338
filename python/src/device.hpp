// Tensors in GPU memory: layouts and loads as capsules, which the Python half wraps.
#pragma once

#include "python.hpp"

namespace tare::py {

PyMethodDef* device_functions();

}  // namespace tare::py
