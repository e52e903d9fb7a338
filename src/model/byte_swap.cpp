#include "model/byte_swap.hpp"

#include <algorithm>

#include "base/endian.hpp"

namespace tare {
namespace {

// Callers read pieces of any size, so an element may be split between two reads.
class SwapReader final : public BlobReader {
 public:
  SwapReader(std::unique_ptr<BlobReader> reader, std::size_t width, std::size_t skip)
      : reader_(std::move(reader)), width_(width) {
    if (skip > 0) {
      refill();
      used_ = skip;
    }
  }
  void read(std::span<std::byte> out) override {
    while (!out.empty() && used_ < width_) {
      out[0] = cut_[used_++];
      out = out.subspan(1);
    }
    const auto whole = out.first(out.size() - out.size() % width_);
    if (!whole.empty()) {
      reader_->read(whole);
      swap_elements(whole, width_);
    }
    const auto rest = out.subspan(whole.size());
    if (rest.empty()) return;
    refill();
    std::copy_n(cut_, rest.size(), rest.begin());
    used_ = rest.size();
  }

 private:
  void refill() {
    reader_->read(std::span(cut_).first(width_));
    swap_elements(std::span(cut_).first(width_), width_);
  }

  std::unique_ptr<BlobReader> reader_;
  std::size_t width_;
  std::byte cut_[8] = {};
  std::size_t used_ = 8;  // 8: no element is split
};

class SwapProducer final : public BlobProducer {
 public:
  SwapProducer(Blob blob, std::size_t width) : blob_(std::move(blob)), width_(width) {}
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    const std::uint64_t skip = offset % width_;
    return std::make_unique<SwapReader>(blob_.open(offset - skip), width_, static_cast<std::size_t>(skip));
  }
  std::uint64_t seek_granularity() const override { return blob_.is_plain() ? width_ : blob_.seek_granularity(); }
  void verify() const override { blob_.verify(); }

 private:
  Blob blob_;
  std::size_t width_;
};

}  // namespace

Blob byte_swapped_blob(Blob blob, std::size_t width) {
  if (width <= 1) return blob;
  const std::uint64_t size = blob.size();
  return Blob::produced(size, std::make_shared<const SwapProducer>(std::move(blob), width));
}

}  // namespace tare
