// Measures and limits the cost of an input: a fuzz target fails if a small input takes much memory or much work.
//
// The limits are those of docs/security-audit.md: 0.2 s of processor time and 64 MB for files below 64 KB, 2 s and 256 MB for
// 5 MB. Counts of allocations are the same in every run, so exceeding them fails at once. Time depends on the machine
// and its load, so only fuzzers check it, never the tests that replay a corpus. The limit on time is multiplied to
// allow for sanitizers and emulators, and a slow input is run again: it fails only if it is slow twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace tare::fuzz {

struct Cost {
  std::uint64_t allocations = 0;  // number of allocations
  std::uint64_t allocated = 0;    // total bytes
  std::uint64_t held = 0;         // peak bytes held, beyond those held before
  std::uint64_t blocks = 0;  // blocks of code that were entered; 0 in builds that do not count them (driver.cpp does)
  double seconds = 0;        // processor time of all threads
};

Cost allowed_cost(std::size_t bytes);

// Runs `action`, which calls the library `calls` times with this input. If that costs more than `calls` times the limit
// for `bytes` bytes, prints one line with the numbers and aborts. Calls may be nested; the inner cost is not counted in
// the outer one. `action` is run twice if the first run was slow.
// With the environment variable TARE_FUZZ_COSTS, every cost is printed.
void metered(const char* what, std::size_t bytes, const std::function<void()>& action, unsigned calls = 1);

}  // namespace tare::fuzz
