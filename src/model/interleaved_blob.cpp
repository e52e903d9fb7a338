#include "model/interleaved_blob.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace tare {
namespace {

struct Part {
  Blob blob;
  std::uint64_t step = 0;
};
using Parts = std::array<Part, 2>;

class InterleavedReader final : public BlobReader {
 public:
  InterleavedReader(std::shared_ptr<const Parts> parts, std::uint64_t offset) : parts_(std::move(parts)) {
    const auto& [first, second] = *parts_;
    const std::uint64_t piece = offset / (first.step + second.step), inside = offset % (first.step + second.step);
    turn_ = inside < first.step ? 0 : 1;
    left_ = turn_ == 0 ? first.step - inside : first.step + second.step - inside;
    starts_ = {(piece + turn_) * first.step, piece * second.step};
    starts_[turn_] = (piece + 1) * (*parts_)[turn_].step - left_;
  }
  void read(std::span<std::byte> out) override {
    while (!out.empty()) {
      if (left_ == 0) {
        turn_ = 1 - turn_;
        left_ = (*parts_)[turn_].step;
      }
      auto& reader = readers_[turn_];
      if (reader == nullptr) reader = (*parts_)[turn_].blob.open(starts_[turn_]);
      const auto part = out.first(static_cast<std::size_t>(std::min<std::uint64_t>(left_, out.size())));
      reader->read(part);
      left_ -= part.size();
      out = out.subspan(part.size());
    }
  }

 private:
  std::shared_ptr<const Parts> parts_;
  std::size_t turn_ = 0;
  std::uint64_t left_ = 0;  // bytes left of the current piece
  std::array<std::uint64_t, 2> starts_{};
  std::array<std::unique_ptr<BlobReader>, 2> readers_;
};

class InterleavedProducer final : public BlobProducer {
 public:
  explicit InterleavedProducer(Parts parts) : parts_(std::make_shared<const Parts>(std::move(parts))) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    return std::make_unique<InterleavedReader>(parts_, offset);
  }
  std::uint64_t seek_granularity() const override {
    std::uint64_t common = 1;
    for (const auto& [blob, step] : *parts_) {
      const std::uint64_t own = blob.is_plain() ? 1 : blob.seek_granularity();
      if (own == 0) return 0;
      common = std::lcm(common, own);
    }
    const auto fits = [&](const Part& part) { return part.step % common == 0; };
    return std::ranges::all_of(*parts_, fits) ? common : 0;
  }
  void verify() const override {
    for (const auto& [blob, step] : *parts_) blob.verify();
  }

 private:
  std::shared_ptr<const Parts> parts_;  // shared because a reader may outlive the blob
};

}  // namespace

Blob interleaved_blob(Blob first, std::uint64_t first_step, Blob second, std::uint64_t second_step) {
  const std::uint64_t size = first.size() + second.size();
  return Blob::produced(size, std::make_shared<const InterleavedProducer>(
                                  Parts{Part{std::move(first), first_step}, Part{std::move(second), second_step}}));
}

}  // namespace tare
