#include "convert/merged_blob.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "base/printable.hpp"
#include "codecs/simd_floats.hpp"
#include "tare/elements.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

// Both matrices in the order of a product: [rows][rank] and [rank][columns].
struct Factors {
  std::vector<float> left, right, lengths;
};

std::vector<float> turned(const std::vector<float>& matrix, std::size_t rows, std::size_t columns) {
  std::vector<float> result(matrix.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) result[j * rows + i] = matrix[i * columns + j];
  return result;
}

class LowRankProducer final : public BlobProducer, public std::enable_shared_from_this<LowRankProducer> {
 public:
  LowRankProducer(std::string name, Blob weight, LowRank added)
      : name_(std::move(name)), weight_(std::move(weight)), added_(std::move(added)) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override;
  std::uint64_t seek_granularity() const override {
    return std::lcm(weight_.seek_granularity(), added_.columns * sizeof(float));
  }
  void verify() const override {
    weight_.verify();
    added_.left.component("data")->blob.verify();
    added_.right.component("data")->blob.verify();
    if (added_.lengths) added_.lengths->component("data")->blob.verify();
  }

  const std::string& name() const { return name_; }
  const Blob& weight() const { return weight_; }
  const LowRank& added() const { return added_; }
  // Freed when the last reader is gone: the factors of a whole model are large.
  std::shared_ptr<const Factors> factors() const {
    const std::lock_guard lock(mutex_);
    if (auto known = known_.lock()) return known;
    auto made = std::make_shared<Factors>();
    made->left = added_.left.values<float>(kMaxValuesBytes, 1);
    made->right = added_.right.values<float>(kMaxValuesBytes, 1);
    if (added_.transposed) {
      made->left = turned(made->left, static_cast<std::size_t>(added_.rank), static_cast<std::size_t>(added_.rows));
      made->right =
          turned(made->right, static_cast<std::size_t>(added_.columns), static_cast<std::size_t>(added_.rank));
    }
    if (added_.lengths) made->lengths = added_.lengths->values<float>(kMaxValuesBytes, 1);
    known_ = made;
    return made;
  }

 private:
  std::string name_;
  Blob weight_;
  LowRank added_;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<const Factors> known_;
};

class LowRankReader final : public BlobReader {
 public:
  LowRankReader(std::shared_ptr<const LowRankProducer> from, std::uint64_t offset)
      : from_(std::move(from)),
        factors_(from_->factors()),
        columns_(static_cast<std::size_t>(from_->added().columns)),
        row_(offset / (columns_ * sizeof(float))),
        skip_(offset % (columns_ * sizeof(float))),
        weights_(from_->weight().open(row_ * columns_ * sizeof(float))) {}

  void read(std::span<std::byte> out) override {
    while (!out.empty()) {
      if (ready_.empty()) make();
      const std::size_t part = std::min(out.size(), ready_.size());
      std::memcpy(out.data(), ready_.data(), part);
      ready_ = ready_.subspan(part);
      out = out.subspan(part);
    }
  }

 private:
  static constexpr std::size_t kTile = std::size_t{64} << 10;  // floats, unless a row has more
  static constexpr std::size_t kBlock = 512;                   // columns; their part of `right` stays in the cache

  void make() {
    const LowRank& added = from_->added();
    const auto left = added.rows - row_;
    if (left == 0) throw Error(ErrorKind::usage, "blob.bounds", "read past the end of a blob");
    const std::size_t rows = std::min(left, std::max<std::size_t>(1, kTile / columns_));
    tile_.resize(rows * columns_);
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(tile_));
    weights_->read(bytes);
    if constexpr (!kLittleEndianHost) swap_elements(bytes, sizeof(float));
    const auto rank = static_cast<std::size_t>(added.rank);
    std::array<float, kBlock> sums;
    for (std::size_t column = 0; column < columns_; column += kBlock) {
      const std::size_t count = std::min(kBlock, columns_ - column);
      for (std::size_t row = 0; row < rows; ++row) {
        sum_products(factors_->left.data() + (row_ + row) * rank, factors_->right.data() + column, columns_, rank,
                     count, sums.data());
        float* const weights = tile_.data() + row * columns_ + column;
        for (std::size_t i = 0; i < count; ++i) weights[i] += added.scale * sums[i];
      }
    }
    if (added.lengths)
      for (std::size_t row = 0; row < rows; ++row)
        bring_to_length(std::span(tile_).subspan(row * columns_, columns_), factors_->lengths[row_ + row]);
    if (!all_finite(tile_)) refuse_new(rows);
    if constexpr (!kLittleEndianHost) swap_elements(bytes, sizeof(float));
    ready_ = bytes.subspan(skip_);
    skip_ = 0;
    row_ += rows;
  }

  static void bring_to_length(std::span<float> row, float length) {
    double squares = 0;
    for (const float value : row) squares += double{value} * double{value};
    const float factor = length / f64_to_f32(std::sqrt(squares));
    for (float& value : row) value *= factor;
  }

  // Branch-free: adding one to an exponent of all ones overflows into the sign bit.
  static bool all_finite(std::span<const float> values) {
    std::uint32_t overflow = 0;
    for (const float value : values) overflow |= (std::bit_cast<std::uint32_t>(value) & 0x7F800000u) + 0x00800000u;
    return (overflow & 0x80000000u) == 0;
  }

  // Throws if the adapter makes a finite number infinite or NaN. Numbers that were not finite before are kept.
  void refuse_new(std::size_t rows) const {
    std::vector<float> before(rows * columns_);
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(before));
    from_->weight().open(row_ * columns_ * sizeof(float))->read(bytes);
    if constexpr (!kLittleEndianHost) swap_elements(bytes, sizeof(float));
    for (std::size_t i = 0; i < before.size(); ++i)
      if (!std::isfinite(tile_[i]) && std::isfinite(before[i]))
        throw Error(
            ErrorKind::lossy, "lora.value",
            fmt::format("with the adapter, element [{}, {}] would be {} (it is {}): the adapter has numbers that "
                        "are not finite, or too large",
                        row_ + i / columns_, i % columns_, tile_[i], before[i]))
            .about("tensor " + quote(from_->name()))
            .blame(Subject::input);
  }

  std::shared_ptr<const LowRankProducer> from_;
  std::shared_ptr<const Factors> factors_;
  std::size_t columns_;
  std::uint64_t row_;
  std::size_t skip_;
  std::unique_ptr<BlobReader> weights_;
  std::vector<float> tile_;
  std::span<const std::byte> ready_;
};

std::unique_ptr<BlobReader> LowRankProducer::open(std::uint64_t offset) const {
  return std::make_unique<LowRankReader>(shared_from_this(), offset);
}

}  // namespace

Tensor add_low_rank(const Tensor& weight, LowRank added) {
  Tensor result = cast(weight, DType::f32);
  const auto data = std::ranges::find(result.components, std::string_view("data"), &Component::role);
  const std::uint64_t size = data->blob.size();
  if (size > 0)
    data->blob = Blob::produced(size, std::make_shared<LowRankProducer>(weight.name, data->blob, std::move(added)));
  return result;
}

}  // namespace tare
