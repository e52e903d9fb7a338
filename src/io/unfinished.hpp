// Unfinished files that must not remain if a signal ends the process, and the gate that every change of a name passes.
//
// A signal can arrive at any moment in any thread. So the thread that handles it does not unwind the others: it closes
// the gate, waits until no thread is in the middle of a change, discards what is unfinished and ends the process. A
// thread that reaches the closed gate waits for that end.
#pragma once

#include <functional>

namespace tare::io {

// While one lives, its thread is changing names on the disk, and `discard_unfinished` waits. Nests. Allocates nothing.
class Changing {
 public:
  Changing() noexcept;
  ~Changing();
  Changing(const Changing&) = delete;
  Changing& operator=(const Changing&) = delete;
};

// Something on the disk that is removed unless it is finished. The list of them allocates nothing.
class Unfinished {
 public:
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

 protected:
  Unfinished() = default;
  virtual ~Unfinished() { delist(); }
  // The derived class calls `enlist` once there is something to discard, and `delist` before it is destroyed.
  void enlist() noexcept;
  void delist() noexcept;
  // Called by another thread, while the gate is closed.
  virtual void discard() noexcept = 0;

 private:
  friend void discard_all() noexcept;
  friend void leave_to_parent() noexcept;
  Unfinished *before_ = nullptr, *after_ = nullptr;
  bool listed_ = false;
};

// Closes the gate permanently and discards everything.
void discard_all() noexcept;
// In the child of a fork: what was begun before it is the parent's to finish or to discard.
void leave_to_parent() noexcept;

// For tests: called before every change that directory.hpp makes, with the names of the system call and of the entry.
// If it returns an errno other than 0, the change fails with it instead of being made.
using StepHook = std::function<int(const char* call, const char* name)>;
void set_step_hook(StepHook hook);
// Calls the hook. Returns false, with errno set, if the change is to fail.
bool step(const char* call, const char* name) noexcept;

}  // namespace tare::io
