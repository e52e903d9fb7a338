// Threads that spin briefly while they wait for work: one token takes dozens of steps of about ten microseconds each,
// too short to start or wake a thread for.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace tare {

class SpinPool {
 public:
  // Up to `threads` in total, including the caller's; fewer if the system cannot start that many.
  explicit SpinPool(unsigned threads);
  ~SpinPool();
  SpinPool(const SpinPool&) = delete;
  SpinPool& operator=(const SpinPool&) = delete;

  unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }

  // Calls work(i, thread) for every i in [0, count), on all threads, and returns after the last call. `thread` is below
  // threads(), and two calls with the same number never run at once. Items are handed out one by one, so a thread that
  // is delayed delays only its current item. `work` must not throw, nor call `run`.
  template <typename Work>
  void run(std::size_t count, const Work& work) {
    if (workers_.empty() || count <= 1) {
      for (std::size_t i = 0; i < count; ++i) work(i, 0u);
      return;
    }
    for (std::size_t first = 0; first < count; first += kMostItems) {
      const auto shifted = [&](std::size_t i, unsigned thread) { work(first + i, thread); };
      share({&shifted, [](const void* self, std::size_t i,
                          unsigned thread) { (*static_cast<const decltype(shifted)*>(self))(i, thread); }},
            std::min(kMostItems, count - first));
    }
  }

 private:
  struct Task {
    const void* self = nullptr;
    void (*call)(const void* self, std::size_t i, unsigned thread) = nullptr;
  };
  static constexpr std::size_t kMostItems = (std::size_t{1} << 20) - 1;

  void share(const Task& task, std::size_t count);
  bool take_one(unsigned thread);
  void serve(unsigned thread);

  // The job's number, its item count and the next item, in one word: the thread that advances it by compare-exchange
  // owns that item, and the job cannot end before the item is done.
  std::atomic<std::uint64_t> state_{0};
  std::atomic<std::size_t> done_{0};
  Task task_;
  std::atomic<bool> stop_{false};
  std::atomic<unsigned> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::jthread> workers_;  // last, because they use all of the above
};

}  // namespace tare
