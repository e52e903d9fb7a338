// The folder that the parts of a plan are kept in, opened once: anybody may plant a folder or a link of its name, or swap it.
#pragma once

#include "python.hpp"

namespace tare::py {

PyMethodDef* parts_functions();

}  // namespace tare::py
