#include "io/tree_swap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/descriptor.hpp"
#include "io/unfinished.hpp"

namespace tare::io {
namespace {

constexpr const char* kDirectory = "is a directory where a file of the model belongs; move it away";

// "a/b/c" -> "a", "a/b"
std::vector<std::string> all_folders_of(std::string_view name) {
  std::vector<std::string> folders;
  for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
    folders.emplace_back(name.substr(0, slash));
  return folders;
}

}  // namespace

TreeSwap::TreeSwap(const Directory& target, const StagingDirectory& staging, std::string shown, bool durable)
    : target_(target), staging_(staging), shown_(std::move(shown)), durable_(durable) {}

void TreeSwap::run(const OldFiles& old_files, const std::vector<std::string>& new_files) {
  if (!old_files.in_the_way.empty()) throw blocked(old_files.in_the_way.front(), kDirectory);
  plan(old_files, new_files);
  // A signal from here on finds the old content or the new one.
  const Changing changing;
  try {
    forward();
  } catch (const Error& error) {
    if (undo()) throw;
    throw error.reworded(
        fmt::format("{}; files of the directory are in {}/{}", error.sentence(), shown_, staging_.name()));
  } catch (...) {
    undo();
    throw;
  }
  finish();
}

TreeSwap::Kind TreeSwap::kind_of(const std::string& name) const {
  struct stat status {};
  const Directory folder = target_.walk(folders_of(name));
  if (!folder || !folder.look(base_of(name), status)) return Kind::nothing;
  if (S_ISLNK(status.st_mode)) return Kind::link;
  return S_ISDIR(status.st_mode) ? Kind::folder : Kind::file;
}

bool TreeSwap::leaves(const std::string& name) const {
  return std::binary_search(leaving_.begin(), leaving_.end(), name);
}

Error TreeSwap::blocked(std::string_view name, const char* sentence) const {
  return Error(ErrorKind::usage, "io.tree.blocked", sentence)
      .in(fmt::format("{}/{}", shown_, name))
      .blame(Subject::output);
}

void TreeSwap::check_targets(const std::vector<std::string>& new_files) const {
  for (const std::string& name : new_files) {
    bool free = false;  // everything below something that leaves or does not exist
    for (const std::string& folder : all_folders_of(name)) {
      const Kind kind = free ? Kind::nothing : kind_of(folder);
      free = free || kind == Kind::nothing || leaves(folder);
      if (free) continue;
      if (kind == Kind::link) throw blocked(folder, "is a link, and files must go into a directory here; move it away");
      if (kind != Kind::folder) throw blocked(folder, "is a file, and a directory must go here; move it away");
    }
    if (!free && kind_of(name) == Kind::folder) throw blocked(name, kDirectory);
  }
}

// Does everything that allocates. A file that a new one replaces is moved away too.
void TreeSwap::plan(const OldFiles& old_files, const std::vector<std::string>& new_files) {
  leaving_ = old_files.vital;
  leaving_.insert(leaving_.end(), old_files.others.begin(), old_files.others.end());
  takes_ = leaving_;
  vital_ = old_files.vital.size();
  std::sort(leaving_.begin(), leaving_.end());
  check_targets(new_files);
  puts_ = new_files;
  std::size_t folders = 0;
  for (const std::string& name : new_files) {
    const auto above = all_folders_of(name);
    folders += above.size();
    const bool below = std::any_of(above.begin(), above.end(), [&](const std::string& each) { return leaves(each); });
    if (!leaves(name) && !below && kind_of(name) != Kind::nothing) takes_.push_back(name);
  }
  made_.reserve(folders);
}

void TreeSwap::forward() {
  const Directory& staging = staging_.directory();
  shift(kPart, kNew);
  stage_ = Stage::named_new;
  if (!staging.make(kTaken, 0777)) failed({}, "cannot be created");
  stage_ = Stage::taking;
  flush(staging);
  for (; taken_ < takes_.size(); ++taken_) {
    if (taken_ == vital_) flush(target_);
    take(takes_[taken_]);
  }
  shift(kTaken, kOld);
  stage_ = Stage::putting;
  flush(staging);
  flush(target_);
  for (; put_ < puts_.size(); ++put_) {
    if (put_ + 1 == puts_.size()) flush_folders();
    put(puts_[put_]);
  }
  flush(target_);
}

void TreeSwap::shift(const char* from, const char* to) {
  if (!staging_.directory().rename_new(from, staging_.directory(), to)) failed({}, "cannot be renamed");
}

void TreeSwap::take(const std::string& name) {
  const Directory from = target_.walk(folders_of(name));
  if (!from) failed(name, "cannot be moved away");
  const Directory taken = staging_.directory().enter(kTaken);
  const Directory to = taken ? taken.walk(folders_of(name), true) : Directory();
  if (!to || !from.rename_new(base_of(name), to, base_of(name))) failed(name, "cannot be moved away");
}

void TreeSwap::put(const std::string& name) {
  make_folders_for(name);
  const Directory fresh = staging_.directory().enter(kNew);
  const Directory from = fresh ? fresh.walk(folders_of(name)) : Directory();
  const Directory to = from ? target_.walk(folders_of(name)) : Directory();
  if (!to || !from.rename_new(base_of(name), to, base_of(name))) failed(name, "cannot be put into place");
}

void TreeSwap::make_folders_for(const std::string& name) {
  const std::string_view whole = name;
  for (std::size_t slash = whole.find('/'); slash != std::string::npos; slash = whole.find('/', slash + 1)) {
    const std::string_view folder = whole.substr(0, slash);
    const Directory above = target_.walk(folders_of(folder));
    const std::string plain(folder.substr(folder.rfind('/') + 1));
    if (above && above.make(plain.c_str(), 0777))
      made_.push_back(folder);
    else if (!above || errno != EEXIST)
      failed(std::string(folder), "cannot be created");
  }
}

// Continues after a rename that cannot be undone, to restore as many files as possible.
bool TreeSwap::undo() noexcept {
  bool whole = true;
  const Directory& staging = staging_.directory();
  const Directory fresh = staging.enter(kNew);
  while (put_ > 0) {
    const std::string& name = puts_[--put_];
    const Directory from = target_.walk(folders_of(name)), to = fresh.walk(folders_of(name));
    whole = from && to && from.rename_new(base_of(name), to, base_of(name)) && whole;
  }
  for (; !made_.empty(); made_.pop_back()) {
    const Directory above = target_.walk(folders_of(made_.back()));
    char plain[NAME_MAX + 1] = {};
    made_.back().substr(made_.back().rfind('/') + 1).copy(plain, NAME_MAX);
    if (above) above.remove_folder(plain);
  }
  if (stage_ == Stage::putting) whole = staging.rename_new(kOld, staging, kTaken) && whole;
  if (stage_ == Stage::putting || stage_ == Stage::taking) {
    const Directory taken = staging.enter(kTaken);
    while (taken_ > 0) {
      const std::string& name = takes_[--taken_];
      const Directory from = taken.walk(folders_of(name)), to = target_.walk(folders_of(name), true);
      whole = from && to && from.rename_new(base_of(name), to, base_of(name)) && whole;
    }
    if (taken) taken.remove_empty_folders();
    whole = staging.remove_folder(kTaken) && whole;
  }
  if (durable_) (void)target_.sync();
  return whole;
}

// Everything is in place; this only cleans up.
void TreeSwap::finish() noexcept {
  const Directory& staging = staging_.directory();
  if (!staging.rename_new(kOld, staging, kGone)) {
    if (const Directory old = staging.enter(kOld); old && old.remove_inside()) staging.remove_folder(kOld);
  }
  for (const std::string& name : leaving_)
    for (std::string_view folder = folders_of(name); !folder.empty(); folder = folders_of(folder)) {
      const Directory above = target_.walk(folders_of(folder));
      char plain[NAME_MAX + 1] = {};
      folder.substr(folder.rfind('/') + 1).copy(plain, NAME_MAX);
      if (above) above.remove_folder(plain);
    }
}

void TreeSwap::flush(const Directory& directory) const {
  if (durable_ && !directory.sync())
    throw system_error("io.sink.sync", "cannot flush the directory to disk", shown_, errno);
}

// Called before the last file, which makes the others a model: flushes everything else first.
void TreeSwap::flush_folders() const {
  std::string_view last;
  for (std::size_t i = 0; durable_ && i < put_; ++i)
    for (std::string_view folder = folders_of(puts_[i]); !folder.empty() && folder != last;
         folder = folders_of(folder)) {
      if (const Directory opened = target_.walk(folder)) flush(opened);
      if (folder == folders_of(puts_[i])) last = folder;
    }
  flush(target_);
}

void TreeSwap::failed(const std::string& name, std::string_view doing) const {
  const int code = errno;
  throw system_error("io.tree.rename", doing, name.empty() ? shown_ : fmt::format("{}/{}", shown_, name), code);
}

}  // namespace tare::io
