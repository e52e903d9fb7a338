// For programs that a signal may end while they write.
#pragma once

#include "tare/export.hpp"

namespace tare {

// Called by a thread of its own (not by a signal handler) when the process is about to end: removes whatever sinks of this
// process have on the disk without having been committed, after waiting for a commit that is under way. From then on no
// sink gets a name any more: a thread that tries waits for the end of the process.
TARE_API void discard_unfinished() noexcept;

}  // namespace tare
