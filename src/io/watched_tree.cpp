#include "io/watched_tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "tare/error.hpp"

namespace tare::io {
namespace {

thread_local WatchedTree* watched = nullptr;

// The files of a model are not deeper, and not more.
constexpr int kDeepest = 6;
constexpr std::size_t kMostFiles = 100'000;

}  // namespace

WatchedTree::Mark::Mark(const struct stat& status)
    : device(status.st_dev), number(status.st_ino), size(status.st_size), written(status.st_mtim) {}

bool WatchedTree::Mark::operator==(const Mark& other) const {
  return device == other.device && number == other.number && size == other.size &&
         written.tv_sec == other.written.tv_sec && written.tv_nsec == other.written.tv_nsec;
}

WatchedTree::WatchedTree(std::string path) : path_(std::move(path)), outer_(watched) {
  if (const Directory directory = Directory::open(path_.c_str())) record(directory, {}, 0);
  watched = this;
}

WatchedTree::~WatchedTree() { watched = outer_; }

const WatchedTree* WatchedTree::of(const std::string& path) {
  for (const WatchedTree* scope = watched; scope != nullptr; scope = scope->outer_)
    if (scope->path_ == path) return scope;
  return nullptr;
}

bool WatchedTree::look(const Directory& folder, const char* name, Entry& out) {
  struct stat status {};
  if (!folder || !folder.look(name, status) || S_ISDIR(status.st_mode)) return false;
  out.name = out.file = Mark(status);
  if (S_ISLNK(status.st_mode)) out.file = ::fstatat(folder.descriptor(), name, &status, 0) == 0 ? Mark(status) : Mark();
  return true;
}

void WatchedTree::record(const Directory& folder, const std::string& above, int depth) try {
  for (const std::string& name : folder.names()) {
    if (name.starts_with('.')) continue;
    if (entries_.size() == kMostFiles) {
      complete_ = false;
      return;
    }
    const std::string path = above.empty() ? name : fmt::format("{}/{}", above, name);
    if (Entry entry; look(folder, name.c_str(), entry)) {
      entries_.emplace(path, entry);
    } else if (const Directory inner = folder.enter(name.c_str())) {
      if (depth == kDeepest)
        complete_ = false;
      else
        record(inner, path, depth + 1);
    }
  }
} catch (const std::system_error&) {
  complete_ = false;  // a folder that cannot be listed
}

std::vector<Descriptor> WatchedTree::require_unchanged(const Directory& directory,
                                                       const std::vector<std::string>& names,
                                                       const std::string& shown) const {
  std::vector<Descriptor> locks;
  for (const std::string& name : names) {
    const auto failed = [&](std::string_view rule, std::string_view sentence) {
      return Error(ErrorKind::io, rule, sentence).in(fmt::format("{}/{}", shown, name));
    };
    const Directory folder = directory.walk(folders_of(name));
    if (Descriptor file = folder ? folder.read(base_of(name)) : Descriptor()) {
      if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw failed("meta.locked", "another program is changing it; try again");
      locks.push_back(std::move(file));
    }
    const auto recorded = entries_.find(name);
    if (recorded == entries_.end() && !complete_) continue;
    Entry now;
    const bool exists = look(folder, base_of(name), now);
    if (exists != (recorded != entries_.end()) || (exists && now != recorded->second))
      throw failed(
          "io.source.changed",
          "another program changed the file while its successor was written; it stays, and nothing was changed");
  }
  return locks;
}

}  // namespace tare::io
