// Which owners of files are trusted.
#include "io/owner.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tare::io {
namespace {

constexpr uid_t kSomebody = 12345;

TEST(Owner, OursAndThoseOfRoot) {
  EXPECT_TRUE(is_trusted(::geteuid()));
  EXPECT_TRUE(is_trusted(0));
  EXPECT_FALSE(is_trusted(::geteuid() == kSomebody ? kSomebody + 1 : kSomebody));
  EXPECT_TRUE(is_known(kSomebody));
}

// Inside a user namespace without a mapping, we and all others have the overflow user id.
TEST(Owner, EverybodyOutsideOfAUserNamespaceHasTheSameNumber) {
  constexpr int kCannot = 77, kRight = 0, kWrong = 1;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWUSER) != 0) ::_exit(kCannot);
    ::_exit(is_trusted(::geteuid()) || is_known(::geteuid()) ? kWrong : kRight);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kCannot) GTEST_SKIP() << "there are no user namespaces here";
  EXPECT_EQ(WEXITSTATUS(status), kRight);
}

}  // namespace
}  // namespace tare::io
