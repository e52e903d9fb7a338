// How much of the machine a load may use.
#pragma once

#include <cstdint>

namespace tare::device {

// The number of reading threads: `asked`, or if that is 0, as many as saturate the link and as the process may use (by
// its affinity and the quota of its control group).
unsigned reader_threads(unsigned asked, bool verify);
// Bytes of pinned memory: `asked`, but at most an eighth of the control group's memory limit.
std::uint64_t pinned_budget(std::uint64_t asked);

}  // namespace tare::device
