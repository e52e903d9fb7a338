// Long work on a thread of its own, so that the caller's can report progress and hear Ctrl-C.
#pragma once

#include <functional>

#include "python.hpp"
#include "tare/progress.hpp"

namespace tare::py {

using Job = std::function<void(Progress& progress)>;

// The caller's thread looks after signals and calls `report(done, expected)`, unless it is None; if one of them raises, the job
// is stopped and the exception is passed on.
void run_job(PyObject* report, const Job& job);

}  // namespace tare::py
