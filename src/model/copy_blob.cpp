#include "model/copy_blob.hpp"

#include <algorithm>

namespace tare {

void copy_blob(const Blob& blob, Sink& sink) {
  constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;
  Bytes chunk(static_cast<std::size_t>(std::min(kChunk, blob.size())));
  const auto reader = blob.open();
  for (std::uint64_t left = blob.size(); left > 0;) {
    const auto part = std::span(chunk).first(static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), left)));
    reader->read(part);
    sink.write(part);
    left -= part.size();
  }
}

}  // namespace tare
