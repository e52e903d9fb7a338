// tare.run and tare.compare.
#pragma once

#include "python.hpp"

namespace tare::py {

PyMethodDef* run_functions();

}  // namespace tare::py
