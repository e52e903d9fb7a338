#include "base/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/stopping.hpp"
#include "base/threads.hpp"

namespace tare {
namespace {

// Runs `body` on up to `threads` threads, including this one, and rethrows the first exception after all have ended.
// Calls `stop`, without a lock held, when one of them throws.
void run_on(unsigned threads, const std::function<void()>& body, const std::function<void()>& stop) {
  std::exception_ptr first;
  std::mutex mutex;
  const auto guarded = [&] {
    try {
      body();
    } catch (...) {
      {
        const std::scoped_lock lock(mutex);
        if (!first) first = std::current_exception();
      }
      stop();
    }
  };
  {
    const std::vector<std::jthread> others = start_threads(threads - 1, [&](unsigned) { guarded(); });
    guarded();
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace

unsigned thread_count(unsigned asked) {
  if (asked != 0) return asked;
  // The cores that a container or taskset allows, not all cores of the machine.
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1u, std::thread::hardware_concurrency());
}

void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work) {
  threads = static_cast<unsigned>(std::min<std::size_t>(thread_count(threads), count));
  if (threads <= 1) {
    for (std::size_t i = 0; i < count; ++i) {
      check_stop();
      work(i);
    }
    return;
  }
  std::atomic<std::size_t> next{0};
  run_on(
      threads,
      [&] {
        for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
          check_stop();
          work(i);
        }
      },
      [&] { next.store(count, std::memory_order_relaxed); });
}

void parallel_in_order(std::size_t count, unsigned threads, std::size_t window,
                       const std::function<void(std::size_t, std::size_t)>& make,
                       const std::function<void(std::size_t, std::size_t)>& take) {
  threads = static_cast<unsigned>(std::min<std::size_t>({thread_count(threads), count, window}));
  if (threads <= 1) {
    for (std::size_t i = 0; i < count; ++i) {
      check_stop();
      make(i, 0);
      take(i, 0);
    }
    return;
  }
  // The slot that was freed last is used next: its memory is still in the cache, and slots that are never needed are
  // never touched.
  constexpr std::size_t kNone = SIZE_MAX;
  std::vector<std::size_t> free_slots(window);
  for (std::size_t s = 0; s < window; ++s) free_slots[s] = window - 1 - s;
  std::vector<std::size_t> made(window, kNone);  // item i % window: the slot in which it waits to be taken
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t next_make = 0, next_take = 0;
  bool taking = false, stopped = false;

  run_on(
      threads,
      [&] {
        std::unique_lock lock(mutex);
        for (;;) {
          if (stopped) return;
          if (!taking && next_take < count && made[next_take % window] != kNone) {
            taking = true;
            while (!stopped && next_take < count && made[next_take % window] != kNone) {
              const std::size_t i = next_take, slot = std::exchange(made[i % window], kNone);
              lock.unlock();
              take(i, slot);
              lock.lock();
              free_slots.push_back(slot);
              ++next_take;
              changed.notify_all();
            }
            taking = false;
            continue;
          }
          if (next_make < count && next_make < next_take + window) {
            const std::size_t i = next_make++, slot = free_slots.back();
            free_slots.pop_back();
            lock.unlock();
            check_stop();
            make(i, slot);
            lock.lock();
            made[i % window] = slot;
            changed.notify_all();
            continue;
          }
          if (next_take >= count) return;
          changed.wait(lock);
        }
      },
      [&] {
        const std::scoped_lock lock(mutex);
        stopped = true;
        changed.notify_all();
      });
}

}  // namespace tare
