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
  WidenReader(const Blob& blob, std::uint64_t first)
      : reader_(blob.open(first * kNarrow)), left_(blob.size() / kNarrow - first) {}

 protected:
  std::span<const std::byte> make_block() override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, kBlock));
    narrow_.resize(count * kNarrow);
    wide_.resize(count * kWide);
    reader_->read(narrow_);
    for (std::size_t i = 0; i < count; ++i)
      store_le(wide_.data() + i * kWide, std::int64_t{load_le<std::int32_t>(narrow_.data() + i * kNarrow)});
    left_ -= count;
    return wide_;
  }

 private:
  std::unique_ptr<BlobReader> reader_;
  std::uint64_t left_;
  std::vector<std::byte> narrow_, wide_;
};

class WidenProducer final : public BlobProducer {
 public:
  explicit WidenProducer(Blob blob) : blob_(std::move(blob)) {}
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    // Whoever widens the bytes widens those that were written; hashed once, by the first who asks.
    if (blob_.digest()) checked_.run([this] { blob_.verify(); });
    auto reader = std::make_unique<WidenReader>(blob_, offset / kWide);
    reader->skip(offset % kWide);
    return reader;
  }
  std::uint64_t seek_granularity() const override { return blob_.is_plain() ? kWide : 2 * blob_.seek_granularity(); }
  void verify() const override { blob_.verify(); }

 private:
  Blob blob_;
  mutable Once checked_;
};

}  // namespace

Blob widened_blob(Blob blob) {
  const std::uint64_t size = blob.size() / kNarrow * kWide;
  return Blob::produced(size, std::make_shared<const WidenProducer>(std::move(blob)));
}

}  // namespace tare
