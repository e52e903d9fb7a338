#include "formats/amend_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "io/place.hpp"

namespace tare {
namespace {

bool same_file(int a, int b) {
  struct stat first {
  }, second{};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// Another program may have replaced the file between its opening and our lock.
bool has_no_name(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && status.st_nlink == 0;
}

// Some people keep an old version of a file by a hard link, so a file with several names must not change.
bool has_other_names(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && status.st_nlink > 1;
}

Error replaced(const std::string& path) {
  return Error(ErrorKind::io, "io.source.changed", "the file was replaced while it was edited").in(path);
}

Error locked(const std::string& path) {
  return Error(ErrorKind::io, "meta.locked", "another program is changing it; try again").in(path);
}

}  // namespace

io::Descriptor open_to_amend(const std::string& path, const Model& model) {
  if (model.sources.size() != 1) return {};
  constexpr std::string_view kDoing = "cannot open for changing";
  const io::Place place = io::find_place(path, "io.open.missing", kDoing, io::FollowLinks::ours, "io.open.refused");
  io::refuse_blob(place, path, "changed");
  if (place.store == io::Store::link) return {};  // it is replaced by a file of its own
  io::Descriptor file(
      ::openat(place.parent.descriptor(), place.name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    const int code = errno;
    // Writing a new file may be allowed
    if (code == EACCES || code == EPERM || code == EROFS || code == ETXTBSY) return {};
    throw io::system_error(code == ENOENT ? "io.open.missing" : "io.open.refused", kDoing, path, code);
  }
  if (!same_file(file.get(), model.sources.front()->descriptor())) return {};
  if (has_other_names(file.get())) return {};
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return {};  // the file system has no locks
    throw locked(path);
  }
  if (has_no_name(file.get())) throw replaced(path);
  model.check_sources();  // no other holder of the lock can have written since
  return file;
}

void require_writable_file(const std::string& path) {
  if (::access(path.c_str(), W_OK) == 0 || (errno != EACCES && errno != EROFS)) return;
  const int code = errno;
  // The link is replaced, and the file stays as it is.
  if (code == EACCES && io::find_place(path, "io.open.missing", "cannot look at").store == io::Store::link) return;
  throw Error(ErrorKind::io, "meta.readonly", "the file is read-only for you; make it writable, or convert it")
      .in(path);
}

io::Descriptor lock_to_rewrite(const std::string& path, const Model& model) {
  if (model.sources.size() != 1 || model.sources.front()->descriptor() < 0) return {};
  io::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return {};  // the writer reports the reason
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) throw locked(path);
  if (!same_file(file.get(), model.sources.front()->descriptor())) throw replaced(path);
  model.check_sources();
  return file;
}

}  // namespace tare
