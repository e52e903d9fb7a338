// Ending long work from outside: because a person pressed Ctrl-C, or a window was closed.
#pragma once

#include <atomic>

#include "tare/export.hpp"

namespace tare {

// A wish that any thread may utter. Must outlive the work that listens to it.
class Stop {
 public:
  Stop() = default;
  virtual ~Stop() = default;
  void ask() noexcept { asked_.store(true, std::memory_order_relaxed); }
  bool asked() const noexcept { return asked_.load(std::memory_order_relaxed) || look(); }
  // Asked once, by the thread that does the work, right before an output gets its name: the last moment at which stopping
  // leaves nothing behind.
  bool asked_last() const noexcept { return asked() || look_last(); }

 private:
  // Where the wish has to be looked for: called between two pieces of the work, by every thread that does it.
  virtual bool look() const noexcept { return false; }
  virtual bool look_last() const noexcept { return false; }

  std::atomic<bool> asked_{false};
};

// While it lives, what this thread does in the library, and the threads that the library starts for it, listen: soon after
// `stop.ask()`, between two pieces of a few MiB, the work ends with Error usage `work.stopped`. Like every error, that leaves
// no output behind. An output that is about to get its name gets it. The innermost one counts.
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
