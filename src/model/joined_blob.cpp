#include "model/joined_blob.hpp"

#include <algorithm>
#include <numeric>

namespace tare {
namespace {

class JoinedReader final : public BlobReader {
 public:
  JoinedReader(std::shared_ptr<const std::vector<Blob>> blobs, std::size_t first, std::uint64_t offset)
      : blobs_(std::move(blobs)), next_(first) {
    if (next_ < blobs_->size()) enter(offset);
  }
  void read(std::span<std::byte> out) override {
    while (!out.empty()) {
      while (left_ == 0) enter(0);  // callers never read beyond the end
      const auto part = out.first(static_cast<std::size_t>(std::min<std::uint64_t>(left_, out.size())));
      reader_->read(part);
      left_ -= part.size();
      out = out.subspan(part.size());
    }
  }

 private:
  void enter(std::uint64_t offset) {
    const Blob& blob = blobs_->at(next_++);
    reader_ = blob.open(offset);
    left_ = blob.size() - offset;
  }

  std::shared_ptr<const std::vector<Blob>> blobs_;
  std::size_t next_;
  std::uint64_t left_ = 0;  // bytes left in the current blob
  std::unique_ptr<BlobReader> reader_;
};

class JoinedProducer final : public BlobProducer {
 public:
  explicit JoinedProducer(std::vector<Blob> blobs)
      : blobs_(std::make_shared<const std::vector<Blob>>(std::move(blobs))) {
    for (const Blob& blob : *blobs_) ends_.push_back((ends_.empty() ? 0 : ends_.back()) + blob.size());
  }
  std::uint64_t size() const { return ends_.empty() ? 0 : ends_.back(); }

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    const auto blob = static_cast<std::size_t>(std::ranges::upper_bound(ends_, offset) - ends_.begin());
    return std::make_unique<JoinedReader>(blobs_, blob, blob == 0 ? offset : offset - ends_[blob - 1]);
  }
  std::uint64_t seek_granularity() const override {
    std::uint64_t common = 1;
    for (const Blob& blob : *blobs_) {
      const std::uint64_t own = blob.is_plain() ? 1 : blob.seek_granularity();
      if (own == 0) return 0;
      common = std::lcm(common, own);
    }
    const auto fits = [&](const Blob& blob) { return blob.size() % common == 0; };
    return std::ranges::all_of(*blobs_, fits) ? common : 0;
  }
  void verify() const override {
    for (const Blob& blob : *blobs_) blob.verify();
  }

 private:
  std::shared_ptr<const std::vector<Blob>> blobs_;  // shared because a reader may outlive the blob
  std::vector<std::uint64_t> ends_;
};

}  // namespace

Blob joined_blob(std::vector<Blob> blobs) {
  if (blobs.size() == 1) return std::move(blobs.front());
  auto producer = std::make_shared<const JoinedProducer>(std::move(blobs));
  const std::uint64_t size = producer->size();
  return Blob::produced(size, std::move(producer));
}

}  // namespace tare
