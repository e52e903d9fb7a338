// What is read is kept in windows: a few in memory, and those that were asked for on disk (block_cache.hpp).
//
//   a small read      asks for a window of 48 KiB: most files' metadata, in one request. A read that continues where a window
//                     ended asks for twice as much, up to 1 MiB, so that a parser's many small reads become few requests
//   a large read      asks for exactly its range: tensors, and the rest of a long header
//   inside a tensor   a window ends with the tensor (extent.hpp), and has at least 16 KiB: small neighbours come with it
//
// Near ranges are merged because a window is read for the first of them. Small reads of one source take turns, so that no two
// threads ask for the same window; large ones run side by side, as many as transfer.cpp allows.
#include "io/remote/remote_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <mutex>

#include "base/budget.hpp"
#include "base/keyed_hash.hpp"
#include "base/printable.hpp"
#include "io/remote/block_cache.hpp"
#include "io/remote/bucket.hpp"
#include "io/remote/extent.hpp"
#include "io/remote/fetch.hpp"
#include "io/remote/hub.hpp"

namespace tare::io::remote {
namespace {

constexpr std::uint64_t kFirstWindow = std::uint64_t{48} << 10, kSmallWindow = std::uint64_t{16} << 10;
constexpr std::uint64_t kLargestWindow = std::uint64_t{1} << 20;
constexpr std::size_t kLargeRead = std::size_t{128} << 10;
constexpr std::size_t kMostWindows = 4;
// A small file of known content is read whole, and compared with its digest.
constexpr std::uint64_t kSmallFile = std::uint64_t{64} << 10;

struct Window {
  std::uint64_t offset = 0;
  Bytes bytes;
  std::uint64_t end() const { return offset + bytes.size(); }
  bool has(std::uint64_t at) const { return at >= offset && at < end(); }
};

class RemoteSource final : public Source {
 public:
  RemoteSource(std::string name, const Url& address, std::unique_ptr<RemoteFile> file, Window first)
      : Source(std::move(name), file->identity().size),
        file_(std::move(file)),
        cached_(file_->identity().key(address), this->name()) {
    if (first.bytes.empty()) return;
    if (!cached_.find(0)) cached_.keep(0, first.bytes);
    windows_.push_back(std::move(first));
  }

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    try {
      std::unique_lock lock(mutex_);
      while (!out.empty()) {
        const Window* window = find(offset);
        if (window == nullptr) {
          const std::size_t most = until_window(offset, out.size());
          if (most >= kLargeRead && !is_small()) {
            lock.unlock();
            file_->fetch(offset, out.first(most));
            lock.lock();
            for (std::size_t at = 0; at < most; at += kLargestWindow)
              cached_.keep(offset + at, out.subspan(at, std::min<std::size_t>(most - at, kLargestWindow)));
            offset += most;
            out = out.subspan(most);
            continue;
          }
          window = &load(offset, most);
        }
        const auto begin = static_cast<std::size_t>(offset - window->offset);
        const std::size_t length = std::min(out.size(), window->bytes.size() - begin);
        std::copy_n(window->bytes.begin() + static_cast<std::ptrdiff_t>(begin), length, out.begin());
        offset += length;
        out = out.subspan(length);
      }
    } catch (Error& error) {
      throw Error(error).in(name());
    }
  }

 private:
  bool is_small() const { return size() <= kSmallFile && !file_->identity().content.empty(); }

  // A window with this byte, from memory or from disk; null if there is none.
  const Window* find(std::uint64_t offset) const {
    const auto found =
        std::find_if(windows_.begin(), windows_.end(), [&](const Window& each) { return each.has(offset); });
    if (found != windows_.end()) {
      windows_.splice(windows_.begin(), windows_, found);
      return &windows_.front();
    }
    auto kept = cached_.find(offset);
    if (!kept || kept->first + kept->second.size() > size()) return nullptr;
    return &add({kept->first, std::move(kept->second)});
  }

  // How much of a read begins before the next window.
  std::size_t until_window(std::uint64_t offset, std::size_t length) const {
    for (const Window& each : windows_)
      if (each.offset > offset && each.offset - offset < length)
        length = static_cast<std::size_t>(each.offset - offset);
    return length;
  }

  const Window& load(std::uint64_t offset, std::size_t needed) const {
    if (is_small()) {
      Bytes all = file_->fetch_all();
      cached_.keep(0, all);
      return add({0, std::move(all)});
    }
    std::uint64_t length = 0, twice = 0;
    for (const Window& each : windows_)
      if (each.end() == offset) twice = std::min(2 * static_cast<std::uint64_t>(each.bytes.size()), kLargestWindow);
    const auto limit = reading_until(*this, offset);
    if (limit && *limit - offset >= kSmallWindow)
      length = std::min(*limit - offset, kLargestWindow);
    else
      length = std::max(limit ? kSmallWindow : kFirstWindow, twice);
    length = std::min(std::max<std::uint64_t>(length, needed), size() - offset);
    Window window{offset, Bytes(until_window(offset, static_cast<std::size_t>(length)))};
    file_->fetch(offset, window.bytes);
    cached_.keep(offset, window.bytes);
    return add(std::move(window));
  }

  const Window& add(Window window) const {
    windows_.push_front(std::move(window));
    if (windows_.size() > kMostWindows) windows_.pop_back();
    return windows_.front();
  }

  std::unique_ptr<RemoteFile> file_;
  mutable std::mutex mutex_;
  mutable CachedFile cached_;
  mutable std::list<Window> windows_;  // the one that was used last is first
};

// A file that Hugging Face's own programs have downloaded, under the name of its address.
class DownloadedSource final : public Source {
 public:
  DownloadedSource(std::string name, SourcePtr file) : Source(std::move(name), file->size()), file_(std::move(file)) {}
  void check() const override { file_->check(); }

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override { file_->read(offset, out); }
  const std::byte* do_view() const override {
    const auto all = file_->view(0, size());
    return all ? all->data() : nullptr;
  }

 private:
  SourcePtr file_;
};

SourcePtr source_of(std::string name, const Url& address, std::unique_ptr<RemoteFile> file, Window first) {
  auto source = std::make_shared<RemoteSource>(std::move(name), address, std::move(file), std::move(first));
  grant_remote(*source);
  return source;
}

SourcePtr open_hub(const std::string& address, Access access) {
  const HubPath path = parse_hub(address);
  const auto repository = open_repository(path);
  const HubFile* const file = repository->file(path.path);
  if (file == nullptr) {
    const bool folder = repository->has_folder(path.path);
    throw Error(folder ? ErrorKind::io : ErrorKind::not_found, folder ? "io.open.directory" : "remote.missing",
                folder ? "expected a file, found a directory" : "the repository has no such file")
        .in(address);
  }
  if (const std::string local = repository->downloaded(*file); !local.empty())
    return std::make_shared<DownloadedSource>(address, open_file(local, access));
  Identity identity{.size = file->size, .etag = {}, .last_modified = {}, .content = file->content};
  const Url url = repository->url_of(path.path);
  auto remote = std::make_unique<RemoteFile>(url, repository->credential(), std::move(identity));
  return source_of(address, url, std::move(remote), Window{});
}

SourcePtr open_web(const std::string& address) {
  const bool bucket = is_bucket(address);
  const BucketObject object = bucket ? find_object(address) : BucketObject{parse_url(address), {}};
  const std::string name = bucket ? address : object.url.shown();
  if (object.url.path.ends_with('/'))
    throw Error(ErrorKind::usage, "remote.folder",
                "folders on servers are not listed; name a file, or the index of a set of files")
        .in(name);
  Window first{0, Bytes(kFirstWindow)};
  auto remote = std::make_unique<RemoteFile>(object.url, object.credential, first.bytes);
  // An ETag is that of one address: a server may give files whose addresses differ in their query the same one.
  return source_of(name, object.url, std::move(remote), std::move(first));
}

}  // namespace

void grant_remote(const Source& source) {
  constexpr std::uint64_t kNoDevice = UINT64_MAX;
  // A size that a server states costs it nothing, like a sparse file; the budget has a bound.
  if (Budget* const budget = current_budget()) budget->grant_file(kNoDevice, keyed_hash(source.name()), source.size());
}

SourcePtr open_remote(const std::string& address, Access access) {
  return is_hub(address) ? open_hub(address, access) : open_web(address);
}

}  // namespace tare::io::remote
