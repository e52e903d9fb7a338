// The work of a load, cut into what one thread does at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "device/pieces.hpp"

namespace tare::device {

// Bytes of a piece inside of a chunk.
struct Share {
  std::uint32_t piece = 0;
  std::uint32_t at = 0;      // in the chunk's memory
  std::uint64_t offset = 0;  // in the piece
  std::uint64_t bytes = 0;
};

// What fits into one slot of the ring and is read, checked and copied together.
struct Chunk {
  enum class Kind : std::uint8_t {
    run,     // bytes [begin, end) of a file, with everything that lies in them
    gather,  // runs [begin, end) of one piece, packed
    units,   // units [begin, end) of one piece, plane behind plane
  } kind = Kind::run;
  std::size_t file = 0;
  std::uint64_t begin = 0, end = 0;
  std::size_t first_share = 0, shares = 0;
};

// Chunks [begin, end) in their order; or, if it is `pulled`, bytes [begin, end) of what a piece's blob decodes to.
struct Job {
  bool pulled = false;
  std::uint32_t piece = 0;
  std::uint64_t begin = 0, end = 0;
};

struct Work {
  std::vector<Share> shares;
  std::vector<Chunk> chunks;
  std::vector<Job> jobs;
};

// `chunk_bytes`: of a slot. `in_order`: of each piece whether it is left to one thread, from the first byte to the last.
Work make_work(const Pieces& pieces, std::uint64_t chunk_bytes, const std::vector<char>& in_order);

// Planes begin at multiples of this in the memory of a chunk of units.
inline constexpr std::uint64_t kPlaneAlignment = 256;
// Which bytes of a plane units [first, end) need.
struct PlaneRange {
  std::uint64_t begin = 0, bytes = 0;  // in the plane
};
PlaneRange plane_range(const Plane& plane, std::uint64_t first, std::uint64_t end);

}  // namespace tare::device
