#include "formats/npy_order.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/endian.hpp"
#include "model/byte_swap.hpp"
#include "tare/error.hpp"

namespace tare::npy {
namespace {

// Output produced at once: larger bands mean longer runs of the source.
constexpr std::uint64_t kBand = std::uint64_t{4} << 20;
constexpr std::uint64_t kStreamBand = std::uint64_t{16} << 20;
constexpr std::uint64_t kStreamChunk = std::uint64_t{256} << 10;
// Reads smaller than this look like a slice: they get what they ask for, not a whole band.
constexpr std::uint64_t kSmallRead = std::uint64_t{256} << 10;
constexpr std::size_t kTileColumns = 32, kTileRows = 16;

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

// A Fortran-ordered array seen as columns: its first axis runs along each, the other axes number them. Output
// row i is item i of every column, the columns in C order.
class Columns {
 public:
  Columns(Blob stored, const Header& header) : stored_(std::move(stored)), item_(header.element.bytes()) {
    std::uint64_t stride = 1;
    for (const std::uint64_t d : header.shape) {
      if (d > 1) dims_.push_back({d, stride});
      stride *= d;
    }
    rows_ = dims_.front().size;
    columns_ = stride / rows_;
    swap_ = header.element.big_endian ? size_of(header.element.dtype) : 1;
  }

  std::size_t item() const { return item_; }
  std::uint64_t elements() const { return rows_ * columns_; }
  std::uint64_t columns() const { return columns_; }
  bool streamed() const { return !stored_.is_plain(); }
  std::uint64_t band_elements() const { return (streamed() ? kStreamBand : kBand) / item_; }
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
  std::size_t item_, swap_ = 1;
  std::vector<Dim> dims_;  // those above 1
  std::uint64_t rows_ = 1, columns_ = 1;
};

class ColumnsReader final : public BlobReader {
 public:
  ColumnsReader(std::shared_ptr<const Columns> columns, std::uint64_t offset)
      : columns_(std::move(columns)), next_(offset / columns_->item()), skip_(offset % columns_->item()) {}

  void read(std::span<std::byte> out) override {
    while (!out.empty()) {
      if (at_ == band_.size()) fill(out.size());
      const std::size_t part = std::min(out.size(), band_.size() - at_);
      std::memcpy(out.data(), &band_[at_], part);
      at_ += part;
      out = out.subspan(part);
    }
  }

 private:
  void fill(std::uint64_t wanted) {
    if (next_ >= columns_->elements()) throw Error(ErrorKind::usage, "blob.bounds", "read past the end of a blob");
    const std::uint64_t most = columns_->band_elements();
    std::uint64_t count = most;
    if (!columns_->streamed() && wanted < kSmallRead)
      count = std::clamp<std::uint64_t>((wanted + skip_) / columns_->item() + 1, std::min(4 * last_, most), most);
    last_ = count;
    const std::uint64_t row_left = columns_->columns() - next_ % columns_->columns();
    if (row_left == columns_->columns() && count >= row_left)
      count = std::min(count / row_left * row_left, columns_->elements() - next_);
    else
      count = std::min(count, row_left);
    band_.resize(static_cast<std::size_t>(count) * columns_->item());
    columns_->gather(next_, band_);
    next_ += count;
    at_ = skip_;
    skip_ = 0;
  }

  std::shared_ptr<const Columns> columns_;
  std::uint64_t next_;      // element to gather next
  std::size_t skip_;        // bytes of it that were not asked for
  Bytes band_;              // gathered
  std::size_t at_ = 0;      // given out
  std::uint64_t last_ = 0;  // elements asked for last time: a reader that keeps reading gets larger bands
};

class ColumnsProducer final : public BlobProducer {
 public:
  ColumnsProducer(Blob stored, const Header& header)
      : columns_(std::make_shared<const Columns>(std::move(stored), header)) {}
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    return std::make_unique<ColumnsReader>(columns_, offset);
  }
  std::uint64_t seek_granularity() const override {
    if (columns_->streamed()) return 0;
    const std::uint64_t band = columns_->band_elements(), row = columns_->columns();
    return (row <= band ? band / row * row : band) * columns_->item();
  }
  void verify() const override { columns_->verify(); }

 private:
  std::shared_ptr<const Columns> columns_;
};

}  // namespace

Blob in_c_order(Blob stored, const Header& header) {
  const std::size_t width = size_of(header.element.dtype);
  const auto axes = std::count_if(header.shape.begin(), header.shape.end(), [](std::uint64_t d) { return d > 1; });
  if (header.data_bytes == 0) return stored;
  if (!header.fortran || axes < 2)
    return header.element.big_endian ? byte_swapped_blob(std::move(stored), width) : stored;
  auto producer = std::make_shared<const ColumnsProducer>(stored, header);
  // Converted bytes lie nowhere in the file: whoever looks there finds them in the wrong order.
  if (stored.is_plain()) return Blob::produced(header.data_bytes, std::move(producer));
  return Blob::encoded(stored.source(), stored.offset(), stored.stored_size(), header.data_bytes, stored.encoding(),
                       std::move(producer));
}

}  // namespace tare::npy
