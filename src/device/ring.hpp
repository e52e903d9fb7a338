// Pinned memory for copies: the process keeps it from one load to the next, since pinning costs more than many loads of it.
#pragma once

#include <cstdint>
#include <span>

#include "device/context.hpp"

namespace tare::device {

// A run of pinned memory that nobody else uses meanwhile.
class Lease {
 public:
  // Between `least` and `wanted` bytes, multiples of 4096 both, such that all leases and what is kept stay below `most`.
  // Waits for another load to end if there is no room, listening to the wish to stop. Throws usage `device.pinned.budget`
  // if `least` is beyond `most`, and `device.pinned` where the driver refuses.
  Lease(const ContextPtr& context, std::uint64_t wanted, std::uint64_t least, std::uint64_t most, unsigned threads);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  std::span<std::byte> bytes() const;

 private:
  struct Block;
  class Pool;
  friend void release() noexcept;
  Block* block_;
};

}  // namespace tare::device
