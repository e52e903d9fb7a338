#include "io/remote/block_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstring>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/text.hpp"
#include "io/descriptor.hpp"
#include "io/directory.hpp"
#include "io/listing.hpp"
#include "io/remote/settings.hpp"
#include "tare/digest.hpp"

namespace tare::io::remote {
namespace {

constexpr std::string_view kMagic = "tarepart", kNameFile = "name";
constexpr std::size_t kHead = 8 + 8 + 16;
constexpr std::uint64_t kUsualLimit = std::uint64_t{2} << 30, kMostLimit = std::uint64_t{1} << 44;
constexpr std::uint64_t kLongestPart = std::uint64_t{1} << 20;
// The most that one process adds. Otherwise a conversion would push everything else out of the cache.
constexpr std::uint64_t kMostAdded = std::uint64_t{256} << 20;
constexpr std::uint64_t kTidyEvery = std::uint64_t{32} << 20;

std::atomic<std::uint64_t> added{0}, since_tidy{kTidyEvery};

struct Found {
  std::string folder, name;
  std::uint64_t bytes;
  timespec used;
};

bool is_key(std::string_view name) {
  return name.size() == 64 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Every file of the cache. Links are not followed.
std::vector<Found> all_parts(const Directory& cache) {
  std::vector<Found> all;
  for (const std::string& key : cache.names()) {
    if (!is_key(key)) continue;
    const Directory folder = cache.enter(key.c_str());
    if (!folder) continue;
    for (std::string& name : folder.names()) {
      struct stat status {};
      if (folder.look(name.c_str(), status) && S_ISREG(status.st_mode))
        all.push_back({key, std::move(name), static_cast<std::uint64_t>(status.st_size), status.st_mtim});
    }
  }
  return all;
}

// Removes a part, and its folder with the last one.
void remove_part(const Directory& cache, const Found& found) {
  const Directory folder = cache.enter(found.folder.c_str());
  if (!folder) return;
  folder.remove_file(found.name.c_str());
  const std::vector<std::string> left = folder.names();
  if (left.size() == 1 && left.front() == kNameFile) folder.remove_file(left.front().c_str());
  cache.remove_folder(found.folder.c_str());
}

void tidy(const std::string& path) {
  const Directory cache = Directory::open(path.c_str());
  if (!cache) return;
  std::vector<Found> all = all_parts(cache);
  std::uint64_t bytes = 0;
  for (const Found& each : all) bytes += each.bytes;
  const std::uint64_t limit = cache_limit();
  if (bytes <= limit) return;
  std::sort(all.begin(), all.end(), [](const Found& a, const Found& b) {
    return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
  });
  for (const Found& each : all) {
    if (bytes <= limit - limit / 8) return;
    if (each.name == kNameFile) continue;
    remove_part(cache, each);
    bytes -= each.bytes;
  }
}

// The directory of all caches; empty if there is none.
std::string caches() {
  const std::string base = variable("XDG_CACHE_HOME"), above = home();
  if (base.starts_with('/')) return base;
  return above.starts_with('/') ? path_in(above, ".cache") : std::string();
}

// Opens a folder, and makes it for this user alone if it does not exist.
Directory enter_or_make(const Directory& above, const char* name) {
  Directory folder = above.enter(name);
  if (!folder && errno == ENOENT && (above.make(name, 0700) || errno == EEXIST)) folder = above.enter(name);
  return folder;
}

Directory make_folder(const std::string& key) {
  const std::string base = caches();
  Directory at = Directory::open(base.c_str());
  if (!at) {  // a new user has no ~/.cache
    const std::size_t slash = base.rfind('/');
    const Directory above = Directory::open(slash == 0 ? "/" : base.substr(0, slash).c_str());
    if (above) at = enter_or_make(above, base.substr(slash + 1).c_str());
  }
  for (const char* const name : {"tare", "remote", key.c_str()})
    if (at) at = enter_or_make(at, name);
  return at;
}

std::array<std::byte, kHead> head_of(std::span<const std::byte> bytes) {
  std::array<std::byte, kHead> head{};
  std::memcpy(head.data(), kMagic.data(), kMagic.size());
  store_le<std::uint64_t>(head.data() + 8, bytes.size());
  const Digest digest = digest_of(DigestAlgorithm::xxh3_128, bytes);
  std::ranges::copy(digest.bytes(), head.begin() + 16);
  return head;
}

void write_file(const Directory& folder, const std::string& name, std::span<const std::byte> head,
                std::span<const std::byte> bytes) {
  static std::atomic<std::uint64_t> number{0};
  const std::string draft = fmt::format(".draft-{}-{}", ::getpid(), number.fetch_add(1));
  const Descriptor file = folder.create(draft.c_str(), 0600);
  if (!file) return;
  try {
    write_all(file.get(), head, draft);
    write_all(file.get(), bytes, draft);
  } catch (const Error&) {
    folder.remove_file(draft.c_str());
    return;
  }
  if (!folder.rename(draft.c_str(), folder, name.c_str())) folder.remove_file(draft.c_str());
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_part(std::string_view name) {
  std::uint64_t offset = 0, length = 0;
  const char* const end = name.data() + name.size();
  const auto first = std::from_chars(name.data(), end, offset);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, length);
  if (second.ec != std::errc() || second.ptr != end || length == 0 || length > kLongestPart) return std::nullopt;
  return std::pair(offset, length);
}

}  // namespace

std::string cache_folder() {
  if (cache_limit() == 0) return {};
  const std::string base = caches();
  return base.empty() ? base : path_in(base, "tare/remote");
}

std::uint64_t cache_limit() {
  const std::string text = variable("TARE_CACHE_SIZE");
  std::uint64_t mebibytes = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), mebibytes);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return kUsualLimit;
  return std::min(mebibytes, kMostLimit >> 20) << 20;
}

std::vector<CacheEntry> list_cache() {
  std::vector<CacheEntry> entries;
  const Directory cache = Directory::open(cache_folder().c_str());
  if (!cache) return entries;
  std::string last;
  for (const Found& each : all_parts(cache)) {  // sorted by folder
    if (each.folder != last) entries.emplace_back();
    last = each.folder;
    CacheEntry& entry = entries.back();
    entry.bytes += each.bytes;
    if (each.name != kNameFile) {
      ++entry.parts;
      continue;
    }
    constexpr std::size_t kLongestName = 4096;
    const Descriptor file = cache.enter(each.folder.c_str()).read(each.name.c_str());
    std::array<std::byte, kLongestName> text{};
    if (file) entry.name = as_text(std::span(text).first(pread_all(file.get(), 0, text, each.name)));
  }
  std::sort(entries.begin(), entries.end(), [](const CacheEntry& a, const CacheEntry& b) { return a.name < b.name; });
  return entries;
}

std::uint64_t empty_cache() {
  std::uint64_t bytes = 0;
  const Directory cache = Directory::open(cache_folder().c_str());
  if (!cache) return bytes;
  for (const Found& each : all_parts(cache)) {
    remove_part(cache, each);
    bytes += each.bytes;
  }
  return bytes;
}

CachedFile::CachedFile(const std::string& key, std::string name) : name_(std::move(name)) {
  const std::string cache = key.empty() ? std::string() : cache_folder();
  if (cache.empty()) return;
  key_ = digest_of(DigestAlgorithm::sha256, std::as_bytes(std::span(key))).hex();
  folder_ = path_in(cache, key_);
}

void CachedFile::look() {
  looked_ = true;
  std::error_code failed;
  for (const std::string& name : names_in(folder_, failed))
    if (const auto part = parse_part(name)) parts_.push_back({part->first, part->second});
}

std::optional<std::pair<std::uint64_t, Bytes>> CachedFile::find(std::uint64_t offset) {
  if (folder_.empty()) return std::nullopt;
  if (!looked_) look();
  const Part* best = nullptr;
  for (const Part& part : parts_) {
    const auto end = checked_add(part.offset, part.length);
    if (part.offset > offset || !end || *end <= offset) continue;
    if (best == nullptr || *end > best->offset + best->length) best = &part;
  }
  if (best == nullptr) return std::nullopt;
  const Part part = *best;
  const std::string name = fmt::format("{}-{}", part.offset, part.length);
  const Directory folder = Directory::open(folder_.c_str());
  const Descriptor file = folder ? folder.read(name.c_str()) : Descriptor();
  struct stat status {};
  const bool sized = file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                     static_cast<std::uint64_t>(status.st_size) == kHead + part.length;
  try {
    Bytes bytes(sized ? static_cast<std::size_t>(part.length) : 0);
    std::array<std::byte, kHead> head{};
    const bool whole = sized && pread_all(file.get(), 0, head, name) == head.size() &&
                       pread_all(file.get(), kHead, bytes, name) == bytes.size() && head == head_of(bytes);
    if (whole) {
      ::futimens(file.get(), nullptr);  // marks it as used, which decides what is removed first
      return std::pair(part.offset, std::move(bytes));
    }
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): it is asked for again
  }
  if (folder) folder.remove_file(name.c_str());
  std::erase_if(parts_, [&](const Part& each) { return each.offset == part.offset && each.length == part.length; });
  return find(offset);
}

void CachedFile::keep(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (folder_.empty() || bytes.empty() || bytes.size() > kLongestPart) return;
  if (added.fetch_add(bytes.size()) + bytes.size() > kMostAdded) return;
  try {
    const Directory folder = make_folder(key_);
    if (!folder) return;
    if (!folder.has(std::string(kNameFile).c_str()))
      write_file(folder, std::string(kNameFile), {}, std::as_bytes(std::span(name_)));
    write_file(folder, fmt::format("{}-{}", offset, bytes.size()), head_of(bytes), bytes);
    if (looked_) parts_.push_back({offset, bytes.size()});
    if (since_tidy.fetch_add(bytes.size()) < kTidyEvery) return;
    since_tidy = 0;
    tidy(cache_folder());
  } catch (const Error&) {              // NOLINT(bugprone-empty-catch): see the header
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): likewise
  }
}

}  // namespace tare::io::remote
