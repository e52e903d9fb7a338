#include "device/file_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

namespace tare::device {
namespace {

// File systems in memory or on another machine, for which direct reads are never faster. The numbers are those of
// statfs(2); <linux/magic.h> does not list all of them.
constexpr std::array<std::uint32_t, 14> kNeverDirect = {
    0x01021994,  // tmpfs
    0x858458f6,  // ramfs
    0x958458f6,  // hugetlbfs
    0x794c7630,  // overlayfs: its layers may be anything
    0x6969,      // NFS
    0xff534d42,  // CIFS
    0xfe534d42,  // SMB2
    0x517b,      // SMB
    0x65735546,  // FUSE
    0x00c36400,  // Ceph
    0x01021997,  // 9p
    0x0bd00bd0,  // Lustre
    0x47504653,  // GPFS
    0x19830326,  // BeeGFS
};

// Whether most of a range is in the page cache, by cachestat(2) or mincore(2), whichever exists. True if neither works.
bool mostly_resident(int file, std::uint64_t offset, std::uint64_t length) {
  struct Range {
    std::uint64_t offset, length;
  } range{offset, length};
  struct {
    std::uint64_t cached, dirty, writeback, evicted, recently_evicted;
  } found{};
  constexpr long kCachestat = 451;
  const std::uint64_t pages = (length + kSector - 1) / kSector;
  if (::syscall(kCachestat, file, &range, &found, 0) == 0) return found.cached * 2 >= pages;
  const std::uint64_t begin = offset / kSector * kSector;
  const auto bytes = offset + length - begin;
  void* const map = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, static_cast<off_t>(begin));
  if (map == MAP_FAILED) return true;
  std::vector<unsigned char> in_memory((bytes + kSector - 1) / kSector);
  const bool known = ::mincore(map, bytes, in_memory.data()) == 0;
  ::munmap(map, bytes);
  if (!known) return true;
  const auto cached =
      std::count_if(in_memory.begin(), in_memory.end(), [](unsigned char page) { return (page & 1) != 0; });
  return static_cast<std::uint64_t>(cached) * 2 >= in_memory.size();
}

}  // namespace

FileReader::FileReader(SourcePtr source, Reading reading) : source_(std::move(source)), reading_(reading) {}

void FileReader::open_direct() const {
  const int file = source_->descriptor();
  struct statfs system {};
  if (file < 0 || reading_ == Reading::buffered || ::fstatfs(file, &system) != 0) return;
  const auto type = static_cast<std::uint32_t>(system.f_type);
  if (std::find(kNeverDirect.begin(), kNeverDirect.end(), type) != kNeverDirect.end()) return;
  // Opened through the descriptor, so that it is the same file even if the path leads elsewhere by now.
  direct_ = io::Descriptor(::open(fmt::format("/proc/self/fd/{}", file).c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT));
}

bool FileReader::goes_direct(std::uint64_t offset, std::uint64_t length) const {
  opened_.run([this] { open_direct(); });
  if (!direct_ || !works_.load(std::memory_order_relaxed)) return false;
  if (reading_ == Reading::direct) return true;
  // Long enough that the bytes read around the range do not matter.
  constexpr std::uint64_t kWorthIt = std::uint64_t{512} << 10;
  return length >= kWorthIt && !mostly_resident(source_->descriptor(), offset, length);
}

void FileReader::read_sectors(std::uint64_t offset, std::uint64_t length, std::byte* memory, ReadCounts& counts) const {
  const std::uint64_t lead = offset % kSector;
  if (!goes_direct(offset, length)) return read(offset, {memory + lead, length}, counts);
  source_->require(offset, length);
  const std::uint64_t end = (offset + length + kSector - 1) / kSector * kSector;
  const std::uint64_t begin = offset - lead;
  std::uint64_t done = 0;
  while (begin + done < offset + length) {
    const ssize_t n = ::pread(direct_.get(), memory + done, end - begin - done, static_cast<off_t>(begin + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EINVAL) {  // the file system accepts O_DIRECT in open, but not in read
      works_.store(false, std::memory_order_relaxed);
      return read(offset, {memory + lead, length}, counts);
    }
    if (n < 0) throw io::system_error("io.source.read", "cannot read", source_->name(), errno).at(begin + done);
    counts.reads.fetch_add(1, std::memory_order_relaxed);
    counts.bytes.fetch_add(static_cast<std::uint64_t>(n), std::memory_order_relaxed);
    counts.direct.fetch_add(static_cast<std::uint64_t>(n), std::memory_order_relaxed);
    done += static_cast<std::uint64_t>(n);
    // A read that ends inside a sector means the end of the file.
    if ((n == 0 || done % kSector != 0) && begin + done < offset + length) {
      source_->check();
      throw Error(ErrorKind::io, "io.source.read", "a direct read ended early").in(source_->name()).at(begin + done);
    }
  }
}

void FileReader::read(std::uint64_t offset, std::span<std::byte> out, ReadCounts& counts) const {
  if (out.empty()) return;
  source_->read(offset, out);
  counts.reads.fetch_add(1, std::memory_order_relaxed);
  counts.bytes.fetch_add(out.size(), std::memory_order_relaxed);
}

}  // namespace tare::device
