// How a test steers the driver of fake_cuda.cpp, and asks what it saw. In a library of its own: found with dlsym.
#pragma once

#include <cstddef>
#include <cstdint>

// What is there and has not been given back.
struct FakeLive {
  std::uint64_t allocations, pinned_bytes, streams, events, modules, contexts;
  std::uint64_t most_pinned_bytes, most_device_bytes;
  std::uint64_t copies, launches;
};

struct FakeCopy {
  std::uint64_t to, bytes;
};

extern "C" {
// As a fresh driver. Everything must have been given back.
void fake_cuda_reset();
// One device with so much memory; a driver of this version; each copy and kernel waits up to so many microseconds.
void fake_cuda_set(int devices, int version, std::uint64_t memory, unsigned delay);
// The call of this name that comes after `after` others fails, and so do those behind it, `times` in all.
void fake_cuda_fail(const char* function, int after, int code, int times);
void fake_cuda_live(FakeLive* live);
// What was done wrong, one sentence per line; the length.
std::size_t fake_cuda_violations(char* out, std::size_t room);
// The copies of this process, in the order in which they were done; the number.
std::size_t fake_cuda_copies(FakeCopy* out, std::size_t room);
}
