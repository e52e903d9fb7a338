#include "io/input_files.hpp"

#include <fcntl.h>

#include <utility>

namespace tare::io {
namespace {

thread_local InputFiles* noted = nullptr;
thread_local MayReplace* replaceable = nullptr;
thread_local int looking = 0;

}  // namespace

FileId id_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

FileIds ids_of(std::span<const SourcePtr> sources) {
  FileIds ids;
  for (const SourcePtr& source : sources) {
    struct stat status {};
    if (source != nullptr && source->descriptor() >= 0 && ::fstat(source->descriptor(), &status) == 0)
      ids.insert(id_of(status));
  }
  return ids;
}

InputFiles::InputFiles() : outer_(std::exchange(noted, this)) {}

InputFiles::~InputFiles() { noted = outer_; }

void InputFiles::add(const FileIds& files) {
  for (InputFiles* scope = this; scope != nullptr; scope = scope->outer_)
    scope->files_.insert(files.begin(), files.end());
}

OnlyLooking::OnlyLooking() { ++looking; }

OnlyLooking::~OnlyLooking() { --looking; }

MayReplace::MayReplace(FileIds files) : files_(std::move(files)), outer_(std::exchange(replaceable, this)) {}

MayReplace::~MayReplace() { replaceable = outer_; }

void note_input(const struct stat& status) {
  if (noted != nullptr && looking == 0) noted->add({id_of(status)});
}

bool is_input(const FileId& file) {
  if (noted == nullptr || (replaceable != nullptr && replaceable->files_.contains(file))) return false;
  // The innermost scope may be younger than what an outer one has noted.
  for (const InputFiles* scope = noted; scope != nullptr; scope = scope->outer_)
    if (scope->files_.contains(file)) return true;
  return false;
}

Error is_read_here(const std::string& path) {
  return Error(ErrorKind::usage, "io.sink.input",
               "is one of the files that are read here, and would be lost; write to another file")
      .in(path)
      .blame(Subject::output);
}

void refuse_input(int folder, const char* name, const std::string& path) {
  struct stat status {};
  // Through links: what is read by a link would be lost with the link.
  if (::fstatat(folder, name, &status, 0) == 0 && S_ISREG(status.st_mode) && is_input(id_of(status)))
    throw is_read_here(path);
}

}  // namespace tare::io
