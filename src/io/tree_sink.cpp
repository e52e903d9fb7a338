#include "io/tree_sink.hpp"

#include <fmt/format.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "base/path_parts.hpp"
#include "base/printable.hpp"
#include "io/descriptor.hpp"
#include "io/file_sink.hpp"
#include "io/input_files.hpp"
#include "io/watched_tree.hpp"
#include "tare/error.hpp"

namespace tare::io {
namespace {

constexpr std::string_view kCreate = "io.tree.create", kCannotCreate = "cannot create a directory there";
// How long another conversion may take for its renames. A lock that is never released must not block forever.
constexpr auto kLockPatience = std::chrono::seconds(60);
constexpr auto kLockPause = std::chrono::milliseconds(10);

// A path that stays inside the directory and has no hidden part.
bool is_good_name(std::string_view name) {
  return stays_below(name) && !name.starts_with('.') && name.find("/.") == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

bool has_access_list(const Directory& directory) {
  for (const char* const kind : {"system.posix_acl_access", "system.posix_acl_default"})
    if (::fgetxattr(directory.descriptor(), kind, nullptr, 0) > 0) return true;
  return false;
}

}  // namespace

std::vector<std::string> find_leftovers(const std::string& path) {
  std::vector<std::string> leftovers;
  const Directory directory = Directory::open(path.c_str());
  if (!directory) return leftovers;
  try {
    for (const std::string& name : abandoned_staging_directories(directory)) {
      const Directory staging = directory.enter(name.c_str());
      if (!staging || staging.has(kGone)) continue;
      for (const char* const part : {kOld, kNew}) {  // if `old` exists, `new` is no longer complete
        if (!staging.enter(part)) continue;
        leftovers.push_back(fmt::format("{}/{}", name, part));
        break;
      }
    }
  } catch (const std::system_error&) {  // a directory that cannot be listed has no leftovers
  }
  return leftovers;
}

bool is_being_replaced(const std::string& path) {
  const Directory directory = Directory::open(path.c_str());
  try {
    return directory && is_being_replaced(directory);
  } catch (const std::system_error&) {
    return false;
  }
}

TreeSink::TreeSink(const std::string& path, TreeSinkOptions options)
    : path_(path), shown_(without_slashes(path)), options_(std::move(options)) {
  find_target();
  // A staging directory next to the target can be renamed as a whole. An empty target is filled from inside if we cannot write
  // to its parent, or if it has more properties than its name and mode.
  if (target_) whole_ = target_.is_empty() && can_be_replaced();
  if (!whole_) look_at_old_files();
  if (place_.name != ".") sweep_staging_directories(place_.parent, false);
  staging_.emplace(whole_ ? place_.parent : target_, kCreate, path_);
  if (staging_->directory().make(kPart, 0777)) part_ = staging_->directory().enter(kPart);
  if (!part_) throw system_error(kCreate, kCannotCreate, path_, errno);
}

void TreeSink::find_target() {
  place_ = find_place(shown_, kCreate, kCannotCreate);
  struct stat status {};
  if (place_.name == ".") {
    target_ = place_.parent.again();
  } else if (place_.parent.look(place_.name.c_str(), status)) {
    if (!S_ISDIR(status.st_mode))
      throw Error(ErrorKind::usage, "io.tree.file", "expected a directory, found a file")
          .in(path_)
          .blame(Subject::output);
    target_ = place_.parent.enter(place_.name.c_str());
    if (!target_) throw system_error(kCreate, "cannot look into the directory", path_, errno);
  } else if (errno != ENOENT) {
    throw system_error(kCreate, kCannotCreate, path_, errno);
  } else if (place_.link) {
    throw Error(ErrorKind::not_found, kCreate, "is a link to a directory that does not exist").in(path_);
  } else {
    return;
  }
  sweep_staging_directories(target_, false);
  try {
    if (!target_.names().empty() && !options_.overwrite) throw exists("exists already and is not empty");
  } catch (const std::system_error& error) {
    throw system_error(kCreate, "cannot look into the directory", path_, error.code().value());
  }
}

Error TreeSink::exists(std::string_view how) const {
  return Error(ErrorKind::usage, "io.tree.exists", how)
      .in(path_)
      .blame(Subject::output)
      .remedy(Remedy::overwrite, "directory");
}

bool TreeSink::can_be_replaced() const {
  struct stat above {
  }, mine{};
  return place_.name != "." && place_.parent.writable() && place_.parent.status(above) && target_.status(mine) &&
         above.st_dev == mine.st_dev && mine.st_uid == ::geteuid() && !has_access_list(target_);
}

void TreeSink::look_at_old_files() {
  if (options_.old_files == nullptr || !options_.overwrite) return;
  const OldFiles old = options_.old_files(target_);
  // The group of the new files.
  struct stat target {};
  const gid_t group = target_.status(target) && (target.st_mode & S_ISGID) != 0 ? target.st_gid : ::getegid();
  const auto add = [&](const std::string& name) {
    struct stat status {};
    const Directory folder = target_.walk(folders_of(name));
    if (!folder || !folder.look(base_of(name), status) || !S_ISREG(status.st_mode)) return;
    refuse_input(folder.descriptor(), base_of(name), fmt::format("{}/{}", shown_, name));
    const FileRights rights = rights_of(folder, base_of(name), status);
    old_modes_ = old_modes_.value_or(0777) & rights.mode;
    if (rights.group && *rights.group != group) old_modes_ = *old_modes_ & ~mode_t{0070};
  };
  for (const std::string& name : old.vital) add(name);
  for (const std::string& name : old.others) add(name);
}

std::optional<FileRights> TreeSink::rights_for(const std::string& name) const {
  struct stat status {};
  const Directory folder = whole_ ? Directory() : target_.walk(folders_of(name));
  if (folder && folder.look(base_of(name), status) && S_ISREG(status.st_mode))
    return rights_of(folder, base_of(name), status);
  if (!old_modes_) return std::nullopt;
  return FileRights{.mode = *old_modes_, .at_most = true};
}

std::unique_ptr<Sink> TreeSink::file(const std::string& name) {
  if (!is_good_name(name) || std::find(names_.begin(), names_.end(), name) != names_.end())
    throw Error(ErrorKind::usage, "io.tree.name",
                fmt::format("\"{}\" cannot be the name of a file in a directory", quote(name)))
        .in(path_)
        .blame(Subject::output);
  names_.push_back(name);
  const std::string shown = fmt::format("{}/{}", shown_, name);
  if (const Directory old = whole_ ? Directory() : target_.walk(folders_of(name)))
    refuse_input(old.descriptor(), base_of(name), shown);
  const Directory folder = part_.walk(folders_of(name), true);
  if (!folder) throw system_error(kCreate, kCannotCreate, shown, errno);
  return create_private_file({folder, base_of(name), shown, rights_for(name), options_.durable});
}

void TreeSink::expect(std::uint64_t bytes) const { expect_room(part_.descriptor(), bytes, path_); }

std::uint64_t TreeSink::bytes() const {
  std::uint64_t sum = 0;
  for (const std::string& name : names_) {
    struct stat status {};
    const Directory folder = part_.walk(folders_of(name));
    if (folder && folder.look(base_of(name), status)) sum += static_cast<std::uint64_t>(status.st_size);
  }
  return sum;
}

// Gives the new directory the mode and group of the empty one it replaces.
void TreeSink::take_over_mode() const {
  struct stat old {
  }, mine{};
  if (!target_ || !target_.status(old) || !part_.status(mine)) return;
  if (mine.st_gid != old.st_gid && ::fchown(part_.descriptor(), static_cast<uid_t>(-1), old.st_gid) != 0) return;
  (void)::fchmod(part_.descriptor(), old.st_mode & 07777);
}

bool TreeSink::move_whole() {
  if (target_) take_over_mode();
  struct stat old {
  }, mine{};
  const bool alike = !target_ || (target_.status(old) && part_.status(mine) && old.st_mode == mine.st_mode &&
                                  old.st_gid == mine.st_gid);
  if (!alike) return false;
  {
    const Changing changing;
    // rename replaces an empty directory, but nothing else.
    if (staging_->directory().rename(kPart, place_.parent, place_.name.c_str())) {
      staging_.reset();
      if (options_.durable && !place_.parent.sync())
        throw system_error("io.sink.sync", "cannot flush the directory to disk", path_, errno);
      return true;
    }
  }
  if (errno == ENOTEMPTY || errno == EEXIST) {
    if (options_.overwrite) return false;
    throw exists("was filled while it was being written");
  }
  // We may write into the directory but not replace it: fill it instead.
  if (target_) return false;
  throw system_error("io.tree.rename", "cannot rename into place", path_, errno);
}

// Moves what was to become the directory into an existing one, as its new files.
void TreeSink::move_inside() {
  Directory there = place_.parent.enter(place_.name.c_str());
  if (!there) throw system_error("io.tree.rename", "cannot rename into place", path_, errno);
  target_ = std::move(there);
  inner_.emplace(target_, "io.tree.rename", path_);
  if (!staging_->directory().rename(kPart, inner_->directory(), kPart))
    throw system_error("io.tree.rename", "cannot rename into place", path_, errno);
}

void TreeSink::lock_target() const {
  const auto until = std::chrono::steady_clock::now() + kLockPatience;
  while (target_.lock() == Locked::by_another) {
    if (std::chrono::steady_clock::now() > until)
      throw Error(ErrorKind::io, "io.tree.locked", "another program keeps the directory locked").in(path_);
    std::this_thread::sleep_for(kLockPause);
  }
}

// Throws if a file that is about to be replaced has changed since it was read; locks it until the end of the work.
std::vector<Descriptor> TreeSink::lock_watched(const OldFiles& old_files) const {
  const WatchedTree* const watched = WatchedTree::of(path_);
  if (watched == nullptr) return {};
  std::set<std::string> names(names_.begin(), names_.end());
  names.insert(old_files.vital.begin(), old_files.vital.end());
  names.insert(old_files.others.begin(), old_files.others.end());
  return watched->require_unchanged(target_, {names.begin(), names.end()}, shown_);
}

void TreeSink::move_files() {
  lock_target();
  if (place_.name != "." && !place_.parent.is_still(place_.name.c_str(), target_.descriptor()))
    throw system_error("io.tree.rename", "was moved away while it was being written", path_, ENOENT);
  StagingDirectory& staging = inner_ ? *inner_ : *staging_;
  if (!options_.overwrite)
    for (const std::string& name : target_.names())
      if (name != staging.name()) throw exists("was filled while it was being written");
  const OldFiles old_files = options_.old_files == nullptr ? OldFiles() : options_.old_files(target_);
  const std::vector<Descriptor> locks = lock_watched(old_files);
  TreeSwap(target_, staging, shown_, options_.durable).run(old_files, names_);
  inner_.reset();
  staging_.reset();
  sweep_staging_directories(target_, true);
}

// Each file has flushed its own folder; this flushes the folders above.
void TreeSink::sync_folders() const {
  if (!options_.durable) return;
  std::set<std::string_view> folders = {""};
  for (const std::string& name : names_)
    for (std::string_view above = folders_of(folders_of(name)); !above.empty(); above = folders_of(above))
      folders.insert(above);
  for (const std::string_view folder : folders)
    if (const Directory opened = part_.walk(folder); opened && !opened.sync())
      throw system_error("io.sink.sync", "cannot flush the directory to disk", path_, errno);
}

void TreeSink::commit() {
  process_.require(shown_);
  sync_folders();
  if (whole_ && move_whole()) return;
  if (whole_) move_inside();
  move_files();
}

}  // namespace tare::io
