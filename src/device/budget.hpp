// How much of the machine a load may take.
#pragma once

#include <cstdint>

namespace tare::device {

// Threads that read: as asked for, or as many as bring the link to its limit and the process may use (by its affinity and
// the quota of its control group).
unsigned reader_threads(unsigned asked, bool verify);
// Pinned memory: as asked for, but no more than an eighth of what the control group may have.
std::uint64_t pinned_budget(std::uint64_t asked);

}  // namespace tare::device
