#include "io/place.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "io/owner.hpp"

namespace tare::io {
namespace {

constexpr int kMostLinks = 40;  // as the kernel

// A link, held open: what is looked at is what is read.
class Link {
 public:
  Link(const Directory& parent, const char* name)
      : opened_(::openat(parent.descriptor(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC)) {}

  bool is_link() const {
    struct stat status {};
    return opened_ && ::fstat(opened_.get(), &status) == 0 && S_ISLNK(status.st_mode);
  }
  bool is_trusted() const {
    struct stat status {};
    return ::fstat(opened_.get(), &status) == 0 && io::is_trusted(status.st_uid);
  }
  bool is_of_proc() const {
    struct statfs system {};
    return ::fstatfs(opened_.get(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
  }
  std::string text() const {
    std::string text(PATH_MAX, '\0');
    const ssize_t length = ::readlinkat(opened_.get(), "", text.data(), text.size());
    text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
    return text;
  }

 private:
  Descriptor opened_;
};

// Where anybody may rename anything, a link of ours may be there that we never put there.
bool can_be_moved_in(const Directory& parent) {
  struct stat status {};
  return !parent.status(status) || ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0);
}

bool leads_to_a_file(const Directory& parent, const char* name) {
  struct stat status {};
  return ::fstatat(parent.descriptor(), name, &status, 0) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

Place find_place(const std::string& path, std::string_view rule, std::string_view doing, FollowLinks follow) {
  check_path(path);
  Place place;
  std::string rest = path.find_first_not_of('/') == std::string::npos && !path.empty() ? "/." : path;
  for (int links = 0; links <= kMostLinks; ++links) {
    // A link is read from where it lies.
    const std::size_t slash = rest.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : rest.substr(0, slash);
    place.name = slash == std::string::npos ? rest : rest.substr(slash + 1);
    const bool dots = place.name == "." || place.name == "..";
    const std::string& opened = dots ? rest : folder;
    Directory next;
    if (place.parent && !rest.starts_with('/'))
      next = Directory(
          Descriptor(::openat(place.parent.descriptor(), opened.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    else
      next = Directory::open(opened.c_str());
    if (!next || place.name.empty()) throw system_error(rule, doing, path, next ? ENOENT : errno);
    place.parent = std::move(next);
    if (dots) place.name.assign(1, '.');  // not = ".": GCC 12 sees an overflow there that is none
    if (dots) return place;
    const Link link(place.parent, place.name.c_str());
    if (!link.is_link()) return place;
    const auto refuse = [&](std::string_view sentence) {
      return Error(ErrorKind::usage, "io.sink.link", sentence).in(path).blame(Subject::output);
    };
    if (follow == FollowLinks::no) throw refuse("is a link, which is not followed; remove it");
    if (!link.is_trusted())
      throw refuse("is a link of another user, which is not followed; name the place it leads to");
    if (can_be_moved_in(place.parent) && !link.is_of_proc())
      throw refuse(
          "is a link in a directory where anybody can put one, and is not followed; name the place it leads to");
    place.link = true;
    if (link.is_of_proc() && !leads_to_a_file(place.parent, place.name.c_str())) {
      place.magic = true;
      return place;
    }
    rest = link.text();
    while (rest.size() > 1 && rest.back() == '/') rest.pop_back();
  }
  throw system_error(rule, doing, path, ELOOP);
}

}  // namespace tare::io
