// The bytes of zip members: inflating them and checking their CRC-32.
#include <fmt/format.h>
#include <isa-l/crc.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/once.hpp"
#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "wire/zip.hpp"

namespace tare::wire {
namespace {

constexpr std::size_t kInput = std::size_t{128} << 10;
constexpr std::size_t kChunk = std::size_t{1} << 20;

Error wrong_crc(std::uint32_t expected, std::uint32_t found) {
  return {ErrorKind::corrupt, "zip.member.crc", fmt::format("expected CRC-32 {:08x}, found {:08x}", expected, found)};
}

// Inflates one member in order.
class Inflater final : public BlobReader {
 public:
  // `whole` is set once the last byte has been decoded and checked.
  Inflater(SourcePtr source, ZipMember member, std::shared_ptr<std::atomic<bool>> whole)
      : source_(std::move(source)),
        member_(std::move(member)),
        whole_(std::move(whole)),
        next_(member_.data),
        left_(member_.size),
        input_(static_cast<std::size_t>(std::min<std::uint64_t>(member_.stored, kInput))) {
    // Negative window bits: a raw stream without zlib's header.
    if (::inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() override { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  void read(std::span<std::byte> out) override {
    if (out.size() > left_) throw Error(ErrorKind::usage, "blob.bounds", "read past the end of a blob");
    if (out.empty()) return;
    for (auto rest = out; !rest.empty();) {
      const std::size_t made = inflate_some(rest);
      if (made == 0)
        fail("zip.deflate.short", fmt::format("the stream ends {} bytes before the {} promised",
                                              left_ - (out.size() - rest.size()), member_.size));
      rest = rest.subspan(made);
    }
    crc_ = crc32(crc_, out);
    left_ -= out.size();
    if (left_ == 0) finish();
  }

  void skip(std::uint64_t count) {
    Bytes scratch(static_cast<std::size_t>(std::min<std::uint64_t>(count, kInput)));
    while (count > 0) {
      const auto part =
          std::span(scratch).first(static_cast<std::size_t>(std::min<std::uint64_t>(count, scratch.size())));
      read(part);
      count -= part.size();
    }
  }

  // Nothing may follow the expected bytes, and their CRC-32 must match.
  void finish() {
    std::byte extra[1];
    if (inflate_some(extra) != 0)
      fail("zip.deflate.long", fmt::format("the stream goes on after the {} bytes promised", member_.size));
    if (!ended_) fail("zip.deflate.short", "the stream has no end");
    const std::uint64_t unused = stream_.avail_in + (member_.data + member_.stored - next_);
    if (unused != 0) fail("zip.deflate.trailing", fmt::format("{} bytes after the end of the stream", unused));
    if (crc_ != member_.crc)
      throw wrong_crc(member_.crc, crc_).in(source_->name()).at(member_.data).about(quote(member_.name));
    whole_->store(true, std::memory_order_relaxed);
  }

 private:
  [[noreturn]] void fail(std::string_view rule, std::string_view sentence) const {
    throw Error(ErrorKind::corrupt, rule, sentence)
        .in(source_->name())
        .at(next_ - stream_.avail_in)
        .about(quote(member_.name));
  }

  // Decodes at least one byte into `out` unless the stream has ended.
  std::size_t inflate_some(std::span<std::byte> out) {
    const auto room = static_cast<uInt>(std::min<std::size_t>(out.size(), std::size_t{1} << 30));
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = room;
    while (!ended_ && stream_.avail_out == room) {
      if (stream_.avail_in == 0) refill();
      const bool starved = stream_.avail_in == 0;
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        ended_ = true;
      } else if (status == Z_BUF_ERROR && starved) {
        break;  // truncated; the callers report that
      } else if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        fail("zip.deflate.bad",
             fmt::format("not a deflate stream: {}", stream_.msg == nullptr ? "bad code" : stream_.msg));
      }
    }
    return room - stream_.avail_out;
  }

  void refill() {
    const std::uint64_t end = member_.data + member_.stored;
    const auto part =
        std::span(input_).first(static_cast<std::size_t>(std::min<std::uint64_t>(input_.size(), end - next_)));
    if (part.empty()) return;
    source_->read(next_, part);
    next_ += part.size();
    stream_.next_in = reinterpret_cast<Bytef*>(part.data());
    stream_.avail_in = static_cast<uInt>(part.size());
  }

  SourcePtr source_;
  ZipMember member_;
  std::shared_ptr<std::atomic<bool>> whole_;
  std::uint64_t next_, left_;
  std::uint32_t crc_ = 0;
  Bytes input_;
  z_stream stream_{};
  bool ended_ = false;
};

class InflateProducer final : public BlobProducer {
 public:
  InflateProducer(SourcePtr source, ZipMember member, std::uint64_t skip)
      : source_(std::move(source)), member_(std::move(member)), skip_(skip) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    auto reader = std::make_unique<Inflater>(source_, member_, whole_);
    reader->skip(skip_ + offset);
    return reader;
  }

  // Reading to the end is the check; skip it if that already happened.
  void verify() const override {
    if (whole_->load(std::memory_order_relaxed)) return;
    Inflater reader(source_, member_, whole_);
    if (member_.size == 0) return reader.finish();
    reader.skip(member_.size);
  }

 private:
  SourcePtr source_;
  ZipMember member_;
  std::uint64_t skip_;
  std::shared_ptr<std::atomic<bool>> whole_ = std::make_shared<std::atomic<bool>>(false);
};

void check_crc(const Source& source, const ZipMember& member) {
  Bytes buffer(static_cast<std::size_t>(std::min<std::uint64_t>(member.stored, kChunk)));
  std::uint32_t crc = 0;
  for (std::uint64_t done = 0; done < member.stored;) {
    const auto part =
        std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), member.stored - done)));
    source.read(member.data + done, part);
    crc = crc32(crc, part);
    done += part.size();
  }
  if (crc != member.crc) throw wrong_crc(member.crc, crc).in(source.name()).at(member.data).about(quote(member.name));
}

// Compares the CRC-32 of a stored member once, before the first full read of the member or of a part of it.
class StoredMember final : public BlobGuard {
 public:
  StoredMember(SourcePtr source, ZipMember member) : source_(std::move(source)), member_(std::move(member)) {}

  void verify() const override {
    once_.run([&] {
      try {
        check_crc(*source_, member_);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::corrupt) throw;  // a file that cannot be read now may be read later
        wrong_ = std::make_unique<const Error>(error);
      }
    });
    if (wrong_) throw *wrong_;
  }

 private:
  SourcePtr source_;
  ZipMember member_;
  mutable Once once_;
  mutable std::unique_ptr<const Error> wrong_;
};

}  // namespace

std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes) {
  return ::crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

Blob zip_blob(const SourcePtr& source, const ZipMember& member, std::uint64_t skip) {
  if (!member.deflated())
    return Blob::range(source, member.data + skip, member.size - skip)
        .guarded(std::make_shared<const StoredMember>(source, member));
  return Blob::encoded(source, member.data, member.stored, member.size - skip, Encoding::deflate,
                       std::make_shared<const InflateProducer>(source, member, skip));
}

void check_zip_crcs(const Source& source, const std::vector<ZipMember>& members, Diagnostics& diagnostics,
                    unsigned threads) {
  std::vector<std::pair<std::size_t, Error>> wrong;
  std::mutex mutex;
  parallel_for(members.size(), threads, [&](std::size_t i) {
    if (members[i].deflated()) return;
    try {
      check_crc(source, members[i]);
    } catch (Error& error) {
      const std::scoped_lock lock(mutex);
      wrong.emplace_back(i, error.in(source.name()).at(members[i].data).about(quote(members[i].name)));
    }
  });
  std::sort(wrong.begin(), wrong.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [i, error] : wrong) diagnostics.error(error);
}

}  // namespace tare::wire
