// Appends in place; the file is valid at every moment.
//
// A reader finds the manifest through the last 16 bytes of the file and uses the first CBOR item there; bytes after the
// item, within the stated length, are ignored. So the file can grow without ever losing its manifest:
//
//   1. write 16 bytes far beyond the end: a footer with a length that reaches back to the old manifest. It is one small
//      write inside one page: the file has its old end or the new one, never something between.
//   2. fill the gap before that footer with the new blobs, then the new manifest and its own footer.
//   3. truncate the file right after that new footer. This is the commit, a single system call.
//
// A manifest may state at most 1 GiB. If more than that is appended, a copy of the old manifest is written before the
// far footer from time to time, and the footer refers to the copy; new blobs overwrite the copies later, or the
// truncation removes them. If something fails, truncating the file at its old end undoes everything.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "base/printable.hpp"
#include "formats/amend_file.hpp"
#include "formats/merge_rest.hpp"
#include "formats/own_attributes.hpp"
#include "formats/zt/zt.hpp"
#include "io/descriptor.hpp"
#include "io/descriptor_source.hpp"
#include "io/growing_sink.hpp"
#include "io/unfinished.hpp"

namespace tare::zt {
namespace {

class AppendSink final : public io::GrowingSink {
 public:
  // `manifest` is the old one, at `manifest_offset`; `end` is the file's size; `reach` is the longest manifest that a
  // footer may state.
  AppendSink(std::string path, int fd, Bytes manifest, std::uint64_t manifest_offset, std::uint64_t end,
             std::uint64_t reach)
      : GrowingSink(std::move(path), fd, end),
        manifest_(std::move(manifest)),
        live_(manifest_offset),
        end_(end),
        reach_(reach),
        // Two copies of the manifest must never touch.
        ahead_(std::max<std::uint64_t>(std::min(kAhead, reach / 4), 2 * manifest_.size() + kPage)) {}

 private:
  // Bytes below this offset may be written: they contain neither the far footer nor the live manifest, nor the place
  // for the next copy of it.
  std::uint64_t free_end() const {
    if (live_ >= old_end()) return live_;
    return end_ == old_end() ? end_ : end_ - kFooterBytes - manifest_.size();
  }

  void put_footer_at(std::uint64_t end, std::uint64_t manifest_offset) {
    put_flushed(end - kFooterBytes, make_footer(end - kFooterBytes - manifest_offset));
  }

  void reserve(std::uint64_t end) override {
    while (free_end() < end) {
      // A page-aligned end keeps the footer inside one page.
      const std::uint64_t wanted = (end + manifest_.size() + ahead_ + kPage) / kPage * kPage;
      const std::uint64_t farthest = (live_ + reach_) / kPage * kPage;
      const bool near = wanted <= farthest && live_ < old_end();
      const std::uint64_t next = std::min(wanted, farthest);
      put_footer_at(next, live_);
      end_ = next;
      if (near) continue;
      const std::uint64_t copy = next - kFooterBytes - manifest_.size();
      put_flushed(copy, manifest_);
      put_footer_at(next, copy);
      live_ = copy;
    }
  }

  Bytes manifest_;
  std::uint64_t live_;  // offset of the manifest that the last footer refers to
  std::uint64_t end_;   // current size of the file
  std::uint64_t reach_, ahead_;
};

// Returns the old manifest as its one CBOR item, without the bytes that may follow it.
Bytes first_item(const Manifest& manifest, const std::string& path, unsigned depth) {
  wire::CborReader cbor(manifest.bytes(), path, manifest.offset, depth);
  cbor.skip();
  const auto item = manifest.bytes().first(manifest.bytes().size() - cbor.remaining());
  return Bytes(item.begin(), item.end());
}

// Throws if a component is read in another form than it is stored (signed indices): the new manifest could not list it
// as it is stored.
void check_in_place(const Model& old) {
  for (const Tensor& tensor : old.tensors)
    for (const Component& component : tensor.components)
      if (component.blob.source() == nullptr)
        throw Error(
            ErrorKind::unsupported, "zt.append.index",
            fmt::format("its component \"{}\" is not stored as u64; convert the file first", quote(component.role)))
            .about("tensor " + quote(tensor.name));
}

StoredTensor as_stored(const Tensor& tensor) {
  StoredTensor stored;
  stored.tensor = &tensor;
  for (const Component& component : tensor.components) {
    StoredComponent& mine = stored.components.emplace_back();
    mine.offset = component.blob.offset();
    mine.length = component.blob.stored_size();
    if (component.blob.encoding() == Encoding::zstd) mine.uncompressed = component.blob.size();
    mine.digest = component.blob.digest().text();
  }
  return stored;
}

void zero_out(int fd, std::uint64_t begin, std::uint64_t end, const std::string& path) {
  static constexpr std::array<std::byte, 4096> kZeros{};
  for (; begin < end; begin += std::min<std::uint64_t>(kZeros.size(), end - begin))
    io::pwrite_all(
        fd, begin,
        std::span(kZeros).first(static_cast<std::size_t>(std::min<std::uint64_t>(kZeros.size(), end - begin))), path);
}

// At least two copies must fit between a footer and the manifest that it refers to.
bool is_too_large(const Bytes& item, std::uint64_t reach) { return item.size() > reach / 8; }

// The open file and its contents.
struct OldFile {
  const std::string& path;
  int fd;
  const Source& source;
  const Manifest& manifest;
  Bytes item;
  std::span<const Tensor> tensors;
};

// Adds the tensors of `extra`, and a manifest that lists them after the old ones and has the metadata of `all`.
void grow(OldFile old, const Model& extra, const Model& all, const WriteOptions& options, std::uint64_t reach) {
  const std::uint64_t end = io::settle_end(old.fd, old.source, old.manifest.offset + old.item.size() + kFooterBytes,
                                           make_footer(old.item.size()));
  AppendSink sink(old.path, old.fd, std::move(old.item), old.manifest.offset, end, reach);
  std::vector<StoredTensor> stored = put_blobs(extra.tensors, sink, options);
  for (const Tensor& tensor : old.tensors) stored.push_back(as_stored(tensor));
  put_footer(sink, build_manifest(all, std::move(stored)));
  extra.check_sources();
  // From here on, a signal leaves the old file or the finished new one.
  const io::Changing changing;
  sink.commit();
  // The old manifest, and the remains of a killed append before it, are now a gap between blobs; gaps must be zero.
  std::uint64_t old_data_end = kAlignment;
  for (const Tensor& tensor : old.tensors)
    for (const Component& component : tensor.components)
      old_data_end = std::max(old_data_end, component.blob.offset() + component.blob.stored_size());
  zero_out(old.fd, std::min(old_data_end, old.manifest.offset), end, old.path);
}

}  // namespace

void append(const std::string& path, const Model& extra, const WriteOptions& options, std::uint64_t reach) {
  const io::Descriptor file = io::open_for_growing(path, "zt.append.locked");
  // Reads through the same open file, not the path: its content decides where this file is truncated.
  const SourcePtr source = io::source_of(file.get(), path);
  if (!recognize(*source))
    throw Error(ErrorKind::unsupported, "zt.append.format", "only zTensor files can be appended to");
  const Manifest manifest = find_manifest(*source, {});
  if (!manifest.has_footer)
    throw Error(ErrorKind::unsupported, "zt.append.version",
                "containers before 1.1 cannot be appended to; convert the file first");
  const Model old = read({path, source}, {});
  check_in_place(old);
  check_writable(extra);
  const Model all = merged_rest(old, extra, source, "zt.append.exists");
  check_own_attributes(all, "zt");
  Bytes item = first_item(manifest, path, Limits().depth);
  if (is_too_large(item, reach))
    throw Error(ErrorKind::limit, "zt.append.manifest",
                fmt::format("a manifest of {} bytes is too large to append to", item.size()));
  grow({path, file.get(), *source, manifest, std::move(item), old.tensors}, extra, all, options, reach);
}

// Appends nothing but a manifest.
bool amend(const std::string& path, const Model& before, const Model& after, bool dry_run) {
  const bool stored_so = std::ranges::all_of(after.tensors, [](const Tensor& tensor) {
    return std::ranges::all_of(tensor.components,
                               [](const Component& component) { return component.blob.source() != nullptr; });
  });
  if (!stored_so || !after.broken.empty()) return false;
  check_writable(after);
  const io::Descriptor file = open_to_amend(path, before);
  if (!file) return false;
  const SourcePtr source = io::source_of(file.get(), path);
  const Manifest manifest = find_manifest(*source, {});
  if (!manifest.has_footer) return false;
  Bytes item = first_item(manifest, path, Limits().depth);
  if (is_too_large(item, kMaxManifest)) return false;
  if (!dry_run)
    grow({path, file.get(), *source, manifest, std::move(item), after.tensors}, {}, after, {}, kMaxManifest);
  return true;
}

}  // namespace tare::zt
