// Texts that grow, of tare.run(...).session() and .stream().
#pragma once

#include "python.hpp"

namespace tare::py {

PyMethodDef* session_functions();

}  // namespace tare::py
