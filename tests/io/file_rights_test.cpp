// The permissions of a file that replaces another.
#include "io/file_rights.hpp"

#include <sys/xattr.h>
#include <unistd.h>

#include <array>

#include "conformance/models.hpp"

namespace tare {
namespace {

using namespace tare::testing;

class FileRights : public ::testing::Test {
 protected:
  FileRights() {
    put_file(path_, to_bytes("old"));
    struct stat status {};
    usual_ = ::stat(path_.c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
  }
  struct stat replaced() const {
    const auto sink = create_file(path_, {.overwrite = true});
    sink->write(to_bytes("new"));
    sink->commit();
    struct stat status {};
    EXPECT_EQ(::lstat(path_.c_str(), &status), 0);
    return status;
  }

  const Scratch scratch_{Scratch::fast_place()};
  const std::string path_ = scratch_ / "f";
  mode_t usual_ = 0;
};

TEST_F(FileRights, AreThoseOfTheFileInWhosePlaceItComes) {
  for (const mode_t mode : {0600U, 0640U, 0444U, 0777U}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    EXPECT_EQ(replaced().st_mode & 07777, mode);
  }
  ASSERT_EQ(::chmod(path_.c_str(), 04755), 0);
  EXPECT_EQ(replaced().st_mode & 07777, 0755U) << "new content has not earned setuid";
}

TEST_F(FileRights, TheGroupIsKept) {
  constexpr gid_t kOther = 1234;
  if (::chown(path_.c_str(), static_cast<uid_t>(-1), kOther) != 0) GTEST_SKIP() << "not root";
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  const struct stat status = replaced();
  EXPECT_EQ(status.st_gid, kOther);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST_F(FileRights, AFileOfAnotherUserOpensNothing) {
  if (::chown(path_.c_str(), 65534, static_cast<gid_t>(-1)) != 0) GTEST_SKIP() << "not root";
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  EXPECT_EQ(replaced().st_mode & 0777, usual_ & 0666);
  ASSERT_EQ(::chown(path_.c_str(), 65534, static_cast<gid_t>(-1)), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0600), 0);
  EXPECT_EQ(replaced().st_mode & 0777, 0600U) << "and what was closed stays closed";
}

// With an access list, the bits of the group are the list's mask.
TEST_F(FileRights, AnAccessListOpensNothing) {
  // Version 2; owner rw, user 1000 rw, group nothing, mask rw, others nothing: tag, rights, id.
  constexpr std::array<std::uint8_t, 44> kList = {2, 0,   0,   0,   1,   0,   6,  0, 255, 255, 255, 255, 2,   0,  6,
                                                  0, 232, 3,   0,   0,   4,   0,  0, 0,   255, 255, 255, 255, 16, 0,
                                                  6, 0,   255, 255, 255, 255, 32, 0, 0,   0,   255, 255, 255, 255};
  if (::setxattr(path_.c_str(), "system.posix_acl_access", kList.data(), kList.size(), 0) != 0)
    GTEST_SKIP() << "no access lists here";
  struct stat before {};
  ASSERT_EQ(::stat(path_.c_str(), &before), 0);
  ASSERT_EQ(before.st_mode & 0777, 0660U);
  EXPECT_EQ(replaced().st_mode & 0777, 0600U);
}

}  // namespace
}  // namespace tare
