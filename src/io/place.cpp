#include "io/place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <iterator>
#include <utility>

#include "io/owner.hpp"
#include "io/remote/url.hpp"

namespace tare::io {
namespace {

constexpr int kMostLinks = 40;  // the same as in the kernel

// A link, held open: what is checked is what is read.
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

// If anyone may rename anything in the directory, our own link may have been moved there.
bool can_be_moved_in(const Directory& parent) {
  struct stat status {};
  return !parent.status(status) || ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0);
}

bool leads_to_a_file(const Directory& parent, const char* name) {
  struct stat status {};
  return ::fstatat(parent.descriptor(), name, &status, 0) == 0 && S_ISREG(status.st_mode);
}

bool is_read_only_file(const Directory& parent, const char* name) {
  struct stat status {};
  return parent.look(name, status) && S_ISREG(status.st_mode) && (status.st_mode & 0222) == 0;
}

// The directory's real path, whatever links led to it; as spelled if /proc is missing.
std::string path_of(const Directory& directory, const std::string& spelled) {
  std::string path(PATH_MAX, '\0');
  const std::string link = fmt::format("/proc/self/fd/{}", directory.descriptor());
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  if (length <= 0) return spelled;
  path.resize(static_cast<std::size_t>(length));
  return path;
}

bool is_in_store(const Directory& parent, const std::string& spelled, const std::string& name) {
  struct stat status {};
  if (parent.look(name.c_str(), status) && S_ISDIR(status.st_mode)) return false;
  return is_blob_name(spelled, name) || is_blob_name(path_of(parent, spelled), name);
}

}  // namespace

bool is_blob_name(std::string_view folder, std::string_view name) {
  constexpr std::string_view kBlobs = "blobs";
  constexpr std::size_t kLongestAlgorithm = 16;
  const auto last_of = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  const std::string_view above = folder.substr(0, std::min(folder.rfind('/'), folder.size()));
  const std::string_view last = last_of(folder);
  const auto is_digest = [](std::string_view a, std::string_view b) {
    constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
    constexpr std::size_t kSizes[] = {32, 40, 56,
                                      64, 96, 128};  // MD5, SHA-1 (git), SHA-2 and digests of the same sizes
    return std::ranges::find(kSizes, a.size() + b.size()) != std::end(kSizes) &&
           a.find_first_not_of(kDigits) == std::string_view::npos &&
           b.find_first_not_of(kDigits) == std::string_view::npos;
  };
  if (last.size() == 2 && is_digest(last, name)) return true;
  // Git LFS: the folders repeat the first digits.
  if (name.size() > 4 && last == name.substr(2, 2) && last_of(above) == name.substr(0, 2) && is_digest({}, name))
    return true;
  if (last == name && name.find("--") != std::string_view::npos) return true;
  if (last != kBlobs && last_of(above) != kBlobs) return false;
  if (const std::size_t end = name.find_first_of("-:"); end <= kLongestAlgorithm) name.remove_prefix(end + 1);
  return is_digest({}, name);
}

void refuse_blob(const Place& place, const std::string& path, std::string_view doing) {
  if (place.store != Store::blob || !place.parent.has(place.name.c_str())) return;
  throw Error(ErrorKind::usage, "io.sink.store",
              fmt::format("is a file of a content-addressed store: its name is the digest of its bytes, and others may "
                          "use it, so it is not {}; write a file elsewhere",
                          doing))
      .in(path)
      .blame(Subject::output);
}

Place find_place(const std::string& path, std::string_view rule, std::string_view doing, FollowLinks follow,
                 std::string_view refused) {
  check_path(path);
  if (is_remote(path))
    throw Error(ErrorKind::usage, "io.sink.remote", "is on a server; Tare reads from servers and changes nothing there")
        .in(path)
        .blame(Subject::output);
  const auto failed = [&](int code) {
    return system_error(code == ENOENT || refused.empty() ? rule : refused, doing, path, code);
  };
  Place place, last;  // `last`: the link that led to `place`
  bool last_is_of_proc = false;
  std::string rest = path.find_first_not_of('/') == std::string::npos && !path.empty() ? "/." : path;
  for (int links = 0; links <= kMostLinks; ++links) {
    // A relative link is resolved from its own directory.
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
    if (!next && errno == ENOENT && links == 0)
      throw Error(ErrorKind::not_found, rule, fmt::format("{}: the directory {} does not exist", doing, opened))
          .in(path)
          .blame(refused.empty() ? Subject::output : Subject::input);  // only inputs have a rule of their own
    if (!next || place.name.empty()) throw failed(next ? ENOENT : errno);
    last.parent = std::exchange(place.parent, std::move(next));
    if (dots) place.name.assign(1, '.');  // not = ".": GCC 12 warns of an overflow that does not exist
    if (dots) return place;
    const Link link(place.parent, place.name.c_str());
    // A link to a read-only file: it is probably kept for others, too.
    const bool kept = links > 0 && !last_is_of_proc && is_read_only_file(place.parent, place.name.c_str());
    if (kept || is_in_store(place.parent, opened, place.name)) {
      // A file cannot replace a link of /proc, so treat it as if the store's file had been named.
      place.store = links == 0 || last_is_of_proc ? Store::blob : Store::link;
      if (place.store == Store::blob) return place;
      place.parent = std::move(last.parent);
      place.name = std::move(last.name);
      return place;
    }
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
    last.name = place.name;
    last_is_of_proc = link.is_of_proc();
    rest = link.text();
    while (rest.size() > 1 && rest.back() == '/') rest.pop_back();
  }
  throw failed(ELOOP);
}

}  // namespace tare::io
