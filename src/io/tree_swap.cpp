#include "io/tree_swap.hpp"

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

namespace tare::io {
namespace {

namespace fs = std::filesystem;

// "a/b/c" -> "a", "a/b"
std::vector<std::string> folders_of(const std::string& name) {
  std::vector<std::string> folders;
  for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
    folders.push_back(name.substr(0, slash));
  return folders;
}

constexpr const char* kDirectory = "is a directory where a file of the model belongs; move it away";

// A link is what it is, not what it leads to.
fs::file_type type_of(const std::string& path) {
  std::error_code failed;
  return fs::symlink_status(path, failed).type();
}

}  // namespace

TreeSwap::TreeSwap(std::string target, std::string workshop, std::string shown, bool durable)
    : target_(std::move(target)), workshop_(std::move(workshop)), shown_(std::move(shown)), durable_(durable) {}

void TreeSwap::run(const OldFiles& old_files, const std::vector<std::string>& new_files) {
  leaving_ = old_files.vital;
  leaving_.insert(leaving_.end(), old_files.others.begin(), old_files.others.end());
  if (!old_files.in_the_way.empty()) throw blocked(old_files.in_the_way.front(), kDirectory);
  check_the_way(new_files);
  std::vector<std::string> others = old_files.others;
  for (const std::string& name : new_files)
    if (is_in_place(name)) others.push_back(name);
  try {
    sync(workshop_ + "/" + kPart);
    move(workshop_ + "/" + kPart, workshop_ + "/" + kNew, {});
    make_folders(workshop_, std::string(kTaken) + "/.");
    sync(workshop_);
    take(old_files.vital);
    sync(target_);
    take(others);
    move(workshop_ + "/" + kTaken, workshop_ + "/" + kOld, {});
    sync(workshop_);
    sync(target_);
    put(new_files);
  } catch (Error& error) {
    stuck_ = !undo();
    if (stuck_)
      throw Error(error.kind(), error.rule(),
                  fmt::format("{}; files of the directory are in {}", error.sentence(), workshop_))
          .in(error.file());
    throw;
  }
  remove_empty_folders(leaving_);
}

bool TreeSwap::leaves(const std::string& name) const {
  return std::find(leaving_.begin(), leaving_.end(), name) != leaving_.end();
}

// Whether there is something that a new file would replace and that does not leave by itself.
bool TreeSwap::is_in_place(const std::string& name) const {
  const auto folders = folders_of(name);
  return !leaves(name) &&
         std::none_of(folders.begin(), folders.end(), [&](const std::string& folder) { return leaves(folder); }) &&
         type_of(target_ + "/" + name) != fs::file_type::not_found;
}

Error TreeSwap::blocked(const std::string& name, const char* sentence) const {
  return Error(ErrorKind::usage, "io.tree.blocked", sentence).in(shown_ + "/" + name);
}

void TreeSwap::check_the_way(const std::vector<std::string>& new_files) const {
  for (const std::string& name : new_files) {
    bool free = false;  // everything below something that leaves, or is not there
    for (const std::string& folder : folders_of(name)) {
      const fs::file_type type = free ? fs::file_type::not_found : type_of(target_ + "/" + folder);
      free = free || type == fs::file_type::not_found || leaves(folder);
      if (free) continue;
      if (type == fs::file_type::symlink)
        throw blocked(folder, "is a link, and files must go into a directory here; move it away");
      if (type != fs::file_type::directory)
        throw blocked(folder, "is a file, and a directory must go here; move it away");
    }
    if (!free && type_of(target_ + "/" + name) == fs::file_type::directory) throw blocked(name, kDirectory);
  }
}

void TreeSwap::take(const std::vector<std::string>& files) {
  const std::string taken = workshop_ + "/" + kTaken;
  for (const std::string& name : files) {
    make_folders(taken, name);
    move(fmt::format("{}/{}", target_, name), fmt::format("{}/{}", taken, name), name);
  }
}

void TreeSwap::put(const std::vector<std::string>& files) {
  for (const std::string& name : files) {
    make_folders(target_, name);
    if (&name == &files.back()) sync(target_);
    move(workshop_ + "/" + kNew + "/" + name, target_ + "/" + name, name);
    if (name.find('/') != std::string::npos) sync(directory_of(target_ + "/" + name));
  }
  sync(target_);
}

void TreeSwap::move(const std::string& from, const std::string& to, const std::string& name) {
  if (::rename(from.c_str(), to.c_str()) != 0)
    throw system_error("io.tree.rename", "cannot be renamed", name.empty() ? shown_ : shown_ + "/" + name, errno);
  renames_.emplace_back(from, to);
}

void TreeSwap::make_folders(const std::string& root, const std::string& name) {
  for (const std::string& folder : folders_of(name)) {
    const std::string path = fmt::format("{}/{}", root, folder);
    if (::mkdir(path.c_str(), 0777) == 0)
      made_.push_back(path);
    else if (errno != EEXIST)
      throw system_error("io.tree.rename", "cannot be created", shown_ + "/" + folder, errno);
  }
}

bool TreeSwap::undo() {
  for (; !renames_.empty(); renames_.pop_back())
    if (::rename(renames_.back().second.c_str(), renames_.back().first.c_str()) != 0) return false;
  for (; !made_.empty(); made_.pop_back()) ::rmdir(made_.back().c_str());
  sync(target_);
  return true;
}

void TreeSwap::remove_empty_folders(const std::vector<std::string>& files) const {
  for (const std::string& name : files) {
    const auto folders = folders_of(name);
    for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) ::rmdir((target_ + "/" + *folder).c_str());
  }
}

void TreeSwap::sync(const std::string& directory) const {
  if (!durable_) return;
  const Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened) (void)::fsync(opened.get());
}

}  // namespace tare::io
