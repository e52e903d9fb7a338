// Stops long work from outside: a person pressed Ctrl-C, or a window was closed.
#pragma once

#include <atomic>

#include "tare/export.hpp"

namespace tare {

// A stop request; any thread may set it. Must outlive the work that checks it.
class Stop {
 public:
  Stop() = default;
  virtual ~Stop() = default;
  void ask() noexcept { asked_.store(true, std::memory_order_relaxed); }
  bool asked() const noexcept { return asked_.load(std::memory_order_relaxed) || look(); }
  // The working thread calls this once, right before an output gets its name. Later it is too late to stop without an
  // output.
  bool asked_last() const noexcept { return asked() || look_last(); }

 private:
  // Override this if the request must be polled elsewhere. Every working thread calls it between two pieces of work.
  virtual bool look() const noexcept { return false; }
  virtual bool look_last() const noexcept { return false; }

  std::atomic<bool> asked_{false};
};

// While it lives, the library's work in this thread, and in the threads that the library starts for it, checks `stop`:
// soon after `stop.ask()`, between two pieces of a few MiB, the work ends with Error usage `work.stopped`. Like any
// error, that leaves no output. An output that is just being renamed into place is completed. The innermost Stoppable
// applies.
class TARE_API Stoppable {
 public:
  explicit Stoppable(const Stop& stop) noexcept;
  ~Stoppable();
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;

 private:
  const Stop* before_;
};

}  // namespace tare
