// A Fortran-ordered array seen as columns: its first axis runs along each, the other axes number them. Output row i is
// item i of every column, the columns in C order.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/endian.hpp"
#include "tare/blob.hpp"

namespace tare::npy {

// A packed array up to this size is unpacked into memory whole.
inline constexpr std::uint64_t kWholeBytes = std::uint64_t{16} << 20;
// Output produced at once of others: larger bands mean longer runs of the source.
inline constexpr std::uint64_t kBand = std::uint64_t{4} << 20;
inline constexpr std::uint64_t kStreamChunk = std::uint64_t{256} << 10;
inline constexpr std::size_t kTileColumns = 32, kTileRows = 16;

struct Complex {
  std::uint64_t re, im;
};

// Calls `work` with an unsigned type of `bytes` bytes.
template <typename Work>
void with_item(std::size_t bytes, const Work& work) {
  switch (bytes) {
    case 1: return work(std::uint8_t{});
    case 2: return work(std::uint16_t{});
    case 4: return work(std::uint32_t{});
    case 8: return work(std::uint64_t{});
    default: return work(Complex{});
  }
}

template <typename Item>
Item load(const std::byte* from) {
  Item item;
  std::memcpy(&item, from, sizeof item);
  return item;
}

// columns[t] points to `rows` consecutive items; out[i * stride + t] becomes columns[t][i]. A tile at a time,
// through a buffer: whatever the strides, each cache line is read and written once.
template <typename Item>
void transpose(std::span<const std::byte* const> columns, std::uint64_t rows, std::byte* out, std::uint64_t stride) {
  Item tile[kTileRows][kTileColumns];
  for (std::uint64_t row = 0; row < rows; row += kTileRows) {
    const auto height = static_cast<std::size_t>(std::min<std::uint64_t>(kTileRows, rows - row));
    for (std::size_t t = 0; t < columns.size(); ++t)
      for (std::size_t i = 0; i < height; ++i) tile[i][t] = load<Item>(columns[t] + (row + i) * sizeof(Item));
    for (std::size_t i = 0; i < height; ++i)
      std::memcpy(out + (row + i) * stride * sizeof(Item), tile[i], columns.size() * sizeof(Item));
  }
}

class Columns {
 public:
  // `axes`: two or more, all above 1. Bytes of an item; bytes that are swapped in it (1: none).
  Columns(Blob stored, const std::vector<std::uint64_t>& axes, std::size_t item, std::size_t swap)
      : stored_(std::move(stored)), item_(item), swap_(swap) {
    std::uint64_t stride = 1;
    for (const std::uint64_t axis : axes) {
      dims_.push_back({axis, stride});
      stride *= axis;
    }
    rows_ = dims_.front().size;
    columns_ = stride / rows_;
  }

  std::size_t item() const { return item_; }
  std::uint64_t elements() const { return rows_ * columns_; }
  std::uint64_t columns() const { return columns_; }
  bool streamed() const { return !stored_.is_plain(); }
  std::uint64_t band_elements() const { return (streamed() ? kWholeBytes : kBand) / item_; }
  void verify() const { stored_.verify(); }

  // Output elements [first, first + out.size() / item): whole rows, or a part of one.
  void gather(std::uint64_t first, std::span<std::byte> out) const {
    const std::uint64_t count = out.size() / item_;
    const std::uint64_t rows = std::max<std::uint64_t>(1, count / columns_);
    const Part part = {first / columns_, rows, first % columns_, count / rows};
    if (streamed())
      scan(part, out);
    else
      with_item(item_, [&](auto item) { pick<decltype(item)>(part, out); });
    swap_elements(out, swap_);
  }

 private:
  struct Dim {
    std::uint64_t size, stride;  // stride in elements of the source
  };
  struct Part {
    std::uint64_t row, rows, column, columns;
  };

  // The source position of C-ordered column `column`, in elements.
  std::uint64_t source_of(std::uint64_t column) const {
    std::uint64_t at = 0;
    for (std::size_t d = dims_.size(); d-- > 1;) {
      at += column % dims_[d].size * dims_[d].stride;
      column /= dims_[d].size;
    }
    return at;
  }

  // Column by column at random: the source is mapped, in memory or a file.
  template <typename Item>
  void pick(const Part& part, std::span<std::byte> out) const {
    const auto view = stored_.view();
    Bytes copy;
    const auto run = static_cast<std::size_t>(part.rows) * item_;
    if (!view) copy.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kTileColumns, part.columns)) * run);
    std::array<const std::byte*, kTileColumns> columns;
    for (std::uint64_t c = 0; c < part.columns; c += kTileColumns) {
      const auto width = static_cast<std::size_t>(std::min<std::uint64_t>(kTileColumns, part.columns - c));
      for (std::size_t t = 0; t < width; ++t) {
        const std::uint64_t at = (source_of(part.column + c + t) + part.row) * item_;
        if (view) {
          columns[t] = view->data() + at;
        } else {
          stored_.read(at, std::span(copy).subspan(t * run, run));
          columns[t] = copy.data() + t * run;
        }
      }
      transpose<Item>(std::span(columns).first(width), part.rows, out.data() + c * item_, part.columns);
    }
    if (view) stored_.source()->check();
  }

  // Everything once, front to back, keeping what belongs to the part.
  void scan(const Part& part, std::span<std::byte> out) const {
    const auto reader = stored_.open();
    const std::uint64_t chunk = kStreamChunk / item_;
    Bytes buffer(static_cast<std::size_t>(std::min(chunk, elements())) * item_);
    for (std::uint64_t at = 0; at < elements(); at += chunk) {
      const std::uint64_t count = std::min(chunk, elements() - at);
      const auto bytes = std::span(buffer).first(static_cast<std::size_t>(count) * item_);
      reader->read(bytes);
      with_item(item_, [&](auto item) { scatter<decltype(item)>(part, at, bytes, out); });
    }
  }

  // Source elements starting at `at`, each to its place in the part or nowhere.
  template <typename Item>
  void scatter(const Part& part, std::uint64_t at, std::span<const std::byte> bytes, std::span<std::byte> out) const {
    const std::uint64_t end = at + bytes.size() / sizeof(Item);
    for (std::uint64_t next = at; at < end; at = next) {
      const std::uint64_t start = at / rows_ * rows_;  // of this column
      next = std::min(end, start + rows_);
      const std::uint64_t column = output_column(at / rows_);
      if (column < part.column || column - part.column >= part.columns) continue;
      const std::uint64_t from = std::max(at, start + part.row), to = std::min(next, start + part.row + part.rows);
      for (std::uint64_t e = from; e < to; ++e)
        std::memcpy(out.data() + ((e - start - part.row) * part.columns + column - part.column) * sizeof(Item),
                    bytes.data() + (e - (end - bytes.size() / sizeof(Item))) * sizeof(Item), sizeof(Item));
    }
  }

  // The C-ordered number of the source's column number `column`.
  std::uint64_t output_column(std::uint64_t column) const {
    std::uint64_t at = 0;
    for (std::size_t d = 1; d < dims_.size(); ++d) {
      at = at * dims_[d].size + column % dims_[d].size;
      column /= dims_[d].size;
    }
    return at;
  }

  Blob stored_;
  std::size_t item_, swap_;
  std::vector<Dim> dims_;
  std::uint64_t rows_ = 1, columns_ = 1;
};

}  // namespace tare::npy
