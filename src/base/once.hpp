// Runs some work once: the first caller does it while the others wait. If it throws, the next caller tries again.
// std::call_once promises the same, but with some C libraries, and under the thread sanitizer, a function that throws
// out of it hangs the next caller.
#pragma once

#include <atomic>
#include <mutex>

namespace tare {

class Once {
 public:
  template <typename Work>
  void run(const Work& work) {
    if (done_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    if (done_.load(std::memory_order_relaxed)) return;
    work();
    done_.store(true, std::memory_order_release);
  }

 private:
  std::atomic<bool> done_{false};
  std::mutex mutex_;
};

}  // namespace tare
