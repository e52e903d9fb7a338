// What an input costs, and what it may cost: a fuzz target fails if a small input takes much memory or much work.
//
// The limits are those of docs/security.md: 0.2 s of processor time and 64 MB for files below 64 KB, 2 s and 256 MB for
// 5 MB. Counts of allocations are the same in every run, so they fail at once. Time depends on the machine and on what
// else runs there, so only fuzzers look at it, never the tests that replay a corpus. It is multiplied by what sanitizers
// and emulators make of it, and an input that takes too long is run once more: only one that is slow twice fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace tare::fuzz {

struct Cost {
  std::uint64_t allocations = 0;  // how many
  std::uint64_t allocated = 0;    // bytes of all of them
  std::uint64_t held = 0;         // bytes at most at one time, beyond those held before
  std::uint64_t blocks = 0;       // of code that were entered; 0 in builds that do not count them (driver.cpp does)
  double seconds = 0;             // of processor time, of all threads
};

Cost allowed_cost(std::size_t bytes);

// Runs `action`, which calls the library `calls` times with this input. If that costs more than `calls` times what an
// input of `bytes` bytes may cost, prints one line with the numbers and aborts. May be nested: what is measured inside is
// not counted outside. `action` is run twice if the first run was slow.
// With the environment variable TARE_FUZZ_COSTS every cost is printed.
void metered(const char* what, std::size_t bytes, const std::function<void()>& action, unsigned calls = 1);

}  // namespace tare::fuzz
