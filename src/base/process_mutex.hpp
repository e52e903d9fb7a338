// A lock that belongs to the whole process. `fork` copies a mutex in its current state: if another thread holds it at
// that moment, it stays locked in the child for ever, because that thread does not exist there. So every such lock is
// taken before a fork and released on both sides after it (pthread_atfork).
//
// Only for variables at namespace scope, which are constructed when the program or the library is loaded: the
// construction of a variable inside a function has a lock of its own, which cannot be taken before a fork (the test
// `tree.layers` refuses mutexes that are static variables anywhere else).
#pragma once

#include <cstdint>
#include <mutex>

namespace tare {

// The order in which the locks are taken before a fork. Code that holds one may take only later ones.
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
  // For std::condition_variable, which accepts no other type. The child must construct its condition variables again.
  std::mutex& plain() { return mutex_; }

 private:
  static void before_fork() noexcept;
  static void after_fork() noexcept;
  static void in_child() noexcept;

  std::mutex mutex_;
  const LockOrder order_;
  void (*const in_child_)();
  ProcessMutex* next_ = nullptr;  // the next in the order in which they are taken
};

// Completes the first use of a variable inside a function before a fork. Its construction has a lock of its own: if a
// thread is in the middle of it at the fork, the child would wait for that thread for ever. Only at namespace scope.
class BeforeFork {
 public:
  explicit BeforeFork(void (*use)()) noexcept;
  BeforeFork(const BeforeFork&) = delete;
  BeforeFork& operator=(const BeforeFork&) = delete;

 private:
  friend class ProcessMutex;
  void (*const use_)();
  BeforeFork* next_ = nullptr;
};

}  // namespace tare
