// A coded tensor's rows in order, in pieces of bounded size: what decoding and checking walk over.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "codecs/mcf/reference.hpp"
#include "tare/blob.hpp"

namespace tare::codec::mcf {

// One region of a payload, front to back: shown where it lies when it can be, read into a buffer otherwise.
class RegionReader {
 public:
  RegionReader(const Blob& payload, std::uint64_t offset);
  // The next bytes; valid until the next call.
  const std::byte* take(std::uint64_t count);

 private:
  const std::byte* view_ = nullptr;
  std::unique_ptr<BlobReader> reader_;
  std::vector<std::byte> buffer_;
};

// Used by one thread. The payload must have the geometry's size.
class Pieces {
 public:
  // Begins at a row and a column that is a multiple of 256. int* tensors are one row of all their elements.
  Pieces(const Blob& payload, const Geometry& geometry, std::uint64_t row, std::uint64_t column);

  bool done() const { return row_ == rows_; }
  std::uint64_t row() const { return row_; }
  std::uint64_t column() const { return column_; }
  // Whole rows or a part of one, of about `elements` elements or fewer, but at least 256 or what is left of a row.
  // Valid until the next call. What is in it can be trusted after `check`.
  RowSpan next(std::uint64_t elements);
  // Throws when the file under a mapping has become shorter.
  void check() const;

 private:
  Blob payload_;
  Geometry geometry_;
  std::uint64_t rows_, columns_, row_, column_;
  RegionReader scales_, sub_scales_, codes_;
  float scale_ = 0, zero_ = 0;
};

}  // namespace tare::codec::mcf
