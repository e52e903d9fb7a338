// A reader whose bytes come in blocks that a subclass produces one after another.
#pragma once

#include <cstdint>
#include <span>

#include "tare/blob.hpp"

namespace tare {

class BlockReader : public BlobReader {
 public:
  void read(std::span<std::byte> out) final;
  // Discards the next bytes, producing the blocks that contain them.
  void skip(std::uint64_t bytes);

 protected:
  // The next block, valid until the next call; empty at the end.
  virtual std::span<const std::byte> make_block() = 0;
  // The bytes that are asked for at the moment. A block of more is made in vain if nothing else is read.
  std::uint64_t wanted() const { return wanted_; }

 private:
  void next(std::uint64_t wanted);

  std::span<const std::byte> block_;
  std::uint64_t wanted_ = 0;
};

}  // namespace tare
