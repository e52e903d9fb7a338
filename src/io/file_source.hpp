// A file that is read with pread, and the check that it has not changed since it was opened.
#pragma once

#include <cstdint>
#include <string>

#include "io/descriptor.hpp"
#include "tare/source.hpp"

struct stat;

namespace tare::io {

// Distinguishes states of a file. The inode's change time is not compared: renaming, linking and backing up a file set
// it without changing its bytes. A process that writes to a file and then forges the modification time is not detected;
// it could have written the same bytes before we opened the file.
struct FileStamp {
  explicit FileStamp(const struct stat& status);
  friend bool operator==(const FileStamp&, const FileStamp&) = default;

  std::uint64_t size = 0;
  std::int64_t seconds = 0, nanoseconds = 0;  // last modification
};

class FileSource : public Source {
 public:
  // `stamp`: the file's state at opening.
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
