// Long work: save, convert, verify, hash, diff. It runs on its own thread, so that the caller's thread can report
// progress and react to Ctrl-C.
#pragma once

#include "python.hpp"

namespace tare::py {

PyMethodDef* work_functions();

}  // namespace tare::py
