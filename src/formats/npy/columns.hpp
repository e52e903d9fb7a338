// A Fortran-ordered array as columns: each column runs along the first axis, and the other axes number the columns.
// Output row i is item i of every column, with the columns in C order.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/endian.hpp"
#include "tare/blob.hpp"

namespace tare::npy {

// A compressed array up to this size is decompressed into memory as a whole.
inline constexpr std::uint64_t kWholeBytes = std::uint64_t{16} << 20;
// Bytes of output that are produced at once for larger arrays: larger bands mean longer runs of the source.
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

// columns[t] points to `rows` consecutive items; out[i * stride + t] becomes columns[t][i]. Works on tiles through a
// buffer, so that each cache line is read and written once, whatever the strides.
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
  // `axes`: two or more, all above 1. `item`: bytes of an item. `swap`: bytes per number that are reversed (1: none).
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
  std::uint64_t band_elements() const { return kBand / item_; }
  void verify() const { stored_.verify(); }

  // Fills `out` with the output elements [first, first + out.size() / item): whole rows, or a part of one.
  void gather(std::uint64_t first, std::span<std::byte> out) const {
    const std::uint64_t count = out.size() / item_;
    const std::uint64_t rows = std::max<std::uint64_t>(1, count / columns_);
    const Part part = {first / columns_, rows, first % columns_, count / rows};
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

  // Walks over the columns in C order, with the place in the source, in elements, where each begins. The cost of a step
  // does not depend on the rank.
  class Walk {
   public:
    Walk(const std::vector<Dim>& dims, std::uint64_t column) : dims_(dims), digits_(dims.size()) {
      for (std::size_t d = dims.size(); d-- > 1;) {
        digits_[d] = column % dims[d].size;
        column /= dims[d].size;
        at_ += digits_[d] * dims[d].stride;
      }
    }
    std::uint64_t at() const { return at_; }
    void next() {
      for (std::size_t d = dims_.size(); d-- > 1;) {
        at_ += dims_[d].stride;
        if (++digits_[d] < dims_[d].size) return;
        at_ -= dims_[d].size * dims_[d].stride;
        digits_[d] = 0;
      }
    }

   private:
    const std::vector<Dim>& dims_;
    std::vector<std::uint64_t> digits_;
    std::uint64_t at_ = 0;
  };

  // Reads the columns in any order: the source is mapped, in memory or a file.
  template <typename Item>
  void pick(const Part& part, std::span<std::byte> out) const {
    const auto view = stored_.view();
    Bytes copy;
    const auto run = static_cast<std::size_t>(part.rows) * item_;
    if (!view) copy.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kTileColumns, part.columns)) * run);
    std::array<const std::byte*, kTileColumns> columns;
    Walk walk(dims_, part.column);
    for (std::uint64_t c = 0; c < part.columns; c += kTileColumns) {
      const auto width = static_cast<std::size_t>(std::min<std::uint64_t>(kTileColumns, part.columns - c));
      for (std::size_t t = 0; t < width; ++t, walk.next()) {
        const std::uint64_t at = (walk.at() + part.row) * item_;
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

  Blob stored_;
  std::size_t item_, swap_;
  std::vector<Dim> dims_;
  std::uint64_t rows_ = 1, columns_ = 1;
};

}  // namespace tare::npy
