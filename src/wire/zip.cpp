// Reads zip archives: APPNOTE 6.3 as far as model files need it.
//
//  local header   "PK\3\4" version flags method time date crc32 stored size name-length extra-length    30 bytes
//                 name, extra, then the member's stored bytes, then (flag bit 3) a data descriptor
//  central entry  "PK\1\2" made-by version flags method time date crc32 stored size name-length extra-length
//                 comment-length disk attributes(2) attributes(4) header-offset                         46 bytes
//                 name, extra, comment
//  zip64 end      "PK\6\6" size made-by version disk disk entries(8) entries(8) bytes(8) offset(8)      56 bytes
//  zip64 locator  "PK\6\7" disk offset-of-zip64-end(8) disks                                            20 bytes
//  end            "PK\5\6" disk disk entries(2) entries(2) bytes(4) offset(4) comment-length            22 bytes
//
// A field that is all ones is stored in the zip64 extra record (id 1) or the zip64 end instead.
#include "wire/zip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/budget.hpp"
#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/equal_names.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "io/metadata.hpp"

namespace tare::wire {
namespace {

constexpr std::uint16_t kEncrypted = 1 << 0 | 1 << 6 | 1 << 13;
constexpr std::uint16_t kDescriptor = 1 << 3, kPatch = 1 << 5;
constexpr std::uint64_t kMaxDescriptor = 24;
// Deflate needs at least two bits for a run of at most 258 bytes.
constexpr std::uint64_t kMaxRatio = 1032;

std::uint16_t u16(std::span<const std::byte> bytes, std::size_t at) { return load_le<std::uint16_t>(&bytes[at]); }
std::uint32_t u32(std::span<const std::byte> bytes, std::size_t at) { return load_le<std::uint32_t>(&bytes[at]); }
std::uint64_t u64(std::span<const std::byte> bytes, std::size_t at) { return load_le<std::uint64_t>(&bytes[at]); }

Error corrupt(std::string_view rule, std::string_view sentence) { return {ErrorKind::corrupt, rule, sentence}; }

std::string_view method_name(std::uint16_t method) {
  switch (method) {
    case 1: return "shrink";
    case 6: return "implode";
    case 9: return "deflate64";
    case 12: return "bzip2";
    case 14: return "LZMA";
    case 20:
    case 93: return "zstd";
    case 95: return "xz";
    case 99: return "AES";
    default: return "unknown";
  }
}

// The position of the directory, from the records at the end of the file.
struct End {
  std::uint64_t count = 0, size = 0, offset = 0;
  std::uint64_t limit = 0;  // where the end records begin: the directory must end exactly here
};

class Reader {
 public:
  Reader(const Source& source, std::uint64_t limit, Diagnostics& diagnostics, std::vector<BadMember>* bad)
      : source_(source), limit_(limit), diagnostics_(diagnostics), bad_(bad), window_(source) {}

  std::vector<ZipMember> run() {
    find_end();
    read_central();
    // They are nearly always sorted.
    if (!std::ranges::is_sorted(members_, {}, &ZipMember::header))
      std::sort(members_.begin(), members_.end(), [](const auto& a, const auto& b) { return a.header < b.header; });
    drop_duplicates();
    read_locals();
    source_.check();
    return std::move(members_);
  }

 private:
  [[noreturn]] void fail(Error error, std::uint64_t at) const { throw error.in(source_.name()).at(at); }

  // Runs `check` on one member. A broken rule is reported and the member dropped; it goes to `bad_`, where a lookup by
  // name finds it, unless the name is not `certain`.
  template <typename Check>
  bool accept(const std::string& name, std::uint64_t at, const Check& check, bool certain = true) {
    try {
      check();
      return true;
    } catch (Error& error) {
      error.in(source_.name()).at(at).about(quote(name));
      if (bad_ == nullptr || name.empty() || !certain)
        diagnostics_.error(error);
      else {
        charge_values(kErrorPrice);
        bad_->push_back({name, error});
      }
      return false;
    }
  }

  void find_end();
  void read_zip64_end(std::uint64_t locator);
  void check_end() const;
  void read_central();
  void read_central_entry(std::span<const std::byte> entry, std::uint64_t at);
  void drop_duplicates();
  void read_locals();
  void read_local(ZipMember& member);
  void warn_gap(std::uint64_t end, std::uint64_t next, std::uint64_t slack, std::string_view item) const;
  void compare_local(const ZipMember& member, std::span<const std::byte> header,
                     std::span<const std::byte> extra) const;
  void check_descriptor(const ZipMember& member);

  const Source& source_;
  std::uint64_t limit_;
  Diagnostics& diagnostics_;
  std::vector<BadMember>* bad_;
  io::Window window_;
  End end_;
  std::vector<ZipMember> members_;
};

// The record `id` of an extra field; nothing if it does not exist. Tolerates up to three bytes at the end that cannot
// be a record: zipalign pads with them.
std::optional<std::span<const std::byte>> find_extra(std::span<const std::byte> extra, std::uint16_t id) {
  std::optional<std::span<const std::byte>> found;
  while (extra.size() >= 4) {
    const std::uint16_t length = u16(extra, 2);
    if (length > extra.size() - 4)
      throw corrupt("zip.extra.malformed",
                    fmt::format("an extra record claims {} bytes, {} are left", length, extra.size() - 4));
    if (u16(extra, 0) == id) {
      if (found) throw corrupt("zip.extra.duplicate", fmt::format("extra record {:#06x} appears twice", id));
      found = extra.subspan(4, length);
    }
    extra = extra.subspan(std::size_t{4} + length);
  }
  return found;
}

// Reads the 64-bit values that replace saturated 32-bit ones, in the order of the record.
class Zip64Fields {
 public:
  explicit Zip64Fields(std::span<const std::byte> extra) : record_(find_extra(extra, kZip64Extra)) {}
  std::uint64_t resolve(std::uint32_t small, std::string_view what) {
    if (small != kZipFull32) return small;
    if (!record_ || record_->size() < 8)
      throw corrupt("zip.zip64.missing", fmt::format("the {} is all ones and no zip64 record holds it", what));
    const std::uint64_t value = u64(*record_, 0);
    record_ = record_->subspan(8);
    return value;
  }

 private:
  std::optional<std::span<const std::byte>> record_;
};

void Reader::find_end() {
  const std::uint64_t size = source_.size();
  if (size < kZipEndSize)
    fail(corrupt("zip.end.missing", fmt::format("{} bytes, a zip archive has at least {}", size, kZipEndSize)), 0);
  const std::uint64_t tail = std::min(size, kZipEndSize + kZipFull16);
  const std::uint64_t start = size - tail;
  const auto bytes = window_.get(start, tail);
  std::uint64_t at = tail - kZipEndSize + 1;
  do {
    if (at == 0)
      fail(corrupt("zip.end.missing", "no end record: the archive is truncated or something follows it"), size);
    --at;
  } while (u32(bytes, at) != kZipEnd || at + kZipEndSize + u16(bytes, at + 20) != tail);

  const auto record = bytes.subspan(at, kZipEndSize);
  if (u16(record, 4) != u16(record, 6) || (u16(record, 4) != 0 && u16(record, 4) != kZipFull16) ||
      u16(record, 8) != u16(record, 10))
    fail(Error(ErrorKind::unsupported, "zip.disks", "the archive is one disk of several"), start + at);
  end_ = {u16(record, 10), u32(record, 12), u32(record, 16), start + at};
  const bool saturated = end_.count == kZipFull16 || end_.size == kZipFull32 || end_.offset == kZipFull32;
  if (end_.limit >= kZip64LocatorSize) {
    const std::uint64_t locator = end_.limit - kZip64LocatorSize;
    if (u32(window_.get(locator, kZip64LocatorSize), 0) == kZip64Locator) {
      read_zip64_end(locator);
      return check_end();
    }
  }
  // 65,535 members do not require zip64; sizes and offsets of all ones do.
  if (saturated && (end_.size == kZipFull32 || end_.offset == kZipFull32))
    fail(corrupt("zip.zip64.missing", "the end record points to a zip64 end record that does not exist"), end_.limit);
  check_end();
}

void Reader::read_zip64_end(std::uint64_t locator) {
  const auto pointer = window_.get(locator, kZip64LocatorSize);
  const std::uint64_t at = u64(pointer, 8);
  if (u32(pointer, 4) != 0 || u32(pointer, 16) > 1)
    fail(Error(ErrorKind::unsupported, "zip.disks", "the archive is one disk of several"), locator);
  if (!fits(at, kZip64EndSize, locator))
    fail(corrupt("zip.zip64.place",
                 fmt::format("the zip64 end record is stated to be at {}, it must end before {}", at, locator)),
         locator);
  const auto record = window_.get(at, kZip64EndSize);
  if (u32(record, 0) != kZip64End || u64(record, 4) != locator - at - 12)
    fail(corrupt("zip.zip64.place",
                 fmt::format("no zip64 end record of {} bytes where the locator points", locator - at)),
         at);
  if (u32(record, 16) != 0 || u32(record, 20) != 0 || u64(record, 24) != u64(record, 32))
    fail(Error(ErrorKind::unsupported, "zip.disks", "the archive is one disk of several"), at);
  const End large = {u64(record, 32), u64(record, 40), u64(record, 48), at};
  if ((end_.count != kZipFull16 && end_.count != large.count) || (end_.size != kZipFull32 && end_.size != large.size) ||
      (end_.offset != kZipFull32 && end_.offset != large.offset))
    fail(corrupt("zip.zip64.disagree",
                 fmt::format("the end record says {} members in {} bytes at {}, the zip64 end record {} in {} at {}",
                             end_.count, end_.size, end_.offset, large.count, large.size, large.offset)),
         end_.limit);
  end_ = large;
}

void Reader::check_end() const {
  if (!fits(end_.offset, end_.size, end_.limit))
    fail(corrupt("zip.directory.bounds",
                 fmt::format("the directory, {} bytes at {}, does not end before the end record at {}", end_.size,
                             end_.offset, end_.limit)),
         end_.limit);
  if (const std::uint64_t gap = end_.limit - end_.size - end_.offset; gap != 0)
    fail(corrupt("zip.directory.place",
                 fmt::format("{} bytes too many before the end record: data before the archive or inside it", gap)),
         end_.limit);
  if (end_.size > limit_)
    fail(Error(ErrorKind::limit, "zip.directory.large",
               fmt::format("expected a directory of at most {} bytes, found {}", limit_, end_.size)),
         end_.offset);
  if (end_.count > end_.size / kZipCentralSize)
    fail(corrupt("zip.directory.count", fmt::format("{} members claimed in a directory of {} bytes, at least {} each",
                                                    end_.count, end_.size, kZipCentralSize)),
         end_.limit);
}

void Reader::read_central() {
  const io::Metadata directory(source_, end_.offset, end_.size);
  std::span<const std::byte> bytes = directory.bytes();
  members_.reserve(end_.count);
  std::uint64_t at = end_.offset;
  for (std::uint64_t i = 0; i < end_.count; ++i) {
    if (bytes.size() < kZipCentralSize || u32(bytes, 0) != kZipCentral)
      fail(corrupt("zip.directory.entry",
                   fmt::format("no directory entry where number {} of {} should be", i + 1, end_.count)),
           at);
    const std::size_t length = kZipCentralSize + u16(bytes, 28) + u16(bytes, 30) + u16(bytes, 32);
    if (length > bytes.size())
      fail(corrupt("zip.directory.entry",
                   fmt::format("a directory entry of {} bytes, {} are left", length, bytes.size())),
           at);
    read_central_entry(bytes.first(length), at);
    bytes = bytes.subspan(length);
    at += length;
  }
  if (!bytes.empty())
    fail(corrupt("zip.directory.size", fmt::format("{} bytes of the directory belong to no member", bytes.size())), at);
}

void Reader::read_central_entry(std::span<const std::byte> entry, std::uint64_t at) {
  ZipMember member;
  const std::size_t name_length = u16(entry, 28);
  member.name = as_text(entry.subspan(kZipCentralSize, name_length));
  member.flags = u16(entry, 8);
  member.method = u16(entry, 10);
  member.crc = u32(entry, 16);
  const bool good = accept(member.name, at, [&] {
    if (name_length == 0 || member.name.find('\0') != std::string::npos)
      throw corrupt("zip.member.name",
                    name_length == 0 ? "a member without a name" : "a member's name contains a zero byte");
    Zip64Fields large(entry.subspan(kZipCentralSize + name_length, u16(entry, 30)));
    member.size = large.resolve(u32(entry, 24), "size");
    member.stored = large.resolve(u32(entry, 20), "stored size");
    member.header = large.resolve(u32(entry, 42), "header offset");
    if (u16(entry, 34) != 0 && u16(entry, 34) != kZipFull16)
      throw Error(ErrorKind::unsupported, "zip.disks", "the member is on another disk");
    if ((member.flags & kEncrypted) != 0)
      throw Error(ErrorKind::unsupported, "zip.member.encrypted", "the member is encrypted");
    if ((member.flags & kPatch) != 0)
      throw Error(ErrorKind::unsupported, "zip.member.patch", "the member is a patch of another file");
    if (member.method != 0 && member.method != 8)
      throw Error(ErrorKind::unsupported, "zip.member.method",
                  fmt::format("compressed with method {} ({}); stored (0) and deflate (8) can be read", member.method,
                              method_name(member.method)));
    if (member.method == 0 && member.stored != member.size)
      throw corrupt("zip.member.size",
                    fmt::format("stored, yet {} bytes in the file and {} decoded", member.stored, member.size));
    if (member.deflated() && member.size / kMaxRatio > member.stored)
      throw corrupt("zip.member.ratio",
                    fmt::format("the directory states that {} bytes inflate to {}; deflate reaches at most {} times",
                                member.stored, member.size, kMaxRatio));
  });
  if (good) members_.push_back(std::move(member));
}

void Reader::drop_duplicates() {
  const auto name_of = [&](std::size_t i) -> const std::string& { return members_[i].name; };
  const auto equal = equal_names(members_.size(), name_of);
  if (equal.empty()) return;
  std::vector<bool> drop(members_.size());
  for (const auto& [again, before] : equal) {
    const ZipMember &first = members_[before], &second = members_[again];
    const auto refuse = [&] {
      throw corrupt("zip.member.duplicate",
                    fmt::format("the name appears twice, at {} and {}", first.header, second.header));
    };
    drop[again] = !accept(second.name, second.header, refuse, false);  // it is unknown which of the two is meant
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (!drop[i] && kept++ != i) members_[kept - 1] = std::move(members_[i]);
  members_.resize(kept);
}

void Reader::read_locals() {
  std::uint64_t end = 0, slack = 0;  // end of the previous member, and the bytes that its data descriptor may take
  std::size_t kept = 0;
  for (ZipMember& member : members_) {
    const bool good = accept(member.name, member.header, [&] {
      read_local(member);
      if (member.header < end)
        throw corrupt("zip.member.overlap",
                      fmt::format("starts at {}, the member before ends at {}", member.header, end));
    });
    if (!good) continue;
    warn_gap(end, member.header, slack, member.name);
    end = member.data + member.stored;
    slack = (member.flags & kDescriptor) != 0 ? kMaxDescriptor : 0;
    if (&members_[kept] != &member) members_[kept] = std::move(member);
    ++kept;
  }
  members_.resize(kept);
  if (kept > 0) warn_gap(end, end_.offset, slack, "directory");
}

void Reader::warn_gap(std::uint64_t end, std::uint64_t next, std::uint64_t slack, std::string_view item) const {
  if (next <= end + slack) return;
  diagnostics_.warning(corrupt("zip.gap", fmt::format("the {} bytes before it belong to no member", next - end))
                           .in(source_.name())
                           .at(end)
                           .about(quote(item)));
}

void Reader::read_local(ZipMember& member) {
  if (!fits(member.header, kZipLocalSize, end_.offset))
    throw corrupt("zip.member.bounds",
                  fmt::format("its header is stated to be at {}, the members end at {}", member.header, end_.offset));
  const auto fixed = window_.get(member.header, kZipLocalSize);
  if (u32(fixed, 0) != kZipLocal) throw corrupt("zip.local.signature", "no member header where the directory points");
  const std::uint64_t name_length = u16(fixed, 26), extra_length = u16(fixed, 28);
  // Headers of other members may be inside this one, whose length only the header itself states.
  charge_steps(extra_length / 8);
  member.data = member.header + kZipLocalSize + name_length + extra_length;
  if (!fits(member.data, member.stored, end_.offset))
    throw corrupt("zip.member.bounds", fmt::format("{} bytes at {} extend beyond the end of the members at {}",
                                                   member.stored, member.data, end_.offset));
  if (name_length != member.name.size())
    throw corrupt("zip.local.name", fmt::format("its own header has a name of {} bytes, the directory one of {}",
                                                name_length, member.name.size()));
  const auto header = window_.get(member.header, member.data - member.header);
  const std::string_view name = as_text(header.subspan(kZipLocalSize, static_cast<std::size_t>(name_length)));
  if (name != member.name) throw corrupt("zip.local.name", fmt::format("its own header calls it \"{}\"", quote(name)));
  compare_local(member, header, header.subspan(kZipLocalSize + name_length));
  if ((member.flags & kDescriptor) != 0) check_descriptor(member);
}

// A data descriptor: [signature] crc32 stored size, with sizes of 4 bytes or, with zip64, of 8. Writers differ in
// whether they write the signature and when they use 8 bytes; in each form it must agree with the directory.
void Reader::check_descriptor(const ZipMember& member) {
  constexpr std::uint32_t kSignature = 0x08074b50;
  const std::uint64_t end = member.data + member.stored;
  const auto bytes = window_.get(end, std::min(kMaxDescriptor, end_.offset - end));
  const auto agrees = [&](std::size_t at, bool wide) {
    if (bytes.size() < at + (wide ? 20 : 12)) return false;
    const std::uint64_t stored = wide ? u64(bytes, at + 4) : u32(bytes, at + 4);
    const std::uint64_t size = wide ? u64(bytes, at + 12) : u32(bytes, at + 8);
    return u32(bytes, at) == member.crc && stored == member.stored && size == member.size;
  };
  if (agrees(0, false) || agrees(0, true)) return;
  const bool is_signed = bytes.size() >= 4 && u32(bytes, 0) == kSignature;
  if (is_signed && (agrees(4, false) || agrees(4, true))) return;
  const std::size_t at = is_signed ? 4 : 0;
  if (bytes.size() < at + 12)
    throw corrupt("zip.descriptor",
                  fmt::format("{} bytes after its data at {}, too few for a data descriptor", bytes.size(), end));
  throw corrupt(
      "zip.descriptor",
      fmt::format("the data descriptor after it says CRC-32 {:08x}, {} bytes ({} decoded), the directory {:08x}, "
                  "{} ({})",
                  u32(bytes, at), u32(bytes, at + 4), u32(bytes, at + 8), member.crc, member.stored, member.size));
}

void Reader::compare_local(const ZipMember& member, std::span<const std::byte> header,
                           std::span<const std::byte> extra) const {
  constexpr std::uint16_t kMatter = kEncrypted | kDescriptor | kPatch | kZipUtf8Flag;
  if ((u16(header, 6) & kMatter) != (member.flags & kMatter))
    throw corrupt("zip.local.flags", fmt::format("flags {:#06x} in its own header, {:#06x} in the directory",
                                                 u16(header, 6), member.flags));
  if (u16(header, 8) != member.method)
    throw corrupt("zip.local.method",
                  fmt::format("method {} in its own header, {} in the directory", u16(header, 8), member.method));
  // With a data descriptor the writer did not know the numbers yet and wrote zeros (or, for zip64, all ones).
  const auto left_open = [&](std::size_t at) {
    return (member.flags & kDescriptor) != 0 && (u32(header, at) == 0 || u32(header, at) == kZipFull32);
  };
  Zip64Fields large(extra);
  const std::uint64_t size = left_open(22) ? member.size : large.resolve(u32(header, 22), "size in its own header");
  const std::uint64_t stored =
      left_open(18) ? member.stored : large.resolve(u32(header, 18), "stored size in its own header");
  if (size != member.size || stored != member.stored)
    throw corrupt("zip.local.size", fmt::format("{} bytes ({} decoded) in its own header, {} ({}) in the directory",
                                                stored, size, member.stored, member.size));
  if (!left_open(14) && u32(header, 14) != member.crc)
    throw corrupt("zip.local.crc",
                  fmt::format("CRC-32 {:08x} in its own header, {:08x} in the directory", u32(header, 14), member.crc));
}

}  // namespace

std::vector<ZipMember> read_zip(const Source& source, std::uint64_t limit, Diagnostics& diagnostics,
                                std::vector<BadMember>* bad) {
  return Reader(source, limit, diagnostics, bad).run();
}

}  // namespace tare::wire
