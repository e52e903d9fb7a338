#include "inspect/pull.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"

namespace tare::inspect {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{8} << 20;

}  // namespace

Puller::Puller(const Blob& blob, std::uint64_t offset) {
  const bool in_memory = blob.source() != nullptr && blob.source()->descriptor() < 0;
  if (const auto all = in_memory ? blob.view() : std::nullopt) {
    view_ = all->subspan(offset);
    return;
  }
  reader_ = blob.open(offset);
  const std::uint64_t left = blob.size() - offset;
  buffer_ =
      std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, left)));
}

std::span<const std::byte> Puller::next(std::size_t count) {
  if (reader_ == nullptr) {
    const auto part = view_.first(count);
    view_ = view_.subspan(count);
    return part;
  }
  const std::span part(buffer_.get(), count);
  reader_->read(part);
  return part;
}

void pull(const Blob& blob, std::uint64_t begin, std::uint64_t end,
          const std::function<void(std::span<const std::byte>)>& visit) {
  Puller puller(blob, begin);
  while (begin < end) {
    const auto part = puller.next(static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, end - begin)));
    visit(part);
    begin += part.size();
  }
}

std::uint64_t units_per_piece(const Blob& blob, std::uint64_t unit) {
  const std::uint64_t whole = std::max<std::uint64_t>(1, ceil_div(blob.size(), unit));
  const std::uint64_t step = blob.seek_granularity();
  if (step == 0 || step >= blob.size()) return whole;
  // Uses the blob's own boundaries if they are not too far apart; otherwise pieces so long that decoding twice at their
  // borders does not matter.
  const std::uint64_t aligned = step / std::gcd(step, unit);
  const std::uint64_t least = std::max<std::uint64_t>(1, ceil_div(kPiece, unit));
  const std::uint64_t units = ceil_div(least, aligned) * aligned;
  if (units <= 8 * least) return std::min(units, whole);
  return std::min(std::max(least, ceil_div(step, unit) * 4), whole);
}

}  // namespace tare::inspect
