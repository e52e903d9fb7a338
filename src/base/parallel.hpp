// Work on all cores with plain threads.
//
// oneTBB would do this too, but a race checker cannot see into Debian's build of it, and every parallel loop of ours
// is coarse (a component, a 4 MiB chunk), so a shared counter is as fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace tare {

// Wherever a number of threads is given, fewer may run: as many as the system will start.

// 0 means all cores the process may use; anything else is taken as it is (at least 1).
unsigned thread_count(unsigned asked);

// Calls work(i) for every i in [0, count), lowest first, on up to `threads` threads, this one included. The first
// exception stops the handing out of further work and is rethrown here after all threads have ended.
void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

// Calls make(i) on many threads and then take(i) on one thread at a time, strictly in order of i. At most `window`
// items are between the two at any moment, so memory is bounded; make gets a slot number in [0, window) that no other
// item holds meanwhile. Exceptions as above.
void parallel_in_order(std::size_t count, unsigned threads, std::size_t window,
                       const std::function<void(std::size_t i, std::size_t slot)>& make,
                       const std::function<void(std::size_t i, std::size_t slot)>& take);

}  // namespace tare
