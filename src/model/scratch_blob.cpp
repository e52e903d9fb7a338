#include "model/scratch_blob.hpp"

#include <algorithm>

#include "io/scratch.hpp"

namespace tare {

Blob scratch_blob(const Blob& blob) {
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  const auto scratch = io::make_scratch(blob.size());
  const auto reader = blob.open();
  Bytes buffer(static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, blob.size())));
  for (std::uint64_t at = 0; at < blob.size();) {
    const auto part =
        std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), blob.size() - at)));
    reader->read(part);
    scratch->write(at, part);
    at += part.size();
  }
  return Blob::range(scratch->source(), 0, blob.size());
}

}  // namespace tare
