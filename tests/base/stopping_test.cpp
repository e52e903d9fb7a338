#include "base/stopping.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "base/parallel.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

std::string rule_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.rule();
  }
  return "nothing";
}

TEST(Stopping, EveryThreadOfTheWorkListens) {
  for (const unsigned threads : {1U, 4U}) {
    Stop stop;
    const Stoppable here(stop);
    std::atomic<int> done{0};
    EXPECT_EQ(rule_of([&] {
                parallel_for(1000, threads, [&](std::size_t) {
                  if (++done == 10) stop.ask();
                });
              }),
              "work.stopped");
    EXPECT_LT(done.load(), 100);
    EXPECT_EQ(rule_of([&] {
                parallel_in_order(
                    1000, threads, 8, [](std::size_t, std::size_t) {}, [](std::size_t, std::size_t) {});
              }),
              "work.stopped");
    // Also in threads that a worker thread starts.
    EXPECT_EQ(rule_of([&] { parallel_for(2, threads, [](std::size_t) { parallel_for(2, 2, [](std::size_t) {}); }); }),
              "work.stopped");
  }
}

TEST(Stopping, OnlyWhoListensStopsAndOnlyMeanwhile) {
  Stop stop, other;
  stop.ask();
  const auto work = [] { parallel_for(10, 4, [](std::size_t) {}); };
  EXPECT_EQ(rule_of(work), "nothing");
  {
    const Stoppable here(stop);
    EXPECT_EQ(rule_of(work), "work.stopped");
    const Stoppable inner(other);
    EXPECT_EQ(rule_of(work), "nothing");
  }
  EXPECT_EQ(rule_of(work), "nothing");
  EXPECT_EQ(current_stop(), nullptr);
}

TEST(Stopping, TheLastQuestionComesOnceAndCanStop) {
  class StopsAtLastLook final : public Stop {
   public:
    mutable int looks = 0;

   private:
    bool look_last() const noexcept override { return ++looks == 2; }
  } stop;
  EXPECT_EQ(rule_of([] { check_last_stop(); }), "nothing");
  const Stoppable here(stop);
  EXPECT_EQ(rule_of([] { check_stop(); }), "nothing");
  EXPECT_EQ(stop.looks, 0);
  EXPECT_EQ(rule_of([] { check_last_stop(); }), "nothing");
  EXPECT_EQ(rule_of([] { check_last_stop(); }), "work.stopped");
  stop.ask();  // is enough, without a poll
  EXPECT_EQ(rule_of([] { check_last_stop(); }), "work.stopped");
  EXPECT_EQ(stop.looks, 2);
}

TEST(Stopping, AWishCanBeLookedFor) {
  class StopsAtThirdLook final : public Stop {
    bool look() const noexcept override { return ++looks_ >= 3; }
    mutable std::atomic<int> looks_{0};
  } stop;
  const Stoppable here(stop);
  int done = 0;
  EXPECT_EQ(rule_of([&] { parallel_for(10, 1, [&](std::size_t) { ++done; }); }), "work.stopped");
  EXPECT_EQ(done, 2);
}

}  // namespace
}  // namespace tare
