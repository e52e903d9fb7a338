#include "wire/zip_writer.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "tare/error.hpp"
#include "wire/zip.hpp"

namespace tare::wire {
namespace {

constexpr std::uint64_t kBuffer = std::uint64_t{256} << 10;
// The unit of work per thread for bodies that can be opened in the middle.
constexpr std::uint64_t kPiece = std::uint64_t{8} << 20;
// Members up to this size are written together with their header.
constexpr std::uint64_t kSmall = std::uint64_t{64} << 10;
constexpr std::uint16_t kVersion = 20, kVersion64 = 45;
constexpr std::uint16_t kDate = 0x0021;  // 1980-01-01
constexpr std::uint32_t kMode = 0100644;

class Out {
 public:
  template <typename T>
  Out& put(std::uint64_t value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    store_le(&bytes_[at], static_cast<T>(value));
    return *this;
  }
  Out& u16(std::uint64_t value) { return put<std::uint16_t>(value); }
  Out& u32(std::uint64_t value) { return put<std::uint32_t>(value); }
  Out& u64(std::uint64_t value) { return put<std::uint64_t>(value); }
  Out& append(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  Out& zeros(std::size_t count) {
    bytes_.resize(bytes_.size() + count);
    return *this;
  }
  Bytes& bytes() { return bytes_; }

 private:
  Bytes bytes_;
};

std::uint64_t full32(std::uint64_t value) { return std::min<std::uint64_t>(value, kZipFull32); }
bool large(std::uint64_t value) { return value >= kZipFull32; }

class ArchiveWriter {
 public:
  ArchiveWriter(Sink& sink, std::vector<ZipEntry> entries, unsigned threads, Progress* progress)
      : sink_(sink), threads_(threads), progress_(progress) {
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    members_.reserve(entries.size());
    for (ZipEntry& entry : entries) lay_out(std::move(entry));
  }

  void run() {
    verify_bodies();
    cut();
    if (sink_.positional()) {
      sink_.skip(end_);
      parallel_for(pieces_.size(), threads_, [this](std::size_t i) { place(pieces_[i]); });
      join();
      parallel_for(members_.size(), threads_, [this](std::size_t i) {
        if (!small(members_[i])) sink_.write_at(members_[i].header, head(members_[i]));
      });
    } else {
      parallel_for(pieces_.size(), threads_, [this](std::size_t i) { sum(pieces_[i]); });
      join();
      for (const Member& member : members_) stream(member);
    }
    write_directory();
  }

 private:
  struct Member {
    ZipEntry entry;
    std::uint64_t header = 0, data = 0, size = 0;
    std::uint16_t padding = 0;  // bytes of the padding record
    std::uint32_t crc = 0;
  };
  struct Piece {
    std::size_t member;
    std::uint64_t begin, end;  // offsets in the body
    std::uint32_t crc;
  };

  bool small(const Member& member) const { return member.size <= kSmall; }

  void lay_out(ZipEntry entry) {
    Member member;
    member.header = end_;
    member.size = entry.front.size() + entry.body.size();
    const std::uint64_t bare = member.header + kZipLocalSize + entry.name.size() + (large(member.size) ? 20 : 0);
    // A record has at least six bytes: its id, its length and the alignment.
    member.padding = static_cast<std::uint16_t>((kZipAlignment - bare % kZipAlignment) % kZipAlignment);
    if (member.padding != 0 && member.padding < 6) member.padding += kZipAlignment;
    member.data = bare + member.padding;
    const auto end = checked_add(member.data, member.size);
    if (!end)
      throw Error(ErrorKind::limit, "zip.write.large", "the archive would not fit 64 bits").about(quote(entry.name));
    end_ = *end;
    member.entry = std::move(entry);
    members_.push_back(std::move(member));
  }

  // Bytes with a digest or a guard are verified as a whole before they are written in pieces.
  void verify_bodies() const {
    std::vector<const Blob*> bodies;
    for (const Member& member : members_)
      if (member.entry.body.digest() || member.entry.body.guard() != nullptr) bodies.push_back(&member.entry.body);
    parallel_for(bodies.size(), threads_, [&](std::size_t i) { bodies[i]->verify(); });
  }

  void cut() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Blob& body = members_[i].entry.body;
      const std::uint64_t step = body.size() <= kPiece ? 0 : body.seek_granularity();
      const std::uint64_t piece = step == 0 ? body.size() : ceil_div(kPiece, step) * step;
      std::uint64_t at = 0;
      do {
        const std::uint64_t end = at + std::min(piece, body.size() - at);
        pieces_.push_back({i, at, end, 0});
        at = end;
      } while (at < body.size());
    }
  }

  template <typename Visit>
  void pull(const Piece& piece, const Visit& visit) {
    if (piece.begin == piece.end) return;
    Bytes buffer(static_cast<std::size_t>(std::min(kBuffer, piece.end - piece.begin)));
    const auto reader = members_[piece.member].entry.body.open(piece.begin);
    for (std::uint64_t at = piece.begin; at < piece.end;) {
      const auto part =
          std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), piece.end - at)));
      reader->read(part);
      visit(at, part);
      at += part.size();
    }
  }

  void advance(std::uint64_t bytes) {
    if (progress_ != nullptr) progress_->advance(bytes);
  }

  void sum(Piece& piece) {
    pull(piece, [&](std::uint64_t, std::span<const std::byte> bytes) { piece.crc = crc32(piece.crc, bytes); });
  }

  void place(Piece& piece) {
    Member& member = members_[piece.member];
    if (small(member)) return place_small(member, piece);
    const std::uint64_t base = member.data + member.entry.front.size();
    pull(piece, [&](std::uint64_t at, std::span<const std::byte> bytes) {
      piece.crc = crc32(piece.crc, bytes);
      sink_.write_at(base + at, bytes);
      advance(bytes.size());
    });
  }

  void place_small(Member& member, Piece& piece) {
    Bytes body(member.entry.body.size());
    member.entry.body.read(0, body);
    piece.crc = crc32(0, body);
    member.crc = crc32(crc32(0, member.entry.front), body);
    Bytes all = head(member);
    all.insert(all.end(), body.begin(), body.end());
    sink_.write_at(member.header, all);
    advance(body.size());
  }

  // Computes a member's CRC-32 from those of its pieces.
  void join() {
    for (Member& member : members_) member.crc = crc32(0, member.entry.front);
    for (const Piece& piece : pieces_) {
      std::uint32_t& crc = members_[piece.member].crc;
      crc = static_cast<std::uint32_t>(::crc32_combine(crc, piece.crc, static_cast<z_off_t>(piece.end - piece.begin)));
    }
  }

  void stream(const Member& member) {
    sink_.write(head(member));
    std::uint32_t crc = crc32(0, member.entry.front);
    const auto index = static_cast<std::size_t>(&member - members_.data());
    pull({index, 0, member.entry.body.size(), 0}, [&](std::uint64_t, std::span<const std::byte> bytes) {
      crc = crc32(crc, bytes);
      sink_.write(bytes);
      advance(bytes.size());
    });
    if (crc != member.crc)
      throw Error(ErrorKind::io, "zip.write.changed", "the bytes were not the same when they were read a second time")
          .about(quote(member.entry.name));
  }

  static std::uint16_t flags(const std::string& name) {
    const bool ascii =
        std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    return !ascii && is_valid_utf8(name) ? kZipUtf8Flag : 0;
  }

  // The local header and `front`.
  static Bytes head(const Member& member) {
    const bool wide = large(member.size);
    const std::string& name = member.entry.name;
    Out out;
    out.bytes().reserve((member.data - member.header) + member.entry.front.size());
    out.u32(kZipLocal).u16(wide ? kVersion64 : kVersion).u16(flags(name)).u16(0).u16(0).u16(kDate).u32(member.crc);
    out.u32(full32(member.size)).u32(full32(member.size)).u16(name.size()).u16((wide ? 20 : 0) + member.padding);
    out.append(std::as_bytes(std::span(name)));
    if (wide) out.u16(kZip64Extra).u16(16).u64(member.size).u64(member.size);
    if (member.padding != 0)
      out.u16(kZipPaddingExtra).u16(member.padding - 4u).u16(kZipAlignment).zeros(member.padding - 6u);
    out.append(member.entry.front);
    return std::move(out.bytes());
  }

  static void central(const Member& member, Out& out) {
    const bool wide = large(member.size), far = large(member.header);
    const std::string& name = member.entry.name;
    const unsigned extra = (wide ? 16u : 0u) + (far ? 8u : 0u);
    const std::uint16_t version = extra != 0 ? kVersion64 : kVersion;
    out.u32(kZipCentral).u16(3u << 8 | version).u16(version).u16(flags(name)).u16(0).u16(0).u16(kDate).u32(member.crc);
    out.u32(full32(member.size)).u32(full32(member.size)).u16(name.size()).u16(extra == 0 ? 0 : extra + 4).u16(0);
    out.u16(0).u16(0).u32(kMode << 16).u32(full32(member.header));
    out.append(std::as_bytes(std::span(name)));
    if (extra == 0) return;
    out.u16(kZip64Extra).u16(extra);
    if (wide) out.u64(member.size).u64(member.size);
    if (far) out.u64(member.header);
  }

  void write_directory() {
    Out out;
    for (const Member& member : members_) {
      central(member, out);
      if (out.bytes().size() < kBuffer) continue;
      sink_.write(out.bytes());
      out.bytes().clear();
    }
    const std::uint64_t here = sink_.position() + out.bytes().size();
    const std::uint64_t size = here - end_, count = members_.size();
    if (count >= kZipFull16 || large(size) || large(end_)) {
      out.u32(kZip64End).u64(kZip64EndSize - 12).u16(3u << 8 | kVersion64).u16(kVersion64).u32(0).u32(0);
      out.u64(count).u64(count).u64(size).u64(end_);
      out.u32(kZip64Locator).u32(0).u64(here).u32(1);
    }
    const auto shown = std::min<std::uint64_t>(count, kZipFull16);
    out.u32(kZipEnd).u16(0).u16(0).u16(shown).u16(shown).u32(full32(size)).u32(full32(end_)).u16(0);
    sink_.write(out.bytes());
  }

  Sink& sink_;
  unsigned threads_;
  Progress* progress_;
  std::vector<Member> members_;
  std::vector<Piece> pieces_;
  std::uint64_t end_ = 0;  // end of the members, where the directory begins
};

}  // namespace

void write_zip(Sink& sink, std::vector<ZipEntry> entries, unsigned threads, Progress* progress) {
  ArchiveWriter(sink, std::move(entries), threads, progress).run();
}

}  // namespace tare::wire
