#include "cost.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#if defined(__SANITIZE_ADDRESS__)
#define TARE_COUNTS_BY_HOOKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TARE_COUNTS_BY_HOOKS 1
#endif
#endif
#ifdef TARE_COUNTS_BY_HOOKS
// Functions of the sanitizer's runtime. GCC has them, too, but no header that declares them.
extern "C" {
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, std::size_t),
                                              void (*on_free)(const volatile void*));
std::size_t __sanitizer_get_allocated_size(const volatile void* block);
}
#else
#include <new>
#endif

// Counted by driver.cpp, if the build has it.
extern "C" __attribute__((weak)) std::uint64_t tare_fuzz_blocks;

namespace tare::fuzz {
namespace {

std::atomic<std::uint64_t> allocations{0}, allocated{0};
std::atomic<std::int64_t> live{0}, most_live{0};  // negative if memory that was allocated before is released

void took(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  allocated.fetch_add(size, std::memory_order_relaxed);
  const auto bytes = static_cast<std::int64_t>(size);
  const std::int64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  for (std::int64_t most = most_live.load(std::memory_order_relaxed); now > most;)
    if (most_live.compare_exchange_weak(most, now, std::memory_order_relaxed)) break;
}
void gave(std::size_t size) { live.fetch_sub(static_cast<std::int64_t>(size), std::memory_order_relaxed); }

#ifdef TARE_COUNTS_BY_HOOKS
void on_malloc(const volatile void*, std::size_t size) { took(size); }
void on_free(const volatile void* block) {
  if (block != nullptr) gave(__sanitizer_get_allocated_size(block));
}
const int kInstalled = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
#else
const int kInstalled = 1;  // uses the operators below
#endif

#ifdef TARE_COST_COUNTS_TIME
constexpr bool kTimeCounts = true;
#else
constexpr bool kTimeCounts = false;
#endif
// How much longer code may take here than in a release build. Adversarial files of 60 KB took up to 30 times as long
// with the address sanitizer, and up to 13 times with the thread sanitizer.
constexpr double kSlowness = 60;

std::uint64_t blocks() { return &tare_fuzz_blocks != nullptr ? tare_fuzz_blocks : 0; }

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Resets the counters, and restores them at the end; memory that is still held stays counted.
class Measurement {
 public:
  Measurement()
      : allocations_(allocations.exchange(0)),
        allocated_(allocated.exchange(0)),
        live_(live.exchange(0)),
        most_live_(most_live.exchange(0)),
        blocks_(blocks()),
        begin_(processor_seconds()) {}
  ~Measurement() {
    allocations = allocations_;
    allocated = allocated_;
    live += live_;
    most_live = std::max(most_live_, live.load());
  }
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  Cost cost() const {
    return {.allocations = allocations,
            .allocated = allocated,
            .held = static_cast<std::uint64_t>(std::max<std::int64_t>(most_live, 0)),
            .blocks = blocks() - blocks_,
            .seconds = processor_seconds() - begin_ - inside_};
  }
  // Excludes the time of an inner measurement.
  void exclude(double seconds) { inside_ += seconds; }

 private:
  std::uint64_t allocations_, allocated_;
  std::int64_t live_, most_live_;
  std::uint64_t blocks_;
  double begin_, inside_ = 0;
};

Measurement* outer = nullptr;  // not synchronized: targets measure on one thread

Cost cost_of(const std::function<void()>& action) {
  Measurement* const around = outer;
  const double begin = processor_seconds();
  Cost cost;
  {
    Measurement measurement;
    outer = &measurement;
    action();
    cost = measurement.cost();
  }
  outer = around;
  if (around != nullptr) around->exclude(processor_seconds() - begin);
  return cost;
}

void require(const char* what, std::size_t bytes, const char* of, double found, double most) {
  if (found <= most) return;
  std::fprintf(stderr, "cost: %s: input of %zu bytes: %.10g %s, at most %.10g allowed\n", what, bytes, found, of, most);
  std::abort();
}

}  // namespace

Cost allowed_cost(std::size_t bytes) {
  constexpr double kSmall = 64e3, kLarge = 5e6;
  const double size = static_cast<double>(bytes);
  const double larger = std::clamp((size - kSmall) / (kLarge - kSmall), 0.0, 1.0);
  const auto count = [&](double small, double large) {
    return static_cast<std::uint64_t>(small + larger * (large - small));
  };
  return {.allocations = count(1e6, 20e6),
          .allocated = count(500e6, 4e9),
          .held = count(50e6, 240e6),
          .blocks = count(2e9, 20e9),
          .seconds = kSlowness * (0.2 + larger * 1.8)};
}

void metered(const char* what, std::size_t bytes, const std::function<void()>& action, unsigned calls) {
  if (kInstalled == 0) std::abort();  // otherwise nothing would be counted
  const Cost most = allowed_cost(bytes);
  Cost cost = cost_of(action);
  static const bool kPrinted = std::getenv("TARE_FUZZ_COSTS") != nullptr;
  if (kPrinted)
    std::printf("%s: %zu bytes: %llu allocations, %llu bytes, %llu held, %llu blocks, %.3f s\n", what, bytes,
                static_cast<unsigned long long>(cost.allocations), static_cast<unsigned long long>(cost.allocated),
                static_cast<unsigned long long>(cost.held), static_cast<unsigned long long>(cost.blocks), cost.seconds);
  const auto require_count = [&](const char* of, std::uint64_t found, std::uint64_t limit) {
    require(what, bytes, of, static_cast<double>(found), static_cast<double>(calls * limit));
  };
  require_count("allocations", cost.allocations, most.allocations);
  require_count("bytes allocated", cost.allocated, most.allocated);
  require(what, bytes, "bytes held", static_cast<double>(cost.held), static_cast<double>(most.held));
  require_count("blocks of code entered", cost.blocks, most.blocks);
  if (!kTimeCounts) return;
  if (cost.seconds > calls * most.seconds) cost.seconds = std::min(cost.seconds, cost_of(action).seconds);
  require(what, bytes, "seconds of processor time", cost.seconds, calls * most.seconds);
}

}  // namespace tare::fuzz

#ifndef TARE_COUNTS_BY_HOOKS
// The other forms of new and delete call these. Allocations of C libraries are not counted.
void* operator new(std::size_t size) {
  void* const block = std::malloc(size == 0 ? 1 : size);
  if (block == nullptr) throw std::bad_alloc();
  tare::fuzz::took(::malloc_usable_size(block));
  return block;
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  void* block = nullptr;
  if (::posix_memalign(&block, std::max(static_cast<std::size_t>(alignment), sizeof(void*)), size == 0 ? 1 : size) != 0)
    throw std::bad_alloc();
  tare::fuzz::took(::malloc_usable_size(block));
  return block;
}
void operator delete(void* block) noexcept {
  if (block == nullptr) return;
  tare::fuzz::gave(::malloc_usable_size(block));
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
void operator delete(void* block, std::align_val_t) noexcept { operator delete(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { operator delete(block); }
#endif
