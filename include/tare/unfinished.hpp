// For programs that a signal may end while they write.
#pragma once

#include "tare/export.hpp"

namespace tare {

// Call it from a separate thread (not from a signal handler) when the process is about to end. Waits for a commit in
// progress, then removes the uncommitted files of all sinks of this process. From then on no sink can commit: a thread
// that tries waits for the end of the process.
TARE_API void discard_unfinished() noexcept;

}  // namespace tare
