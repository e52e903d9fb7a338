// Long work: save, convert, verify, hash, diff. It runs on a thread of its own, so that the caller's can report progress and
// hear Ctrl-C.
#pragma once

#include "python.hpp"

namespace tare::py {

PyMethodDef* work_functions();

}  // namespace tare::py
