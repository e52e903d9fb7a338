// A counter that long work advances from any thread and a display polls.
#pragma once

#include <atomic>
#include <cstdint>

namespace tare {

class Progress {
 public:
  void advance(std::uint64_t bytes) { done_.fetch_add(bytes, std::memory_order_relaxed); }
  std::uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  // The final value of `done`, set by the work as soon as it is known; 0 until then.
  void expect(std::uint64_t bytes) { expected_.store(bytes, std::memory_order_relaxed); }
  std::uint64_t expected() const { return expected_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> done_{0}, expected_{0};
};

}  // namespace tare
