// A file read with pread, and whether it is still the one that was opened.
#pragma once

#include <cstdint>
#include <string>

#include "io/descriptor.hpp"
#include "tare/source.hpp"

struct stat;

namespace tare::io {

// What tells one state of a file from the next. The time of the last change to the inode is omitted: renaming, linking
// and backing up a file set it, and its bytes are still the same. Who writes to a file and then forges the time of that
// goes unnoticed; he gets us to read wrong numbers, as he could have by writing a moment earlier.
struct FileStamp {
  explicit FileStamp(const struct stat& status);
  friend bool operator==(const FileStamp&, const FileStamp&) = default;

  std::uint64_t size = 0;
  std::int64_t seconds = 0, nanoseconds = 0;  // of the last write
};

class FileSource : public Source {
 public:
  // `stamp`: the file's at opening.
  FileSource(std::string path, Descriptor file, const FileStamp& stamp);
  int descriptor() const override { return file_.get(); }
  void check() const override;

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override;

 private:
  FileStamp stamp() const;

  Descriptor file_;
  FileStamp opened_;
};

}  // namespace tare::io
