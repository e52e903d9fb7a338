#include "base/spin_pool.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/threads.hpp"

namespace tare {
namespace {

// About ten microseconds: longer than the gap between two steps, but short enough not to waste the core.
constexpr int kSpins = 4000;
// After these, yield the processor: on a busy machine the thread we wait for may need it.
constexpr int kSpinsBeforeYield = 2000;

constexpr unsigned kCountShift = 20, kJobShift = 40;
constexpr std::uint64_t kMask = (std::uint64_t{1} << kCountShift) - 1;

std::uint64_t index_of(std::uint64_t state) { return state & kMask; }
std::uint64_t count_of(std::uint64_t state) { return state >> kCountShift & kMask; }
bool has_work(std::uint64_t state) { return index_of(state) < count_of(state); }

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

}  // namespace

SpinPool::SpinPool(unsigned threads)
    : workers_(tare::start_threads(std::max(threads, 1U) - 1, [this](unsigned t) { serve(t + 1); })) {}

SpinPool::~SpinPool() {
  {
    const std::scoped_lock lock(mutex_);
    stop_.store(true);
  }
  wake_.notify_all();
  workers_.clear();
}

bool SpinPool::take_one(unsigned thread) {
  std::uint64_t state = state_.load(std::memory_order_acquire);
  do {
    if (!has_work(state)) return false;
  } while (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_acquire));
  task_.call(task_.self, index_of(state), thread);
  done_.fetch_add(1, std::memory_order_release);
  return true;
}

void SpinPool::share(const Task& task, std::size_t count) {
  task_ = task;
  done_.store(0, std::memory_order_relaxed);
  const std::uint64_t job = (state_.load(std::memory_order_relaxed) >> kJobShift) + 1;
  state_.store(job << kJobShift | std::uint64_t{count} << kCountShift, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) != 0) {
    const std::scoped_lock lock(mutex_);
    wake_.notify_all();
  }
  while (take_one(0)) {
  }
  for (int spins = 0; done_.load(std::memory_order_acquire) != count; ++spins) {
    if (spins < kSpinsBeforeYield)
      pause();
    else
      std::this_thread::yield();
  }
}

void SpinPool::serve(unsigned thread) {
  for (;;) {
    int spins = 0;
    while (!take_one(thread)) {
      if (stop_.load(std::memory_order_relaxed)) return;
      if (++spins < kSpins) {
        pause();
        continue;
      }
      std::unique_lock lock(mutex_);
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      wake_.wait(lock, [&] { return stop_.load() || has_work(state_.load(std::memory_order_seq_cst)); });
      sleepers_.fetch_sub(1, std::memory_order_seq_cst);
      spins = 0;
    }
  }
}

}  // namespace tare
