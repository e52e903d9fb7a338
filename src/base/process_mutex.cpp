#include "base/process_mutex.hpp"

#include <pthread.h>

namespace tare {
namespace {

// Both are ready before any constructor runs.
constinit std::mutex all_mutex;
constinit ProcessMutex* all = nullptr;
constinit BeforeFork* all_uses = nullptr;

}  // namespace

ProcessMutex::ProcessMutex(LockOrder order, void (*reset)()) noexcept : order_(order), in_child_(reset) {
  const std::scoped_lock lock(all_mutex);
  if (all == nullptr) static_cast<void>(::pthread_atfork(before_fork, after_fork, ProcessMutex::in_child));
  ProcessMutex** place = &all;
  while (*place != nullptr && (*place)->order_ <= order) place = &(*place)->next_;
  next_ = *place;
  *place = this;
}

BeforeFork::BeforeFork(void (*use)()) noexcept : use_(use) {
  const std::scoped_lock lock(all_mutex);
  next_ = all_uses;
  all_uses = this;
}

void ProcessMutex::before_fork() noexcept {
  for (const BeforeFork* each = all_uses; each != nullptr; each = each->next_) try {
      each->use_();
    } catch (...) {  // NOLINT(bugprone-empty-catch): without memory it is not constructed, in the child neither
    }
  all_mutex.lock();
  for (ProcessMutex* each = all; each != nullptr; each = each->next_) each->lock();
}

void ProcessMutex::after_fork() noexcept {
  for (ProcessMutex* each = all; each != nullptr; each = each->next_) each->unlock();
  all_mutex.unlock();
}

void ProcessMutex::in_child() noexcept {
  for (ProcessMutex* each = all; each != nullptr; each = each->next_)
    if (each->in_child_ != nullptr) each->in_child_();
  after_fork();
}

}  // namespace tare
