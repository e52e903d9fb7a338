// Runs long work while reporting progress and reacting to Ctrl-C.
#pragma once

#include <functional>

#include "python.hpp"
#include "tare/progress.hpp"

namespace tare::py {

using Job = std::function<void(Progress& progress)>;

// Runs the job on its own thread, or on the caller's if no thread can be created. The caller's thread handles signals
// and calls `report(done, expected)`, unless that is None. If one of them raises, the job is stopped and the exception
// is passed on. The last call is made before an output gets its name, so that an exception never leaves an output.
void run_job(PyObject* report, const Job& job);

// Runs the job on the caller's thread, which handles signals between two pieces. For jobs that only copy memory,
// another thread would not help.
void run_here(const Job& job);

}  // namespace tare::py
