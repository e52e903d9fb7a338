#include "io/unfinished.hpp"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/forever.hpp"
#include "tare/unfinished.hpp"

namespace tare::io {
namespace {

struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  unsigned inside = 0;
  bool closed = false;
};

struct List {
  std::mutex mutex;
  Unfinished* first = nullptr;
};

// Never destroyed: threads may wait at the gate while the process ends.
Gate& gate() {
  static Forever<Gate> forever;
  return *forever;
}

List& list() {
  static Forever<List> forever;
  return *forever;
}

thread_local unsigned depth = 0;

std::atomic<bool> hooked{false};
StepHook& hook() {
  static Forever<StepHook> set;
  return *set;
}

}  // namespace

Changing::Changing() noexcept {
  if (depth++ > 0) return;
  Gate& at = gate();
  std::unique_lock lock(at.mutex);
  at.changed.wait(lock, [&] { return !at.closed; });
  ++at.inside;
}

Changing::~Changing() {
  if (--depth > 0) return;
  Gate& at = gate();
  const std::scoped_lock lock(at.mutex);
  if (--at.inside == 0) at.changed.notify_all();
}

void Unfinished::enlist() noexcept {
  const std::scoped_lock lock(list().mutex);
  if (std::exchange(listed_, true)) return;
  before_ = nullptr;
  after_ = list().first;
  if (after_ != nullptr) after_->before_ = this;
  list().first = this;
}

void Unfinished::delist() noexcept {
  const std::scoped_lock lock(list().mutex);
  if (!std::exchange(listed_, false)) return;
  (before_ != nullptr ? before_->after_ : list().first) = after_;
  if (after_ != nullptr) after_->before_ = before_;
}

void discard_all() noexcept {
  Gate& at = gate();
  {
    std::unique_lock lock(at.mutex);
    at.closed = true;
    at.changed.wait(lock, [&] { return at.inside == 0; });
  }
  ++depth;  // only this thread may still make changes
  const std::scoped_lock lock(list().mutex);
  for (Unfinished* each = list().first; each != nullptr; each = each->after_) each->discard();
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
