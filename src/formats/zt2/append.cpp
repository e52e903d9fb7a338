// Grows a file in place; the file is valid at every moment.
//
// A reader finds the manifest through the last 40 bytes, which have its offset from the beginning of the file. So a
// copy of the footer at any later end is as good as the footer itself:
//
//   1. write a copy of the footer far beyond the end. It is one small write inside one sector: the file has its old end
//      or the new one, and lists the same tensors as before.
//   2. fill the gap with the new blobs, the new manifest and its footer, and flush.
//   3. truncate the file right after that footer. This is the commit, a single system call.
//
// The old bytes of the file are not touched, as the document requires: the old manifest and its footer become bytes
// that nothing refers to. If something fails, truncating the file at its old end undoes everything.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <numeric>

#include "formats/amend_file.hpp"
#include "formats/merge_rest.hpp"
#include "formats/zt2/zt2.hpp"
#include "io/descriptor.hpp"
#include "io/descriptor_source.hpp"
#include "io/growing_sink.hpp"

namespace tare::zt2 {
namespace {

class AppendSink final : public io::GrowingSink {
 public:
  // `footer`: the old one; `end`: the file's size.
  AppendSink(std::string path, int fd, const Footer& footer, std::uint64_t end)
      : GrowingSink(std::move(path), fd, end), footer_(footer.bytes), end_(end) {}

 private:
  void reserve(std::uint64_t end) override {
    if (end_ > old_end() && end <= end_ - kFooterBytes) return;
    // A page-aligned end keeps the copy inside one page.
    const std::uint64_t next = (end + kAhead + kPage) / kPage * kPage;
    put_flushed(next - kFooterBytes, footer_);
    // The previous copy is no longer the last one, and may end up between two blobs, where bytes should be zero.
    static constexpr std::array<std::byte, kFooterBytes> kZeros{};
    if (end_ > old_end()) put(end_ - kFooterBytes, kZeros);
    end_ = next;
  }

  std::array<std::byte, kFooterBytes> footer_;
  std::uint64_t end_;  // current size of the file
};

// The entries of the old manifest: its objects, and everything else except the attributes.
struct OldEntries {
  EntryList objects, root;
  std::uint64_t alignment = kCanonical, blobs_end = 0;
};

OldEntries read_entries(const Manifest& manifest) {
  OldEntries old;
  Cbor cbor = manifest_reader(manifest.bytes(), manifest.footer.offset);
  std::uint64_t places = manifest.footer.offset;
  std::string_view key;
  auto entries = cbor.enter(CborMajor::map, "the manifest");
  for (std::size_t begin = cbor.position(); cbor.next_entry(entries, key); begin = cbor.position()) {
    const std::size_t value = cbor.position();
    if (key == "objects") {
      RawObject object;
      auto names = cbor.enter(CborMajor::map, "objects");
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
  // The alignment of a file is not stored, but all blobs show it.
  old.alignment = std::clamp(std::uint64_t{1} << std::countr_zero(places), kFloor, kCanonical);
  return old;
}

// The open file and its manifest.
struct OldFile {
  const std::string& path;
  int fd;
  const Source& source;
  const Manifest& manifest;
};

// Adds the tensors of `extra`, and a manifest that lists them after the old ones and has the metadata of `all`.
void grow(const OldFile& file, const Model& extra, const Model& all, const WriteOptions& options) {
  OldEntries old = read_entries(file.manifest);
  const Footer& footer = file.manifest.footer;
  const std::uint64_t start = footer.offset + footer.length;
  const std::uint64_t end = old.blobs_end > start
                                ? file.source.size()
                                : io::settle_end(file.fd, file.source, start + kFooterBytes, footer.bytes);
  AppendSink sink(file.path, file.fd, footer, end);
  put_blobs(tensors_of(extra), sink, options, old.alignment,
            [&](const StoredObject& object) { add_object(old.objects, object); });
  add_attributes(old.root, all);
  put_manifest(sink, build_manifest(old.objects, std::move(old.root)), old.alignment);
  extra.check_sources();
  sink.commit();
}

}  // namespace

void append(const std::string& path, const Model& extra, const WriteOptions& options) {
  const io::Descriptor file = io::open_for_growing(path, "zt2.append.locked");
  // Reads through the same open file, not the path: its content decides where this file is truncated.
  const SourcePtr source = io::source_of(file.get(), path);
  const Manifest manifest = find_manifest(*source, {});
  if (!manifest.footer.has_manifest())
    throw Error(ErrorKind::unsupported, "zt2.append.data", "a file without a manifest has no list to add to");
  const Model old = read({path, source}, {.listing = true});
  check_writable(extra);
  const Model all = merged_rest(old, extra, source, "zt2.append.exists");
  check_writable(all);
  grow({path, file.get(), *source, manifest}, extra, all, options);
}

// Appends nothing but a manifest.
bool amend(const std::string& given, const Model& before, const Model& after, bool dry_run) {
  if (!after.broken.empty()) return false;
  // In a model of several files, only the root has metadata.
  std::error_code none;
  const std::string path = std::filesystem::is_directory(given, none) ? root_in(given) : given;
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
  const SourcePtr source = io::source_of(file.get(), path);
  const Manifest manifest = find_manifest(*source, {});
  if (!manifest.footer.has_manifest()) return false;
  if (!dry_run) grow({path, file.get(), *source, manifest}, {}, rest, {});
  return true;
}

}  // namespace tare::zt2
