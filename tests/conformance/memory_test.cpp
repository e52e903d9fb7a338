// The counter of conformance/memory.hpp, and a test that it counts.
#include "conformance/memory.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

std::atomic<std::size_t> in_use{0}, peak{0};
thread_local int until_failure = -1;

}  // namespace

namespace tare::testing {

std::size_t memory_in_use() { return in_use.load(); }
std::size_t memory_peak() { return peak.load(); }
void reset_memory_peak() { peak.store(in_use.load()); }
void fail_allocation(int n) { until_failure = n; }
bool allocation_failed() { return until_failure < 0; }

}  // namespace tare::testing

#if TARE_COUNTS_MEMORY

namespace {

void* counted(void* block) {
  if (until_failure >= 0 && until_failure-- == 0) {
    std::free(block);
    block = nullptr;
  }
  if (block == nullptr) throw std::bad_alloc();
  const std::size_t now = in_use.fetch_add(::malloc_usable_size(block)) + ::malloc_usable_size(block);
  for (std::size_t most = peak.load(); now > most && !peak.compare_exchange_weak(most, now);) {
  }
  return block;
}

void give_back(void* block) {
  if (block != nullptr) in_use.fetch_sub(::malloc_usable_size(block));
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return counted(std::malloc(size == 0 ? 1 : size)); }
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto a = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(a, (size + a - 1) / a * a));
}
void* operator new[](std::size_t size, std::align_val_t alignment) { return operator new(size, alignment); }
void operator delete(void* block) noexcept { give_back(block); }
void operator delete[](void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t) noexcept { give_back(block); }
void operator delete(void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete[](void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }

namespace {

TEST(MemoryCounter, SeesWhatWasTakenAndGivenBack) {
  const std::size_t most = tare::testing::peak_during([] {
    const std::vector<char> block(std::size_t{1} << 20);
    asm volatile("" : : "r"(block.data()) : "memory");  // otherwise the compiler removes the allocation
  });
  EXPECT_GE(most, std::size_t{1} << 20);
  EXPECT_LT(most, std::size_t{2} << 20);
  EXPECT_LT(tare::testing::peak_during([] {}), std::size_t{1} << 12);
}

}  // namespace

#endif
