#include "io/resolve.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>

#include "base/budget.hpp"

namespace tare::io {
namespace {

constexpr int kMostFollowed = 40;  // the same as in the kernel
// A link of the hub's cache has four names (../../blobs/DIGEST), one of git-annex nine.
constexpr std::uint64_t kFreeNames = 16;
// A name takes a system call or two, a step a few nanoseconds.
constexpr std::uint64_t kNamePrice = 32;

class Walk {
 public:
  Walk(std::string done, std::string_view rest) : done_(std::move(done)), rest_(rest) {}

  std::string run(std::error_code& failed) {
    failed.clear();
    for (std::string_view name; take(name);) {
      if (links_ > 0 && ++names_ > kFreeNames) charge_steps(kNamePrice);
      if (const int why = step(std::string(name))) {
        failed = std::error_code(why, std::generic_category());
        return {};
      }
    }
    return done_.empty() ? "/" : std::move(done_);
  }

 private:
  // Takes the next name off the rest, without the slashes before it. False at the end.
  bool take(std::string_view& name) {
    const std::size_t first = rest_.find_first_not_of('/', at_);
    if (first == std::string::npos) return false;
    const std::size_t end = std::min(rest_.find('/', first), rest_.size());
    name = std::string_view(rest_).substr(first, end - first);
    at_ = end;
    return true;
  }

  // 0, or the reason why the path leads nowhere.
  int step(const std::string& name) {
    const bool last = rest_.find_first_not_of('/', at_) == std::string::npos;
    if (name == ".") return 0;
    if (name == "..") {
      done_.resize(std::min(done_.rfind('/'), done_.size()));
      return 0;
    }
    const std::string path = done_ + '/' + name;
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return errno;
    if (S_ISLNK(status.st_mode)) return follow(path);
    const bool folder_wanted = !last || at_ < rest_.size();
    if (folder_wanted && !S_ISDIR(status.st_mode)) return ENOTDIR;
    done_ = path;
    return 0;
  }

  int follow(const std::string& path) {
    if (++links_ > kMostFollowed) return ELOOP;
    std::array<char, PATH_MAX> text;
    const ssize_t length = ::readlink(path.c_str(), text.data(), text.size());
    if (length <= 0) return length == 0 ? ENOENT : errno;
    std::string rest(text.data(), static_cast<std::size_t>(length));
    if (rest.front() == '/') done_.clear();
    rest.append(rest_, at_);
    rest_ = std::move(rest);
    at_ = 0;
    return 0;
  }

  std::string done_, rest_;  // what is resolved, without a slash at the end; what is not, from at_ on
  std::size_t at_ = 0;
  std::uint64_t names_ = 0;  // in the texts of links, and after the first one
  int links_ = 0;
};

}  // namespace

std::string resolved(const std::string& path, std::error_code& failed) {
  std::string start;
  if (!path.starts_with('/')) {
    std::array<char, PATH_MAX> here;
    if (path.empty() || ::getcwd(here.data(), here.size()) == nullptr) {
      failed = std::error_code(path.empty() ? ENOENT : errno, std::generic_category());
      return {};
    }
    start = here.data();
    if (start == "/") start.clear();
  }
  return Walk(std::move(start), path).run(failed);
}

std::string resolved_below(const std::string& resolved_directory, std::string_view path, std::error_code& failed) {
  return Walk(resolved_directory == "/" ? std::string() : resolved_directory, path).run(failed);
}

void charge_links(const Directory& directory, const std::string& path, const std::vector<std::string>& names) {
  const Spending spending;  // some look into a directory before they open the model
  std::string start;
  for (const std::string& name : names) {
    struct stat status {};
    if (!directory.look(name.c_str(), status) || !S_ISLNK(status.st_mode)) continue;
    std::error_code failed;
    if (start.empty()) start = resolved(path, failed);
    if (!failed) resolved_below(start, name, failed);
  }
}

}  // namespace tare::io
