// A lock that belongs to the whole process. `fork` copies a mutex as it is: one that another thread holds at that moment stays
// locked in the child for ever, because that thread does not exist there. So every such lock is taken before a fork and let go
// on both sides after it (pthread_atfork).
//
// For variables at namespace scope only, which are made when the program or the library is loaded: a variable inside a function
// has a lock of its own while it is being made, which cannot be taken before a fork (the test `tree.layers` refuses mutexes that are static
// variables anywhere else).
#pragma once

#include <cstdint>
#include <mutex>

namespace tare {

// In this order they are taken before a fork. Code that holds one may only take later ones.
enum class LockOrder : std::uint8_t { table, unfinished, gate, mappings };

class ProcessMutex {
 public:
  // `in_child`: called in the child of a fork, by its only thread, while the lock is held. May be null.
  explicit ProcessMutex(LockOrder order, void (*in_child)() = nullptr) noexcept;
  ProcessMutex(const ProcessMutex&) = delete;
  ProcessMutex& operator=(const ProcessMutex&) = delete;

  void lock() { mutex_.lock(); }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }
  // For std::condition_variable, which takes no other kind. In the child it has to be made again.
  std::mutex& plain() { return mutex_; }

 private:
  static void before_fork() noexcept;
  static void after_fork() noexcept;
  static void in_child() noexcept;

  std::mutex mutex_;
  const LockOrder order_;
  void (*const in_child_)();
  ProcessMutex* next_ = nullptr;  // in the order in which they are taken
};

}  // namespace tare
