// Process-wide locks and `fork`: a child can take every lock, whichever thread of the parent held it.
#include "base/process_mutex.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace tare {
namespace {

std::atomic<int> told{0};
ProcessMutex inner_lock(LockOrder::mappings, [] { ++told; });
ProcessMutex outer_lock(LockOrder::table);

TEST(ProcessMutexDeathTest, IsFreeInTheChild) {
  for (ProcessMutex* const mutex : {&outer_lock, &inner_lock}) {
    std::atomic<bool> held{false}, forked{false};
    std::jthread holder([&] {
      while (!forked) {
        const std::scoped_lock lock(*mutex);
        held = true;
      }
    });
    while (!held) std::this_thread::yield();
    for (int i = 0; i < 50; ++i) {
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        ::alarm(60);
        const std::scoped_lock both(outer_lock, inner_lock);
        ::_exit(told == 1 ? 0 : 1);
      }
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    forked = true;
  }
  EXPECT_EQ(told, 0) << "the parent is told nothing";
}

std::atomic<bool> begun{false};
int slow_value() {
  static const int value = [] {
    begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return 7;
  }();
  return value;
}
const BeforeFork slow_before_fork([] { static_cast<void>(slow_value()); });

TEST(ProcessMutexDeathTest, AFirstUseEndsBeforeAFork) {
  std::jthread first([] { static_cast<void>(slow_value()); });
  while (!begun) std::this_thread::yield();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(60);
    const bool made = slow_value() == 7;
    first.detach();  // it ended before the fork; the thread sanitizer wants every thread joined or detached
    ::_exit(made ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// A fork waits for code that holds the outer lock and wants the inner one, not the other way round.
TEST(ProcessMutexDeathTest, AreTakenInTheirOrder) {
  std::atomic<bool> stop{false};
  std::jthread nested([&] {
    while (!stop) {
      const std::scoped_lock first(outer_lock);
      const std::scoped_lock second(inner_lock);
    }
  });
  for (int i = 0; i < 100; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
  }
  stop = true;
}

}  // namespace
}  // namespace tare
