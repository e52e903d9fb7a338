// Zip archives as a syntax: a directory of named byte ranges, stored or deflated. Knows nothing of tensors.
//
// The reader checks everything against a second source: the directory at the end and the header before each member must
// agree, members must not overlap, and a count is used only after the bytes for it were found. Errors have rules
// `zip.*` (docs/formats/npz.md has the table).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tare/blob.hpp"
#include "tare/error.hpp"
#include "tare/source.hpp"

namespace tare::wire {

struct ZipMember {
  std::string name;  // bytes as stored; UTF-8 from modern writers
  std::uint16_t method = 0, flags = 0;
  std::uint32_t crc = 0;               // CRC-32 of the decoded bytes
  std::uint64_t header = 0;            // offset of the local header
  std::uint64_t data = 0;              // offset of the stored bytes
  std::uint64_t stored = 0, size = 0;  // bytes in the file; bytes decoded

  bool deflated() const { return method == 8; }
  bool is_directory() const { return !name.empty() && name.back() == '/'; }
};

// A member that breaks a rule of its own.
struct BadMember {
  std::string name;
  Error error;
};

// The members in the order of their local headers. Members that break a rule go to `bad`, or to `diagnostics` if that
// is null, and are omitted. Throws if the directory cannot be read. `limit` bounds the bytes of the directory.
std::vector<ZipMember> read_zip(const Source& source, std::uint64_t limit, Diagnostics& diagnostics,
                                std::vector<BadMember>* bad = nullptr);

// A member's decoded bytes without the first `skip`. Stored members are plain ranges, guarded by the CRC-32 of the
// member; deflated ones are inflated in order, in bounded memory, and checked (length, end of stream, CRC-32) when their
// last byte is read.
Blob zip_blob(const SourcePtr& source, const ZipMember& member, std::uint64_t skip = 0);

// Reads every stored member and compares its CRC-32, on all cores, which mapped access never does. Deflated members are
// checked when they are decoded.
void check_zip_crcs(const Source& source, const std::vector<ZipMember>& members, Diagnostics& diagnostics,
                    unsigned threads = 0);

// Continues `crc` over `bytes`; start with 0.
std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes);

// Field values and sizes shared by reader and writer.
inline constexpr std::uint32_t kZipLocal = 0x04034b50, kZipCentral = 0x02014b50, kZipEnd = 0x06054b50;
inline constexpr std::uint32_t kZip64End = 0x06064b50, kZip64Locator = 0x07064b50;
inline constexpr std::uint64_t kZipLocalSize = 30, kZipCentralSize = 46, kZipEndSize = 22;
inline constexpr std::uint64_t kZip64EndSize = 56, kZip64LocatorSize = 20;
inline constexpr std::uint16_t kZip64Extra = 0x0001, kZipPaddingExtra = 0xd935;
inline constexpr std::uint16_t kZipUtf8Flag = 1 << 11;
inline constexpr std::uint32_t kZipFull32 = 0xffffffff;
inline constexpr std::uint16_t kZipFull16 = 0xffff;

}  // namespace tare::wire
