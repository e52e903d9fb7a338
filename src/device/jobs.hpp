// The work of a load, divided into jobs for threads.
#pragma once

#include <cstdint>
#include <vector>

#include "device/pieces.hpp"

namespace tare::device {

// The bytes of a piece in a chunk.
struct Share {
  std::uint32_t piece = 0;
  std::uint32_t at = 0;      // in the chunk's memory
  std::uint64_t offset = 0;  // in the piece
  std::uint64_t bytes = 0;
};

// The contents of one slot of the ring, which are read, checked and copied together.
struct Chunk {
  enum class Kind : std::uint8_t {
    run,     // bytes [begin, end) of a file, with all pieces in them
    gather,  // runs [begin, end) of one piece, without gaps
    units,   // units [begin, end) of one piece, one plane after the other
  } kind = Kind::run;
  std::size_t file = 0;
  std::uint64_t begin = 0, end = 0;
  std::size_t first_share = 0, shares = 0;
};

// Chunks [begin, end), in order; or, if it is `pulled`, bytes [begin, end) of a piece's decoded blob.
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

// `chunk_bytes`: the size of a slot. `in_order`: per piece, whether one thread must process it from front to back.
Work make_work(const Pieces& pieces, std::uint64_t chunk_bytes, const std::vector<char>& in_order);

// In the memory of a chunk of units, planes begin at multiples of this.
inline constexpr std::uint64_t kPlaneAlignment = 256;
// The bytes of a plane that units [first, end) need.
struct PlaneRange {
  std::uint64_t begin = 0, bytes = 0;  // in the plane
};
PlaneRange plane_range(const Plane& plane, std::uint64_t first, std::uint64_t end);

}  // namespace tare::device
