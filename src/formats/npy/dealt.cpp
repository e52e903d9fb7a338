#include "formats/npy/dealt.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>

#include "base/checked.hpp"
#include "codecs/buckets.hpp"
#include "formats/npy/columns.hpp"
#include "formats/npy/reversed.hpp"
#include "model/byte_swap.hpp"
#include "tare/error.hpp"

namespace tare::npy {
namespace {

// Limit on the rows of axes that are dealt together, because each row gets a bucket of its own.
constexpr std::uint64_t kMostRows = 256;

std::uint64_t product(const Axes& axes) {
  return std::accumulate(axes.begin(), axes.end(), std::uint64_t{1}, std::multiplies<>());
}

// An array that is small enough for memory.
class WholeReader final : public BlobReader {
 public:
  WholeReader(const Blob& stored, const Axes& axes, std::size_t item, std::size_t swap) : bytes_(stored.size()) {
    Bytes columns(bytes_.size());
    stored.open()->read(columns);
    with_item(item, [&](auto one) { reverse_axes<decltype(one)>(columns, axes, bytes_); });
    swap_elements(bytes_, swap);
  }
  void read(std::span<std::byte> out) override {
    if (out.size() > bytes_.size() - at_) throw Error(ErrorKind::usage, "blob.bounds", "read past the end of a blob");
    std::memcpy(out.data(), bytes_.data() + at_, out.size());
    at_ += out.size();
  }

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
};

// Deals the rows of the array into buckets. Each bucket gets some rows of every column, and so is a smaller array in
// Fortran order. If a single row is too long for memory, a bucket is one row: the array of the other axes. Short axes
// are dealt together, in one pass instead of one pass per axis; a row is then one position on all of these axes.
class DealtReader final : public BlobReader {
 public:
  DealtReader(const Blob& stored, const Axes& axes, std::size_t item, std::size_t swap)
      : axes_(axes), item_(item), swap_(swap), rows_(axes.front()), columns_(product(axes) / rows_) {
    for (; columns_ * item > kWholeBytes && dealt_ + 1 < axes.size() && rows_ * axes[dealt_] <= kMostRows; ++dealt_) {
      rows_ *= axes[dealt_];
      columns_ /= axes[dealt_];
    }
    if (dealt_ == 1) {
      per_bucket_ = std::max<std::uint64_t>(1, kWholeBytes / (columns_ * item));
    } else {
      const Group places({axes.data(), dealt_}, 1);
      order_.resize(places.size());
      for (std::size_t row = 0; row < order_.size(); ++row) order_[places[row]] = row;
    }
    std::vector<std::uint64_t> counts(ceil_div(rows_, per_bucket_));
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = rows_of(i) * columns_;
    buckets_.emplace(std::move(counts), item);
    deal(*stored.open());
    buckets_->seal();
  }

  void read(std::span<std::byte> out) override {
    while (!out.empty()) {
      if (left_ == 0) enter_next();
      const auto part = out.first(static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), left_)));
      reader_->read(part);
      left_ -= part.size();
      out = out.subspan(part.size());
    }
  }

 private:
  std::uint64_t rows_of(std::size_t bucket) const { return std::min(per_bucket_, rows_ - bucket * per_bucket_); }

  void deal(BlobReader& stored) {
    const std::uint64_t elements = rows_ * columns_, most = kStreamChunk / item_;
    // A chunk is a number of whole columns, or a part of one.
    const std::uint64_t chunk = most < rows_ ? most : most / rows_ * rows_;
    Bytes buffer(static_cast<std::size_t>(std::min(chunk, elements)) * item_);
    for (std::uint64_t at = 0; at < elements;) {
      const std::uint64_t row = at % rows_;
      const std::uint64_t left = most < rows_ ? rows_ - row : elements - at;
      const auto count = static_cast<std::size_t>(std::min(chunk, left));
      stored.read(std::span(buffer).first(count * item_));
      if (most < rows_)
        deal_part(row, std::span(buffer).first(count * item_));
      else
        deal_columns(std::span(buffer).first(count * item_));
      at += count;
    }
  }

  // Deals consecutive rows of one column.
  void deal_part(std::uint64_t row, std::span<const std::byte> items) {
    while (!items.empty()) {
      const std::uint64_t bucket = row / per_bucket_;
      const std::uint64_t left = (bucket + 1) * per_bucket_ - row;
      const auto part = items.first(static_cast<std::size_t>(std::min<std::uint64_t>(items.size(), left * item_)));
      buckets_->put(static_cast<std::size_t>(bucket), part);
      row += part.size() / item_;
      items = items.subspan(part.size());
    }
  }

  void deal_columns(std::span<const std::byte> items) {
    const auto column = rows_ * item_;
    for (std::size_t bucket = 0; bucket * per_bucket_ < rows_; ++bucket) {
      const auto slice = rows_of(bucket) * item_;
      slices_.resize(items.size() / column * slice);
      const std::byte* from = items.data() + bucket * per_bucket_ * item_;
      if (slice == item_)
        with_item(item_, [&](auto item) { gather<decltype(item)>(from, column); });
      else
        for (std::size_t to = 0; to < slices_.size(); to += slice, from += column)
          std::memcpy(slices_.data() + to, from, slice);
      buckets_->put(bucket, slices_);
    }
  }

  template <typename Item>
  void gather(const std::byte* from, std::size_t step) {
    for (std::size_t to = 0; to < slices_.size(); to += sizeof(Item), from += step)
      std::memcpy(slices_.data() + to, from, sizeof(Item));
  }

  void enter_next() {
    if (next_ * per_bucket_ >= rows_) throw Error(ErrorKind::usage, "blob.bounds", "read past the end of a blob");
    const std::size_t bucket = dealt_ == 1 ? next_ : order_[next_];
    Axes axes(axes_.begin() + static_cast<std::ptrdiff_t>(dealt_), axes_.end());
    if (rows_of(bucket) > 1) axes.insert(axes.begin(), rows_of(bucket));
    const Blob records = buckets_->records(bucket);
    reader_ = open_dealt(records, axes, item_, swap_);
    left_ = records.size();
    ++next_;
  }

  Axes axes_;
  std::size_t item_, swap_;
  std::size_t dealt_ = 1;  // number of axes that are dealt
  std::uint64_t rows_, columns_, per_bucket_ = 1;
  std::vector<std::size_t> order_;  // order of the rows in the result, if several axes were dealt
  std::optional<Buckets> buckets_;
  Bytes slices_;
  std::size_t next_ = 0;  // the next bucket
  std::uint64_t left_ = 0;
  std::unique_ptr<BlobReader> reader_;
};

}  // namespace

std::unique_ptr<BlobReader> open_dealt(const Blob& stored, const Axes& axes, std::size_t item, std::size_t swap) {
  if (axes.size() < 2) return swap == 1 ? stored.open() : byte_swapped_blob(stored, swap).open();
  if (stored.size() <= kWholeBytes) return std::make_unique<WholeReader>(stored, axes, item, swap);
  return std::make_unique<DealtReader>(stored, axes, item, swap);
}

}  // namespace tare::npy
