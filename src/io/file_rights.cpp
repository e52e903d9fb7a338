#include "io/file_rights.hpp"

#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

#include "io/descriptor.hpp"

namespace tare::io {
namespace {

constexpr mode_t kGroup = 0070;

// With an access list, the group bits of the mode are its mask: the most that anyone on the list gets, not the group's.
bool may_have_list(const Directory& folder, const char* name) {
  const Descriptor file = folder.read(name);
  if (file) return ::fgetxattr(file.get(), "system.posix_acl_access", nullptr, 0) > 0;
  if (errno == ENOENT) return false;                   // removed by another process
  if (errno == EACCES || errno == EPERM) return true;  // not readable, even by its owner
  throw system_error("io.sink.create", "cannot look at the rights of the old file", name, errno);
}

}  // namespace

FileRights rights_of(const Directory& folder, const char* name, const struct stat& status) {
  FileRights rights{.mode = status.st_mode & 0777};
  if (status.st_uid != ::geteuid()) {
    rights.at_most = true;
    return rights;
  }
  rights.group = status.st_gid;
  if ((rights.mode & kGroup) != 0 && may_have_list(folder, name)) rights.mode &= ~kGroup;
  return rights;
}

mode_t first_mode(const std::optional<FileRights>& rights) noexcept {
  if (!rights) return 0666;
  return rights->at_most ? rights->mode & 0666 : 0600;
}

bool give_rights(int file, const std::optional<FileRights>& rights) noexcept {
  if (!rights || rights->at_most) return true;
  mode_t mode = rights->mode;
  struct stat now {};
  if (rights->group && (mode & kGroup) != 0) {
    if (::fstat(file, &now) != 0) return false;
    if (now.st_gid != *rights->group && ::fchown(file, static_cast<uid_t>(-1), *rights->group) != 0) mode &= ~kGroup;
  }
  return ::fchmod(file, mode) == 0;
}

}  // namespace tare::io
