// Reads all bytes of a blob in chunks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tare/blob.hpp"

namespace tare {

// Calls `visit` with chunks of up to 1 MiB, in order, until it returns false.
template <typename Visit>
void pull_blob(const Blob& blob, const Visit& visit) {
  Bytes buffer(static_cast<std::size_t>(std::min<std::uint64_t>(blob.size(), std::size_t{1} << 20)));
  const auto reader = blob.open();
  for (std::uint64_t left = blob.size(); left > 0;) {
    const std::span part =
        std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), left)));
    reader->read(part);
    if (!visit(std::span<const std::byte>(part))) return;
    left -= part.size();
  }
}

}  // namespace tare
