#include "io/tree_sink.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "io/descriptor.hpp"
#include "tare/error.hpp"

namespace tare::io {
namespace {

namespace fs = std::filesystem;

// A path that stays inside the directory.
bool is_inside(std::string_view name) {
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string_view::npos) return false;
    at = end + 1;
  }
  return true;
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

constexpr std::string_view kHidden = ".tare-XXXXXX";

// Taken by the process that works there, and let go by its end, however it comes.
Descriptor try_lock(const std::string& directory) {
  Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (opened && ::flock(opened.get(), LOCK_EX | LOCK_NB) != 0) opened.reset();
  return opened;
}

// Hidden directories that nobody works in any more.
std::vector<fs::path> abandoned_in(const std::string& directory) {
  constexpr std::string_view kPrefix = kHidden.substr(0, kHidden.find('X'));
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name.size() == kHidden.size() && name.starts_with(kPrefix) && try_lock(entry->path().string()))
      found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

dev_t device_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_dev : 0;
}

}  // namespace

std::vector<std::string> find_leftovers(const std::string& directory) {
  std::vector<std::string> leftovers;
  for (const fs::path& hidden : abandoned_in(directory))
    for (const char* const part : {kOld, kNew}) {  // with `old` there, `new` is no longer whole
      std::error_code failed;
      if (!fs::is_directory(hidden / part, failed)) continue;
      leftovers.push_back(hidden.filename().string() + "/" + part);
      break;
    }
  return leftovers;
}

TreeSink::TreeSink(const std::string& path, TreeSinkOptions options) : path_(path), options_(std::move(options)) {
  target_ = without_slashes(path);
  std::error_code failed;
  const fs::file_status status = fs::status(target_, failed);
  exists_ = fs::exists(status);
  if (exists_ && !fs::is_directory(status))
    throw Error(ErrorKind::usage, "io.tree.file", "is a file, a directory was expected").in(path_);
  if (exists_) {
    target_ = fs::canonical(target_, failed).string();
    if (!failed) empty_ = fs::is_empty(target_, failed);
    if (failed) throw system_error("io.tree.create", "cannot look into the directory", path_, failed.value());
    if (!empty_ && !options_.overwrite)
      throw Error(ErrorKind::usage, "io.tree.exists", "exists already and is not empty; --force replaces its files")
          .in(path_);
  } else if (fs::is_symlink(fs::symlink_status(target_, failed))) {
    throw system_error("io.tree.create", "cannot create a directory there", path_, ENOENT);
  }
  const std::string parent = directory_of(target_);
  // Beside the target it can be renamed whole. An empty directory whose parent is closed to us, or another file system,
  // is filled from inside.
  if (exists_ && (::access(parent.c_str(), W_OK | X_OK) != 0 || device_of(parent) != device_of(target_)))
    empty_ = false;
  make_hidden(empty_ ? parent : target_);
  staging_ = hidden_;
  if (empty_) {
    set_usual_mode();
    return;
  }
  staging_ += std::string("/") + kPart;
  if (::mkdir(staging_.c_str(), 0777) != 0) {
    const int code = errno;
    ::rmdir(hidden_.c_str());
    throw system_error("io.tree.create", "cannot create a directory there", path_, code);
  }
}

TreeSink::~TreeSink() {
  if (hidden_.empty()) return;
  std::error_code ignored;
  fs::remove_all(hidden_, ignored);
}

void TreeSink::make_hidden(const std::string& in) {
  std::string name = fmt::format("{}/{}", in, kHidden);
  if (::mkdtemp(name.data()) == nullptr)
    throw system_error("io.tree.create", "cannot create a directory there", path_, errno);
  hidden_ = name;
  lock_ = try_lock(hidden_);
}

// mkdtemp's is for one user only; a directory of its own name is not.
void TreeSink::set_usual_mode() {
  struct stat old {};
  mode_t mode = 0;
  if (exists_ && ::stat(target_.c_str(), &old) == 0) {
    mode = old.st_mode & 0777;
  } else {
    // What mkdir and the umask make of it: asking for the umask would change it for a moment.
    const std::string probe = hidden_ + "/.mode";
    if (::mkdir(probe.c_str(), 0777) == 0 && ::stat(probe.c_str(), &old) == 0) mode = old.st_mode & 0777;
    ::rmdir(probe.c_str());
  }
  if (mode != 0) ::chmod(hidden_.c_str(), mode);
}

std::unique_ptr<Sink> TreeSink::file(const std::string& name) {
  if (!is_inside(name) || std::find(names_.begin(), names_.end(), name) != names_.end())
    throw Error(ErrorKind::usage, "io.tree.name",
                fmt::format("\"{}\" cannot be the name of a file in a directory", name))
        .in(path_);
  names_.push_back(name);
  const std::string place = staging_ + "/" + name;
  std::error_code failed;
  if (name.find('/') != std::string::npos) fs::create_directories(fs::path(place).parent_path(), failed);
  if (failed) throw system_error("io.tree.create", "cannot create a directory there", path_, failed.value());
  try {
    return create_file(place, {.overwrite = false, .durable = options_.durable});
  } catch (const Error& error) {
    throw Error(error.kind(), error.rule(), error.sentence()).in(without_slashes(path_) + "/" + name);
  }
}

std::uint64_t TreeSink::bytes() const {
  std::uint64_t sum = 0;
  for (const std::string& name : names_) {
    struct stat status {};
    if (::stat((staging_ + "/" + name).c_str(), &status) == 0) sum += static_cast<std::uint64_t>(status.st_size);
  }
  return sum;
}

bool TreeSink::move_whole() {
  // rename replaces an empty directory, and nothing else that is in the way.
  if (options_.durable) sync_directory_of(hidden_ + "/.");
  if (::rename(hidden_.c_str(), target_.c_str()) == 0) {
    hidden_.clear();
    if (options_.durable) sync_directory_of(target_);
    return true;
  }
  if (errno == ENOTEMPTY || errno == EEXIST) {
    if (options_.overwrite) return false;
    throw Error(ErrorKind::usage, "io.tree.exists", "was filled while it was being written; --force replaces its files")
        .in(path_);
  }
  // Somebody's directory of which only the inside is ours: filled instead of replaced.
  if (exists_) return false;
  throw system_error("io.tree.rename", "cannot rename into place", path_, errno);
}

// What was to be the directory itself becomes the new files of one that is there.
void TreeSink::move_inside() {
  const std::string whole = std::exchange(hidden_, {});
  std::error_code ignored;
  try {
    make_hidden(target_);
    staging_ = fmt::format("{}/{}", hidden_, kPart);
    if (::rename(whole.c_str(), staging_.c_str()) != 0)
      throw system_error("io.tree.rename", "cannot rename into place", path_, errno);
  } catch (const Error&) {
    fs::remove_all(whole, ignored);
    throw;
  }
}

void TreeSink::move_files() {
  const OldFiles old_files = options_.old_files == nullptr ? OldFiles() : options_.old_files(target_);
  TreeSwap swap(target_, hidden_, without_slashes(path_), options_.durable);
  try {
    swap.run(old_files, names_);
  } catch (const Error&) {
    if (swap.stuck()) hidden_.clear();  // it holds what must not be lost
    throw;
  }
  std::error_code ignored;
  for (const fs::path& abandoned : abandoned_in(target_)) fs::remove_all(abandoned, ignored);
}

void TreeSink::commit() {
  if (empty_ && move_whole()) return;
  if (empty_) move_inside();
  move_files();
}

}  // namespace tare::io
