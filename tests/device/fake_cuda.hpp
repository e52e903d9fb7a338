// How a test controls the driver of fake_cuda.cpp and queries what it recorded. It is a separate library, whose
// functions are found with dlsym.
#pragma once

#include <cstddef>
#include <cstdint>

// What is allocated and not freed.
struct FakeLive {
  std::uint64_t allocations, pinned_bytes, streams, events, modules, contexts;
  std::uint64_t most_pinned_bytes, most_device_bytes;
  std::uint64_t copies, launches;
};

struct FakeCopy {
  std::uint64_t to, bytes;
};

extern "C" {
// Resets the driver. Everything must have been freed.
void fake_cuda_reset();
// Sets the number of devices, the version of the driver, the memory, and the delay of each copy and kernel, at most, in
// microseconds.
void fake_cuda_set(int devices, int version, std::uint64_t memory, unsigned delay);
// After `after` calls of this function, the next `times` calls fail.
void fake_cuda_fail(const char* function, int after, int code, int times);
void fake_cuda_live(FakeLive* live);
// The violations, one sentence per line; returns the length.
std::size_t fake_cuda_violations(char* out, std::size_t room);
// The copies of this process, in the order in which they ran; returns their number.
std::size_t fake_cuda_copies(FakeCopy* out, std::size_t room);
}
