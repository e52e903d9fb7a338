// Runs work on all cores with plain threads.
//
// oneTBB is not used because a race checker cannot see into Debian's build of it. Every parallel loop here is coarse (a
// component, a 4 MiB chunk), so a shared counter is as fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace tare {

// Wherever a number of threads is given, fewer may run if the system cannot start that many.

// 0 means all cores that the process may use; any other number is returned unchanged.
unsigned thread_count(unsigned asked);

// Calls work(i) for every i in [0, count), lowest first, on up to `threads` threads, including this one. After the
// first exception no further work begins; it is rethrown here after all threads have ended.
void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

// Calls make(i) on many threads, then take(i) on one thread at a time, strictly in order of i. At most `window` items
// are between the two, so memory is bounded; `make` gets a slot number in [0, window) that no other item uses at that
// time. Exceptions as above.
void parallel_in_order(std::size_t count, unsigned threads, std::size_t window,
                       const std::function<void(std::size_t i, std::size_t slot)>& make,
                       const std::function<void(std::size_t i, std::size_t slot)>& take);

}  // namespace tare
