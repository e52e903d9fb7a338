// Where the bytes of a coded tensor are, and a walk over them in pieces of bounded size.
//
// A plane has `bytes` bytes for every `weights` columns of a row; the last unit of a row may hold fewer columns. Blocks
// that hold codes and scales together are one plane. A layout that stores codes and scales separately has a plane for
// each, in one component or in several. Codes that continue across the ends of rows are stored as one row of all
// elements.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/checked.hpp"
#include "tare/blob.hpp"

namespace tare::codec {

struct Plane {
  Blob blob;
  std::uint64_t offset = 0;  // where the first row begins, in the blob
  std::uint64_t weights = 1, bytes = 1;
};

struct Planes {
  static constexpr std::size_t kMost = 3;

  std::uint64_t rows = 0, columns = 0;  // as stored
  std::uint64_t step = 1;               // a run begins at a multiple of this many columns
  std::vector<Plane> all;               // at most kMost; none if there are no elements

  std::uint64_t row_bytes(const Plane& plane) const { return ceil_div(columns, plane.weights) * plane.bytes; }
  // Offset of the unit that holds a column.
  std::uint64_t offset_of(const Plane& plane, std::uint64_t row, std::uint64_t column) const {
    return plane.offset + row * row_bytes(plane) + column / plane.weights * plane.bytes;
  }
  // Columns that are cheap to decode together: whole steps, about 256 or more.
  std::uint64_t grain() const { return step * ceil_div(std::uint64_t{256}, step); }
};

// Some rows, or a part of one, that are contiguous in every plane.
struct Run {
  std::uint64_t row = 0, column = 0;    // position of its first weight, as stored
  std::uint64_t rows = 0, columns = 0;  // how many
  // The unit of each plane that holds the first column. In a mapped file, the bytes can change at any time.
  std::array<const std::byte*, Planes::kMost> at{};

  std::uint64_t weights() const { return rows * columns; }
};

// Reads one plane from front to back: in place if the blob has a view, through a buffer otherwise.
class PlaneReader {
 public:
  PlaneReader(const Blob& blob, std::uint64_t offset);
  // Returns the next `count` bytes, which begin with the last `again` bytes of the previous call. Valid until the next
  // call.
  const std::byte* take(std::uint64_t count, std::uint64_t again);

 private:
  const std::byte* view_ = nullptr;
  std::unique_ptr<BlobReader> reader_;
  std::vector<std::byte> buffer_;
  std::size_t end_ = 0;  // where the previous call's bytes end in the buffer
};

// Walks over all planes in parallel. Used by one thread.
class Walk {
 public:
  // Begins at `row` and `column`, a multiple of the step. The planes must outlive the walk.
  Walk(const Planes& planes, std::uint64_t row, std::uint64_t column);

  bool done() const { return row_ == planes_.rows || planes_.columns == 0; }
  // Returns whole rows or a part of one: about `elements` weights or fewer, but at least a grain or the rest of a row.
  // Valid until the next call. Results made from it are valid only after `check`.
  Run next(std::uint64_t elements);
  // Throws if a file that holds a plane was truncated or written to.
  void check() const { check_sources(planes_); }
  static void check_sources(const Planes& planes);

 private:
  const Planes& planes_;
  std::uint64_t row_, column_;
  bool begun_ = false;
  std::vector<PlaneReader> readers_;
};

}  // namespace tare::codec
