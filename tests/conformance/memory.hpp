// Measures memory use. It replaces operator new (see memory_test.cpp), except under a sanitizer, which has its own.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TARE_COUNTS_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TARE_COUNTS_MEMORY 0
#endif
#endif
#ifndef TARE_COUNTS_MEMORY
#define TARE_COUNTS_MEMORY 1
#endif

namespace tare::testing {

inline constexpr bool kCountsMemory = TARE_COUNTS_MEMORY != 0;

// Bytes in use now, and the peak since the last reset_memory_peak.
std::size_t memory_in_use();
std::size_t memory_peak();
void reset_memory_peak();

// The peak of `action`, beyond what was in use before it.
template <typename Action>
std::size_t peak_during(const Action& action) {
  const std::size_t before = memory_in_use();
  reset_memory_peak();
  action();
  return memory_peak() - before;
}

// Makes the n-th allocation from now on fail (counted from 0), once, and only in this thread. Negative: none.
void fail_allocation(int n);
// Whether it has failed.
bool allocation_failed();

}  // namespace tare::testing
