// The folder that holds the parts of a plan. It is opened once, because other users could create, link or replace a
// folder of that name.
#pragma once

#include "python.hpp"

namespace tare::py {

PyMethodDef* parts_functions();

}  // namespace tare::py
