// Long work, while progress is reported and Ctrl-C is heard.
#pragma once

#include <functional>

#include "python.hpp"
#include "tare/progress.hpp"

namespace tare::py {

using Job = std::function<void(Progress& progress)>;

// The job on a thread of its own, or on the caller's if the system has none left. The caller's thread looks after signals and
// calls `report(done, expected)`, unless it is None; if one of them raises, the job is stopped and the exception is passed on. The
// last call comes before an output gets its name, so that an exception never leaves one behind.
void run_job(PyObject* report, const Job& job);

// The job on the caller's thread, which looks after signals itself, between two pieces: where the bytes are in memory and only
// need to be copied, another core is a detour.
void run_here(const Job& job);

}  // namespace tare::py
