// The element-wise difference of two tensors, as a tensor.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/endian.hpp"
#include "base/printable.hpp"
#include "base/wide_integers.hpp"
#include "codecs/streams.hpp"
#include "inspect/blocks.hpp"
#include "model/block_reader.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tare/inspect.hpp"

namespace tare {
namespace {

// How many elements a reader makes at a time: what is asked for first, then twice as many each time. A picture reads a
// few elements at each of thousands of places.
class Run {
 public:
  static constexpr std::size_t kMost = 1024;
  std::size_t next(std::uint64_t wanted_bytes, std::uint64_t left) {
    size_ = std::min<std::uint64_t>(std::max(2 * size_, wanted_bytes / 8 + 1), kMost);
    return static_cast<std::size_t>(std::min(size_, left));
  }

 private:
  std::uint64_t size_ = 0;
};

class DifferenceReader final : public BlockReader {
 public:
  DifferenceReader(const Component& a, const Component& b, std::uint64_t first, std::uint64_t end)
      : a_(a, first), b_(b, first), left_(end - first) {}

 protected:
  std::span<const std::byte> make_block() override {
    const std::size_t count = run_.next(wanted(), left_);
    left_ -= count;
    a_.read(std::span(x_).first(count));
    b_.read(std::span(y_).first(count));
    for (std::size_t i = 0; i < count; ++i) store_le(out_.data() + 8 * i, y_[i] - x_[i]);
    return std::span(out_).first(8 * count);
  }

 private:
  ElementStream a_, b_;
  std::uint64_t left_;
  Run run_;
  std::array<double, Run::kMost> x_, y_;
  std::array<std::byte, 8 * Run::kMost> out_;
};

bool is_wide_integer(const Component& component) {
  return component.type.empty() && (component.dtype == DType::i64 || component.dtype == DType::u64);
}

// For integers that doubles would round before the subtraction.
class IntegerDifferenceReader final : public BlockReader {
 public:
  IntegerDifferenceReader(const Component& a, const Component& b, std::uint64_t first, std::uint64_t end)
      : a_(a.blob.open(first * 8)),
        b_(b.blob.open(first * 8)),
        signed_a_(a.dtype == DType::i64),
        signed_b_(b.dtype == DType::i64),
        left_(end - first) {}

 protected:
  std::span<const std::byte> make_block() override {
    const std::size_t count = run_.next(wanted(), left_);
    left_ -= count;
    a_->read(std::span(x_).first(8 * count));
    b_->read(std::span(y_).first(8 * count));
    for (std::size_t i = 0; i < 8 * count; i += 8)
      store_le(out_.data() + i,
               WideInteger::load(y_.data() + i, signed_b_).minus(WideInteger::load(x_.data() + i, signed_a_)));
    return std::span(out_).first(8 * count);
  }

 private:
  std::unique_ptr<BlobReader> a_, b_;
  bool signed_a_, signed_b_;
  std::uint64_t left_;
  Run run_;
  std::array<std::byte, 8 * Run::kMost> x_, y_, out_;
};

class DifferenceProducer final : public BlobProducer {
 public:
  DifferenceProducer(Tensor a, Tensor b, std::uint64_t count) : a_(std::move(a)), b_(std::move(b)), count_(count) {}
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    const Component &a = *a_.component("data"), &b = *b_.component("data");
    std::unique_ptr<BlockReader> reader;
    if (is_wide_integer(a) && is_wide_integer(b))
      reader = std::make_unique<IntegerDifferenceReader>(a, b, offset / 8, count_);
    else
      reader = std::make_unique<DifferenceReader>(a, b, offset / 8, count_);
    reader->skip(offset % 8);
    return reader;
  }
  std::uint64_t seek_granularity() const override {
    const std::uint64_t a = elements_per_step(a_), b = elements_per_step(b_);
    return a == 0 || b == 0 ? 0 : std::lcm(a, b) * 8;
  }
  void verify() const override {
    a_.component("data")->blob.verify();
    b_.component("data")->blob.verify();
  }

 private:
  static std::uint64_t elements_per_step(const Tensor& tensor) {
    const Component& data = *tensor.component("data");
    constexpr std::uint64_t kMost = std::uint64_t{1} << 24;  // a larger granularity does not help
    const std::uint64_t step = data.blob.is_plain() ? 1 : data.blob.seek_granularity();
    const std::uint64_t size = size_of(data.dtype);
    return step > kMost ? 0 : std::lcm(step, size) / size;
  }
  Tensor a_, b_;
  std::uint64_t count_;
};

Tensor numbers_of(const Tensor& tensor) {
  Tensor dense = to_dense(tensor);
  const Component* const data = dense.component("data");
  if (data == nullptr || !is_numeric(data->dtype, data->type))
    throw Error(ErrorKind::unsupported, "stats.type", fmt::format("{} has no numbers", dtype_name(tensor)))
        .about("tensor " + quote(tensor.name));
  return dense;
}

}  // namespace

Tensor difference(const Tensor& a, const Tensor& b) {
  Tensor x = numbers_of(a), y = numbers_of(b);
  const std::uint64_t count = inspect::storage_elements(*x.component("data"));
  if (!(a.shape == b.shape) || count != inspect::storage_elements(*y.component("data")))
    throw Error(ErrorKind::usage, "diff.shape",
                fmt::format("{} of shape {} and {} of shape {} have no element-wise difference", dtype_name(a),
                            a.shape.text(), dtype_name(b), b.shape.text()))
        .about("tensor " + quote(a.name));
  return dense(a.name, Shape{count}, DType::f64,
               Blob::produced(count * 8, std::make_shared<DifferenceProducer>(std::move(x), std::move(y), count)));
}

}  // namespace tare
