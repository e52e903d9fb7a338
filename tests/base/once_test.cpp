#include "base/once.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace tare {
namespace {

TEST(Once, IsDoneOnceByMany) {
  Once once;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { once.run([&] { ++count; }); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 1);
}

TEST(Once, IsTriedAgainAfterAnError) {
  Once once;
  int count = 0;
  const auto fail_first = [&] {
    if (++count == 1) throw std::runtime_error("the first time");
  };
  EXPECT_THROW(once.run(fail_first), std::runtime_error);
  once.run(fail_first);
  once.run(fail_first);
  EXPECT_EQ(count, 2);
}

}  // namespace
}  // namespace tare
