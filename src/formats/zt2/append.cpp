// Growing a file in place, such that it is whole at every moment.
//
// A reader finds the manifest through the last 40 bytes, which say where it is from the beginning of the file on. So a copy
// of the footer at any later end is as good as the footer itself:
//
//   1. write a copy of the footer far beyond the end. One small write inside one sector: the file has its old end or the new
//      one, and lists what it listed before.
//   2. fill the gap with the new blobs, the new manifest and its footer, and flush.
//   3. truncate the file right after that footer. This is the commit, a single system call.
//
// What was in the file before is not touched, as the document demands: the old manifest and its footer become bytes that
// nothing refers to. When something fails, truncating the file at its old end undoes everything.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <mutex>
#include <numeric>

#include "formats/amend_file.hpp"
#include "formats/merge_rest.hpp"
#include "formats/zt2/zt2.hpp"
#include "io/descriptor.hpp"
#include "io/descriptor_source.hpp"
#include "io/place.hpp"
#include "io/unfinished.hpp"

namespace tare::zt2 {
namespace {

constexpr std::uint64_t kPage = 4096;
// How far ahead of the data the copy of the footer is kept: holes cost nothing, moving it costs a flush.
constexpr std::uint64_t kAhead = std::uint64_t{64} << 20;

// Every write passes the gate (io/unfinished.hpp), so that a signal finds the file with its old end or its new one.
class GrowingSink final : public Sink, private io::Unfinished {
 public:
  // `footer`: the old one; `end`: the file's size.
  GrowingSink(std::string path, int fd, const Footer& footer, std::uint64_t end)
      : path_(std::move(path)), fd_(fd), footer_(footer.bytes), old_end_(end), end_(end) {
    skip(end);
    enlist();
  }
  ~GrowingSink() override {  // also on any exception
    const io::Changing changing;
    discard();
    delist();
  }
  GrowingSink(const GrowingSink&) = delete;
  GrowingSink& operator=(const GrowingSink&) = delete;

  const std::string& name() const override { return path_; }
  bool positional() const override { return true; }
  void commit() override {
    io::sync_file(fd_, path_);
    const io::Changing changing;
    if (::ftruncate(fd_, static_cast<off_t>(position())) != 0)
      throw io::system_error("io.sink.write", "cannot set the size", path_, errno);
    committed_ = true;
    io::sync_file(fd_, path_);
  }

 protected:
  void do_write(std::uint64_t offset, std::span<const std::byte> bytes) override { do_write_at(offset, bytes); }
  void do_write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const io::Changing changing;
    reserve(offset + bytes.size());
    io::pwrite_all(fd_, offset, bytes, path_);
  }
  void do_skip(std::uint64_t /*new_end*/) override {}

 private:
  // Should the cut fail, the copy of the footer still leads to the old manifest: there is nothing to do about it.
  void discard() noexcept override {
    if (!committed_ && ::ftruncate(fd_, static_cast<off_t>(old_end_)) != 0) return;
  }

  // Bytes below `end` may be written once this returns: the last footer is beyond them.
  void reserve(std::uint64_t end) {
    const std::scoped_lock lock(mutex_);
    if (end_ > old_end_ && end <= end_ - kFooterBytes) return;
    const std::uint64_t next = (end + kAhead + kPage) / kPage * kPage;
    io::pwrite_all(fd_, next - kFooterBytes, footer_, path_);
    io::sync_file(fd_, path_);
    // The copy before it is not the last one any more, and may come to be between two blobs, where zeros are.
    static constexpr std::array<std::byte, kFooterBytes> kZeros{};
    if (end_ > old_end_) io::pwrite_all(fd_, end_ - kFooterBytes, kZeros, path_);
    end_ = next;
  }

  std::string path_;
  int fd_;
  std::array<std::byte, kFooterBytes> footer_;
  std::uint64_t old_end_;  // size of the file before us
  std::uint64_t end_;      // size of the file now
  bool committed_ = false;
  std::mutex mutex_;
};

// The entries of the old manifest: its objects, and whatever else it says beside the attributes.
struct OldEntries {
  EntryList objects, root;
  std::uint64_t alignment = kCanonical, blobs_end = 0;
};

OldEntries read_entries(const Manifest& manifest) {
  OldEntries old;
  Cbor cbor(manifest.bytes(), manifest.footer.offset);
  std::uint64_t places = manifest.footer.offset;
  std::string_view key;
  auto entries = cbor.map("the manifest");
  for (std::size_t begin = cbor.position(); cbor.next_entry(entries, key); begin = cbor.position()) {
    const std::size_t value = cbor.position();
    if (key == "objects") {
      RawObject object;
      auto names = cbor.map("objects");
      for (std::size_t start = cbor.position(); cbor.next_entry(names, object.name); start = cbor.position()) {
        const std::size_t middle = cbor.position();
        object.parts.clear();
        object.shape.clear();
        read_object(cbor, object);
        old.objects.add({cbor.between(start, middle), cbor.between(start, cbor.position())});
        for (const RawPart& part : object.parts) {
          if (part.shard.data() != nullptr) continue;
          places = std::gcd(places, *part.offset);
          old.blobs_end = std::max(old.blobs_end, *part.offset + *part.length);
        }
      }
      continue;
    }
    cbor.skip();
    if (key != "attributes") old.root.add({cbor.between(begin, value), cbor.between(begin, cbor.position())});
  }
  // The alignment of a file is nowhere in it, and does not need to be: every blob shows it.
  old.alignment = std::clamp(std::uint64_t{1} << std::countr_zero(places), kFloor, kCanonical);
  return old;
}

// An append that was killed leaves a long tail, and the footer that it was to follow is still in there. Cutting back to it
// frees the room.
std::uint64_t settle_end(int fd, const Source& source, const Manifest& manifest, const OldEntries& old) {
  const std::uint64_t start = manifest.footer.offset + manifest.footer.length, end = start + kFooterBytes;
  if (end >= source.size() || old.blobs_end > start) return source.size();
  std::array<std::byte, kFooterBytes> original{};
  source.read(start, original);
  if (original != manifest.footer.bytes) return source.size();
  if (::ftruncate(fd, static_cast<off_t>(end)) != 0)
    throw io::system_error("io.sink.write", "cannot set the size", source.name(), errno);
  return end;
}

// The open file, and its manifest.
struct OldFile {
  const std::string& path;
  int fd;
  const Source& source;
  const Manifest& manifest;
};

// Adds the tensors of `extra`, and a manifest that lists them beside the old ones and says what `all` says.
void grow(const OldFile& file, const Model& extra, const Model& all, const WriteOptions& options) {
  OldEntries old = read_entries(file.manifest);
  const std::uint64_t end = settle_end(file.fd, file.source, file.manifest, old);
  GrowingSink sink(file.path, file.fd, file.manifest.footer, end);
  for (const StoredObject& object : put_blobs(objects_of(extra), sink, options, old.alignment))
    add_object(old.objects, object);
  add_attributes(old.root, all);
  put_manifest(sink, build_manifest(old.objects, std::move(old.root)), old.alignment);
  extra.check_sources();
  sink.commit();
}

// A link is followed only if nobody else can have planted it.
io::Descriptor open_for_growing(const std::string& path) {
  constexpr std::string_view kDoing = "cannot open for appending";
  const io::Place place = io::find_place(path, "io.open.missing", kDoing);
  io::Descriptor file(
      ::openat(place.parent.descriptor(), place.name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) throw io::system_error(errno == ENOENT ? "io.open.missing" : "io.open.refused", kDoing, path, errno);
  return file;
}

}  // namespace

void append(const std::string& path, const Model& extra, const WriteOptions& options) {
  const io::Descriptor file = open_for_growing(path);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    throw io::system_error("zt2.append.locked", "another program is appending to it", path, errno);
  // The same open file, not the same path: what is read decides where this one is cut.
  const SourcePtr source = io::descriptor_source(io::Descriptor(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0)), path);
  const Manifest manifest = find_manifest(*source, {});
  if (!manifest.footer.has_manifest())
    throw Error(ErrorKind::unsupported, "zt2.append.data", "a file without a manifest has no list to add to");
  const Model old = read({path, source}, {.listing = true});
  refuse_known_names(old, extra, "zt2.append.exists");
  check_writable(extra);
  const Model all = merged_rest(old, extra, "zt2.append.exists");
  check_writable(all);
  grow({path, file.get(), *source, manifest}, extra, all, options);
}

// An append of nothing but a manifest.
bool amend(const std::string& path, const Model& before, const Model& after, bool dry_run) {
  if (!after.broken.empty()) return false;
  // Of a model in several files only the root says anything.
  Model root;
  for (const SourcePtr& source : before.sources)
    if (source->name() == path) root.sources = {source};
  Model rest;
  rest.metadata = after.metadata;
  rest.config = after.config;
  rest.vocabulary = after.vocabulary;
  rest.attachments = after.attachments;
  check_writable(rest);
  const io::Descriptor file = open_to_amend(path, root);
  if (!file) return false;
  const SourcePtr source = io::descriptor_source(io::Descriptor(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0)), path);
  const Manifest manifest = find_manifest(*source, {});
  if (!manifest.footer.has_manifest()) return false;
  if (!dry_run) grow({path, file.get(), *source, manifest}, {}, rest, {});
  return true;
}

}  // namespace tare::zt2
