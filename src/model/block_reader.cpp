#include "model/block_reader.hpp"

#include <algorithm>
#include <cstring>

#include "tare/error.hpp"

namespace tare {

void BlockReader::next(std::uint64_t wanted) {
  wanted_ = wanted;
  block_ = make_block();
  if (block_.empty()) throw Error(ErrorKind::usage, "blob.bounds", "read past the end of a blob");
}

void BlockReader::read(std::span<std::byte> out) {
  while (!out.empty()) {
    if (block_.empty()) next(out.size());
    const std::size_t part = std::min(out.size(), block_.size());
    std::memcpy(out.data(), block_.data(), part);
    block_ = block_.subspan(part);
    out = out.subspan(part);
  }
}

void BlockReader::skip(std::uint64_t bytes) {
  while (bytes > 0) {
    if (block_.empty()) next(bytes);
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, block_.size()));
    block_ = block_.subspan(part);
    bytes -= part;
  }
}

}  // namespace tare
