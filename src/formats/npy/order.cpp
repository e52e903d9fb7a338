#include "formats/npy/order.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "formats/npy/columns.hpp"
#include "formats/npy/dealt.hpp"
#include "model/byte_swap.hpp"
#include "tare/error.hpp"

namespace tare::npy {
namespace {

// Smaller reads look like a slice: they gather only the elements they need, not a whole band.
constexpr std::uint64_t kSmallRead = std::uint64_t{256} << 10;

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
    if (wanted < kSmallRead)
      count = std::clamp<std::uint64_t>((wanted + skip_) / columns_->item() + 1, std::min(4 * last_, most), most);
    last_ = count;
    const std::uint64_t row_left = columns_->columns() - next_ % columns_->columns();
    if (row_left == columns_->columns() && count >= row_left)
      count = std::min(count / row_left * row_left, columns_->elements() - next_);
    else
      count = std::min(count, row_left);
    band_.resize(count * columns_->item());
    columns_->gather(next_, band_);
    next_ += count;
    at_ = skip_;
    skip_ = 0;
  }

  std::shared_ptr<const Columns> columns_;
  std::uint64_t next_;      // element to gather next
  std::size_t skip_;        // bytes of it that the caller does not need
  Bytes band_;              // gathered bytes
  std::size_t at_ = 0;      // bytes of it that were returned
  std::uint64_t last_ = 0;  // elements of the last read: a reader that keeps reading gets larger bands
};

class ColumnsProducer final : public BlobProducer {
 public:
  ColumnsProducer(Blob stored, Axes axes, std::size_t item, std::size_t swap)
      : stored_(std::move(stored)),
        axes_(std::move(axes)),
        swap_(swap),
        columns_(std::make_shared<const Columns>(stored_, axes_, item, swap)) {}
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    if (!columns_->streamed()) return std::make_unique<ColumnsReader>(columns_, offset);
    auto reader = open_dealt(stored_, axes_, columns_->item(), swap_);
    Bytes skipped(static_cast<std::size_t>(std::min(offset, kSmallRead)));
    while (offset > 0) {
      const auto part = std::span(skipped).first(static_cast<std::size_t>(std::min(offset, kSmallRead)));
      reader->read(part);
      offset -= part.size();
    }
    return reader;
  }
  unsigned looks() const override { return 2; }
  std::uint64_t seek_granularity() const override {
    if (columns_->streamed()) return 0;
    const std::uint64_t band = columns_->band_elements(), row = columns_->columns();
    return (row <= band ? band / row * row : band) * columns_->item();
  }
  void verify() const override { columns_->verify(); }

 private:
  Blob stored_;
  Axes axes_;
  std::size_t swap_;
  std::shared_ptr<const Columns> columns_;
};

}  // namespace

Blob in_c_order(Blob stored, const Header& header) {
  const std::size_t width = size_of(header.element.dtype);
  Axes axes;
  for (const std::uint64_t axis : header.shape)
    if (axis > 1) axes.push_back(axis);
  if (header.data_bytes == 0) return stored;
  if (!header.fortran || axes.size() < 2)
    return header.element.big_endian ? byte_swapped_blob(std::move(stored), width) : stored;
  auto producer = std::make_shared<const ColumnsProducer>(stored, std::move(axes), header.element.bytes(),
                                                          header.element.big_endian ? width : 1);
  // Converted bytes have no place in the file, so the blob must not offer one: the bytes there are in the wrong order.
  if (stored.is_plain()) return Blob::produced(header.data_bytes, std::move(producer));
  return Blob::encoded(stored.source(), stored.offset(), stored.stored_size(), header.data_bytes, stored.encoding(),
                       std::move(producer));
}

}  // namespace tare::npy
