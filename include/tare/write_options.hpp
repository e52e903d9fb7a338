// How the bytes of a model are stored, as far as a container leaves a choice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tare/digest.hpp"
#include "tare/work.hpp"

namespace tare {

struct WriteOptions {
  // Compress components at this level. Nothing: components that the input stores in zstd are copied byte for byte, and
  // all others are stored raw.
  std::optional<int> zstd_level = std::nullopt;
  bool unpack = false;  // without a level: also decompress the components that the input compresses
  // The digest to store with each component. Nothing: the same algorithm as in the input, computed again.
  std::optional<DigestAlgorithm> digest = std::nullopt;
  bool dedup = false;        // store components with equal bytes once
  std::string dialect = {};  // one of the row's `dialects`; empty: the canonical form
  // Split the tensors over files of at most this many bytes each (a larger tensor gets a file of its own).
  std::optional<std::uint64_t> shard_bytes = std::nullopt;
  Work work = {};
};

}  // namespace tare
