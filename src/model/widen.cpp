#include "model/widen.hpp"

#include <algorithm>
#include <vector>

#include "base/endian.hpp"
#include "base/once.hpp"
#include "model/block_reader.hpp"

namespace tare {
namespace {

constexpr std::size_t kNarrow = 4, kWide = 8, kBlock = 8192;  // bytes, bytes, numbers

class WidenReader final : public BlockReader {
 public:
  WidenReader(const Blob& blob, std::uint64_t first, bool is_signed)
      : reader_(blob.open(first * kNarrow)), left_(blob.size() / kNarrow - first), is_signed_(is_signed) {}

 protected:
  std::span<const std::byte> make_block() override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, kBlock));
    narrow_.resize(count * kNarrow);
    wide_.resize(count * kWide);
    reader_->read(narrow_);
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* const from = narrow_.data() + i * kNarrow;
      store_le(wide_.data() + i * kWide,
               is_signed_ ? std::int64_t{load_le<std::int32_t>(from)} : std::int64_t{load_le<std::uint32_t>(from)});
    }
    left_ -= count;
    return wide_;
  }

 private:
  std::unique_ptr<BlobReader> reader_;
  std::uint64_t left_;
  bool is_signed_;
  std::vector<std::byte> narrow_, wide_;
};

class WidenProducer final : public BlobProducer {
 public:
  WidenProducer(Blob blob, bool is_signed) : blob_(std::move(blob)), is_signed_(is_signed) {}
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    // Verify the bytes before the first widening; only once.
    if (blob_.digest() || blob_.guard() != nullptr) checked_.run([this] { blob_.verify(); });
    auto reader = std::make_unique<WidenReader>(blob_, offset / kWide, is_signed_);
    reader->skip(offset % kWide);
    return reader;
  }
  std::uint64_t seek_granularity() const override { return blob_.is_plain() ? kWide : 2 * blob_.seek_granularity(); }
  void verify() const override { blob_.verify(); }

 private:
  Blob blob_;
  bool is_signed_;
  mutable Once checked_;
};

}  // namespace

Blob widened_blob(Blob blob, bool is_signed) {
  const std::uint64_t size = blob.size() / kNarrow * kWide;
  return Blob::produced(size, std::make_shared<const WidenProducer>(std::move(blob), is_signed));
}

}  // namespace tare
