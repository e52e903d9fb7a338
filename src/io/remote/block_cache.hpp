// Parts of remote files that were read before, on disk: $XDG_CACHE_HOME/tare/remote, else ~/.cache/tare/remote.
//
//   KEY/OFFSET-LENGTH    KEY: the SHA-256 of Identity::key, which has the server and a digest or an ETag, so an entry never goes stale
//   KEY/name             the address, without its query, for `tare cache`
//
// A part begins with a magic number, its length and the XXH3 (128 bits) of its bytes: one that was damaged, or cut off by a
// power cut, is removed. Parts appear by renaming, so several processes can use the cache at once, and be killed. A process
// that has written some MiB removes the parts that were not used for the longest time, until the rest fits. Whatever fails
// here only costs a request.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tare/value.hpp"

namespace tare::io::remote {

struct CacheEntry {
  std::string name;  // the address; empty if it is unknown
  std::uint64_t bytes = 0;
  std::uint64_t parts = 0;
};

// The folder; empty if nothing is kept: TARE_CACHE_SIZE is 0, or there is no home directory.
std::string cache_folder();
// What the cache may hold: TARE_CACHE_SIZE in MiB, else 2 GiB.
std::uint64_t cache_limit();
// Sorted by name.
std::vector<CacheEntry> list_cache();
// Removes everything; returns how many bytes were removed.
std::uint64_t empty_cache();

// The parts of one file. Not for several threads at once.
class CachedFile {
 public:
  // `key` empty: nothing is kept.
  CachedFile(const std::string& key, std::string name);

  // The longest part that begins at or before `offset` and has the byte there: its offset and its bytes.
  std::optional<std::pair<std::uint64_t, Bytes>> find(std::uint64_t offset);
  void keep(std::uint64_t offset, std::span<const std::byte> bytes);

 private:
  struct Part {
    std::uint64_t offset, length;
  };
  void look();

  std::string key_, folder_, name_;
  bool looked_ = false;
  std::vector<Part> parts_;
};

}  // namespace tare::io::remote
