// A reader whose bytes come in blocks that a subclass makes one after another.
#pragma once

#include <cstdint>
#include <span>

#include "tare/blob.hpp"

namespace tare {

class BlockReader : public BlobReader {
 public:
  void read(std::span<std::byte> out) final;
  // Drops the next bytes, making the blocks they are in.
  void skip(std::uint64_t bytes);

 protected:
  // The next block, valid until the next call; empty at the end.
  virtual std::span<const std::byte> make_block() = 0;

 private:
  void next();

  std::span<const std::byte> block_;
};

}  // namespace tare
