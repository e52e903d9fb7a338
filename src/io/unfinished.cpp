#include "io/unfinished.hpp"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <new>
#include <utility>

#include "base/forever.hpp"
#include "base/process_mutex.hpp"
#include "tare/unfinished.hpp"

namespace tare::io {
namespace {

struct Gate {
  std::condition_variable changed;
  unsigned inside = 0;
  bool closed = false;
};

// Threads may wait at the gate while the process ends.
Forever<Gate> the_gate;
Unfinished* first_unfinished = nullptr;

thread_local unsigned depth = 0;

// The threads that were inside, or waited, are threads of the parent.
void reopen_gate() {
  ::new (static_cast<void*>(&*the_gate)) Gate;
  (*the_gate).inside = depth > 0 ? 1 : 0;
}

ProcessMutex gate_mutex(LockOrder::gate, reopen_gate);
ProcessMutex list_mutex(LockOrder::unfinished, leave_to_parent);

std::atomic<bool> hooked{false};
StepHook& hook() {
  static Forever<StepHook> set;
  return *set;
}

}  // namespace

Changing::Changing() noexcept {
  if (depth++ > 0) return;
  Gate& at = *the_gate;
  std::unique_lock lock(gate_mutex.plain());
  at.changed.wait(lock, [&] { return !at.closed; });
  ++at.inside;
}

Changing::~Changing() {
  if (--depth > 0) return;
  Gate& at = *the_gate;
  const std::scoped_lock lock(gate_mutex);
  if (--at.inside == 0) at.changed.notify_all();
}

void Unfinished::enlist() noexcept {
  const std::scoped_lock lock(list_mutex);
  if (std::exchange(listed_, true)) return;
  before_ = nullptr;
  after_ = first_unfinished;
  if (after_ != nullptr) after_->before_ = this;
  first_unfinished = this;
}

void Unfinished::delist() noexcept {
  const std::scoped_lock lock(list_mutex);
  if (!std::exchange(listed_, false)) return;
  (before_ != nullptr ? before_->after_ : first_unfinished) = after_;
  if (after_ != nullptr) after_->before_ = before_;
}

void leave_to_parent() noexcept {
  for (Unfinished* each = std::exchange(first_unfinished, nullptr); each != nullptr; each = each->after_)
    each->listed_ = false;
}

void discard_all() noexcept {
  Gate& at = *the_gate;
  {
    std::unique_lock lock(gate_mutex.plain());
    at.closed = true;
    at.changed.wait(lock, [&] { return at.inside == 0; });
  }
  ++depth;  // this thread alone still changes things
  const std::scoped_lock lock(list_mutex);
  for (Unfinished* each = first_unfinished; each != nullptr; each = each->after_) each->discard();
  --depth;
}

void set_step_hook(StepHook next) {
  hooked.store(false);
  hook() = std::move(next);
  hooked.store(hook() != nullptr);
}

bool step(const char* call, const char* name) noexcept {
  if (!hooked.load(std::memory_order_relaxed)) return true;
  const int code = hook()(call, name);
  if (code == 0) return true;
  errno = code;
  return false;
}

}  // namespace tare::io

void tare::discard_unfinished() noexcept { io::discard_all(); }
