// Pinned memory for copies. The process keeps it between loads, because pinning it costs more than many copies.
#pragma once

#include <cstdint>
#include <span>

#include "device/context.hpp"

namespace tare::device {

// A run of pinned memory for exclusive use.
class Lease {
 public:
  // Leases between `least` and `wanted` bytes, both multiples of 4096, so that all pinned memory of the process stays
  // within `most`. Waits for another load to end if there is no room; throws `work.stopped` if asked to stop. Throws
  // usage `device.pinned.budget` if `least` is more than `most`, and `device.pinned` if the driver refuses.
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
