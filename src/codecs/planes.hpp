// Where the bytes of a coded tensor lie, and a walk over them in pieces of bounded size.
//
// A plane has `bytes` bytes for every `weights` columns of a row; a row's last ones may stand for fewer columns. Blocks
// that keep their scale beside their codes are one plane; a layout that keeps codes, scales and so on apart has a plane
// for each, in one component or in several. Codes that run on over the ends of rows are stored as one row of all elements.
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
  std::uint64_t offset = 0;  // of the first row, in the blob
  std::uint64_t weights = 1, bytes = 1;
};

struct Planes {
  static constexpr std::size_t kMost = 3;

  std::uint64_t rows = 0, columns = 0;  // as stored
  std::uint64_t step = 1;               // a run begins at a multiple of this many columns
  std::vector<Plane> all;               // kMost or fewer; none where there are no elements

  std::uint64_t row_bytes(const Plane& plane) const { return ceil_div(columns, plane.weights) * plane.bytes; }
  // Of the first byte that belongs to a column.
  std::uint64_t offset_of(const Plane& plane, std::uint64_t row, std::uint64_t column) const {
    return plane.offset + row * row_bytes(plane) + column / plane.weights * plane.bytes;
  }
  // Columns that are cheap to make together: whole steps, and at least about 256.
  std::uint64_t grain() const { return step * ceil_div(std::uint64_t{256}, step); }
};

// Some rows, or a part of one, that follow each other without gaps in every plane.
struct Run {
  std::uint64_t row = 0, column = 0;    // of its first weight, as stored
  std::uint64_t rows = 0, columns = 0;  // how many
  // At the bytes that the first column belongs to. They are somebody else's, and may change.
  std::array<const std::byte*, Planes::kMost> at{};

  std::uint64_t weights() const { return rows * columns; }
};

// One plane front to back: shown where it lies when it can be, read into a buffer otherwise.
class PlaneReader {
 public:
  PlaneReader(const Blob& blob, std::uint64_t offset);
  // The next `count` bytes, of which the first `again` are the last ones of the call before. Valid until the next call.
  const std::byte* take(std::uint64_t count, std::uint64_t again);

 private:
  const std::byte* view_ = nullptr;
  std::unique_ptr<BlobReader> reader_;
  std::vector<std::byte> buffer_;
  std::size_t end_ = 0;  // of what was given last
};

// All planes side by side. Used by one thread.
class Walk {
 public:
  // Begins at a row and a column that is a multiple of the step. The planes must outlive this.
  Walk(const Planes& planes, std::uint64_t row, std::uint64_t column);

  bool done() const { return row_ == planes_.rows || planes_.columns == 0; }
  // Whole rows or a part of one, of about `elements` weights or fewer, but at least a grain or what is left of a row. Valid
  // until the next call. What was made of it can be trusted after `check`.
  Run next(std::uint64_t elements);
  // Throws when a file under the planes has become shorter or has been written to.
  void check() const { check_sources(planes_); }
  static void check_sources(const Planes& planes);

 private:
  const Planes& planes_;
  std::uint64_t row_, column_;
  bool begun_ = false;
  std::vector<PlaneReader> readers_;
};

}  // namespace tare::codec
