#include "io/tree_sink.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "io/descriptor.hpp"
#include "tare/error.hpp"

namespace tare::io {
namespace {

namespace fs = std::filesystem;

void sync_directory(const std::string& path) {
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory) (void)::fsync(directory.get());
}

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

}  // namespace

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
  // Beside the target it can be renamed whole. An empty directory whose parent is closed to us is filled from inside.
  if (exists_ && ::access(parent.c_str(), W_OK | X_OK) != 0) empty_ = false;
  make_staging(empty_ ? parent : target_);
}

TreeSink::~TreeSink() {
  if (staging_.empty()) return;
  std::error_code ignored;
  fs::remove_all(staging_, ignored);
}

void TreeSink::make_staging(const std::string& in) {
  std::string name = in + "/.tare-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    throw system_error("io.tree.create", "cannot create a directory there", path_, errno);
  staging_ = name;
  if (!empty_) return;
  // mkdtemp's is for one user only; a directory of its own name is not.
  struct stat old {};
  mode_t mode = 0;
  if (exists_ && ::stat(target_.c_str(), &old) == 0) {
    mode = old.st_mode & 0777;
  } else {
    // What mkdir and the umask make of it: asking for the umask would change it for a moment.
    const std::string probe = staging_ + "/.mode";
    if (::mkdir(probe.c_str(), 0777) == 0 && ::stat(probe.c_str(), &old) == 0) mode = old.st_mode & 0777;
    ::rmdir(probe.c_str());
  }
  if (mode != 0) ::chmod(staging_.c_str(), mode);
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
  if (options_.durable) sync_directory(staging_);
  if (::rename(staging_.c_str(), target_.c_str()) == 0) {
    staging_.clear();
    if (options_.durable) sync_directory_of(target_);
    return true;
  }
  if (errno == ENOTEMPTY || errno == EEXIST) {
    if (options_.overwrite) return false;
    throw Error(ErrorKind::usage, "io.tree.exists", "was filled while it was being written; --force replaces its files")
        .in(path_);
  }
  // A mount point, or a directory somebody stands on: filled instead of replaced.
  if (exists_) return false;
  throw system_error("io.tree.rename", "cannot rename into place", path_, errno);
}

void TreeSink::move_files() {
  std::error_code failed;
  for (const std::string& name : options_.vital) fs::remove(fs::path(target_) / name, failed);
  if (options_.durable) sync_directory(target_);
  std::vector<fs::path> stale;
  if (options_.stale != nullptr)
    for (const fs::directory_entry& entry : fs::directory_iterator(target_, failed))
      if (options_.stale(entry.path().filename().string()) && !entry.is_directory(failed))
        stale.push_back(entry.path());
  for (const fs::path& path : stale) fs::remove(path, failed);
  for (const std::string& name : names_) {
    const std::string from = staging_ + "/" + name, to = target_ + "/" + name;
    if (name.find('/') != std::string::npos) fs::create_directories(fs::path(to).parent_path(), failed);
    if (::rename(from.c_str(), to.c_str()) != 0)
      throw system_error("io.tree.rename", "cannot rename into place", without_slashes(path_) + "/" + name, errno);
    if (options_.durable) sync_directory_of(to);
  }
}

void TreeSink::commit() {
  if (empty_ && move_whole()) return;
  move_files();
}

}  // namespace tare::io
