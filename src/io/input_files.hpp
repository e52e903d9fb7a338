// The files that a call of the library, or a run of the command, has read, so that no output takes the place of one.
//
// `open_file` notes every file in the scope of its thread, and whatever gives an output its name asks `refuse_input`
// first: `create_file` and TreeSink. So a new verb is protected without doing anything. Files are compared by device
// and number, whatever path, symbolic link or hard link led to them.
//
// A conversion may replace its own input, because the new file has what the old one had: `MayReplace`.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "tare/error.hpp"
#include "tare/source.hpp"

namespace tare::io {

using FileId = std::pair<std::uint64_t, std::uint64_t>;  // device and number
using FileIds = std::set<FileId>;

FileId id_of(const struct stat& status);
// Returns the ids of the files that these sources read. A source in memory has no file.
FileIds ids_of(std::span<const SourcePtr> sources);

// Collects the files that this thread opens until the end of the scope. Scopes nest: an outer one has the files of the
// inner ones, too.
class InputFiles {
 public:
  InputFiles();
  ~InputFiles();
  InputFiles(const InputFiles&) = delete;
  InputFiles& operator=(const InputFiles&) = delete;

  // Adds files that were opened before.
  void add(const FileIds& files);
  const FileIds& files() const { return files_; }

 private:
  friend void note_input(const struct stat& status);
  friend bool is_input(const FileId& file);

  FileIds files_;
  InputFiles* outer_;
};

// Files that this thread opens until the end of the scope are not noted: it only looks at what they are.
class OnlyLooking {
 public:
  OnlyLooking();
  ~OnlyLooking();
  OnlyLooking(const OnlyLooking&) = delete;
  OnlyLooking& operator=(const OnlyLooking&) = delete;
};

// Until the end of the scope, outputs of this thread may replace these files. Those that are opened are files of the old
// output.
class MayReplace {
 public:
  explicit MayReplace(FileIds files);
  ~MayReplace();
  MayReplace(const MayReplace&) = delete;
  MayReplace& operator=(const MayReplace&) = delete;

 private:
  friend bool is_input(const FileId& file);

  FileIds files_;
  MayReplace* outer_;
  OnlyLooking looking_;
};

// For what opens a file to read it. Does nothing without an InputFiles.
void note_input(const struct stat& status);
// Whether the file was read, and may not be replaced.
bool is_input(const FileId& file);
// The error `io.sink.input` about a file.
Error is_read_here(const std::string& path);
// Throws `io.sink.input` if the file `name` of the open directory `folder` is such a file, or a link to one. `path`: for
// the error.
void refuse_input(int folder, const char* name, const std::string& path);

}  // namespace tare::io
