#include "device/device_digests.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/endian.hpp"
#include "base/stopping.hpp"
#include "device/kernels.hpp"

namespace tare::device {
namespace {

constexpr std::uint64_t kBlock = 1024, kSums = 64;  // bytes per block, and bytes of its sums for the accumulators
// For smaller pieces, queueing kernels takes longer than hashing.
constexpr std::uint64_t kLeastHashed = std::uint64_t{1} << 20;
constexpr std::size_t kLanes = 4;
// Bytes of sums per lane, so that all lanes together take less than one percent of the pieces' size.
constexpr std::uint64_t kMostSums = std::uint64_t{2} << 20, kLeastSums = std::uint64_t{64} << 10;
constexpr std::uint64_t kShareOfPieces = 512;
constexpr std::size_t kResult = 16;
constexpr std::string_view kSumsKernel = "xxh3_sums", kChainKernel = "xxh3_chain", kFinishKernel = "xxh3_finish";

std::uint64_t sums_for(std::span<const Piece> pieces) {
  std::uint64_t bytes = 0;
  for (const Piece& piece : pieces)
    if (DeviceDigests::suits(piece)) bytes += piece.bytes;
  return std::clamp(bytes / kShareOfPieces / kSums * kSums, kLeastSums, kMostSums);
}

std::uint64_t memory_for(std::span<const Piece> pieces) {
  const auto count = static_cast<std::uint64_t>(std::ranges::count_if(pieces, DeviceDigests::suits));
  return kLanes * sums_for(pieces) + count * (kSums + kResult);
}

Digest digest_from(DigestAlgorithm algorithm, std::span<const std::byte> result) {
  std::array<std::byte, kResult> bytes{};
  const bool both = algorithm == DigestAlgorithm::xxh3_128;
  if (both) store_be(bytes.data(), load_le<std::uint64_t>(result.data() + 8));
  store_be(bytes.data() + (both ? 8 : 0), load_le<std::uint64_t>(result.data()));
  return Digest(algorithm, std::span(bytes).first(both ? 16 : 8));
}

}  // namespace

bool DeviceDigests::suits(const Piece& piece) {
  const DigestAlgorithm algorithm = piece.digest.algorithm();
  return piece.plain() && piece.bytes >= kLeastHashed &&
         (algorithm == DigestAlgorithm::xxh3 || algorithm == DigestAlgorithm::xxh3_128);
}

bool DeviceDigests::possible(const Context& context) noexcept {
  try {
    const Current here(context);
    for (const std::string_view name : {kSumsKernel, kChainKernel, kFinishKernel}) context.kernels().prepare(name);
    return true;
  } catch (const std::exception&) {
    return false;  // the processor hashes instead
  }
}

DeviceDigests::DeviceDigests(const Context& context, std::span<const Piece> pieces)
    : context_(context),
      pieces_(pieces),
      sum_blocks_(sums_for(pieces) / kSums),
      memory_(context, memory_for(pieces)),
      fence_(context),
      done_(context, kWithoutTiming | kSleeping),
      results_stream_(context),
      run_of_(pieces.size()) {
  DeviceAddress at = memory_.address();
  for (std::size_t i = 0; i < kLanes; ++i, at += sum_blocks_ * kSums) {
    lanes_.push_back(std::make_unique<Lane>(context));
    lanes_.back()->sums = at;
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!suits(pieces[i])) continue;
    run_of_[i] = runs_.size();
    runs_.push_back({i, pieces[i].bytes, 0, {}, 0, 0, at});
    at += kSums;
  }
  results_ = at;
}

DeviceDigests::~DeviceDigests() { drain(); }

void DeviceDigests::drain() const noexcept {
  for (const auto& lane : lanes_) context_.driver().stream_synchronize(lane->stream.get());
}

void DeviceDigests::issued(std::size_t piece, DeviceAddress target, std::uint64_t offset, std::uint64_t bytes,
                           StreamHandle copies) {
  const std::scoped_lock lock(mutex_);
  Run& run = runs_[run_of_[piece]];
  run.later.emplace(offset, offset + bytes);
  while (!run.later.empty() && run.later.begin()->first == run.front) {
    run.front = run.later.begin()->second;
    run.later.erase(run.later.begin());
  }
  if (run.front == run.bytes || run.front / kBlock - run.blocks >= sum_blocks_) hash(run, target, copies);
}

// Hashes the bytes that were issued without a gap, in steps for which there is memory.
void DeviceDigests::hash(Run& run, DeviceAddress target, StreamHandle copies) {
  if (run.blocks == 0) run.lane = next_lane_++ % kLanes;
  const StreamHandle stream = lanes_[run.lane]->stream.get();
  fence_.record(copies);
  fence_.hold(stream);
  // No step follows the last block, even if it is complete.
  const std::uint64_t steps = (run.bytes - 1) / kBlock;
  const bool whole = run.front == run.bytes;
  const std::uint64_t end = std::min(run.front / kBlock, steps);
  for (bool over = !whole; run.blocks < end || !over;) {
    const std::uint64_t blocks = std::min(end - run.blocks, sum_blocks_);
    const bool last = whole && run.blocks + blocks == steps;
    chain(run, target, blocks, last ? run.bytes - steps * kBlock : 0);
    run.blocks += blocks;
    over = over || last;
  }
  if (!whole) return;
  Kernels::Call finish;
  finish.planes[0] = run.accumulators;
  finish.out = results_ + queued_.size() * kResult;
  finish.numbers[0] = run.bytes;
  finish.count = 1;
  context_.kernels().launch(kFinishKernel, finish, 1, stream);
  queued_.push_back(run.piece);
  changed_.notify_one();
}

void DeviceDigests::chain(const Run& run, DeviceAddress target, std::uint64_t blocks, std::uint64_t rest) const {
  const Lane& lane = *lanes_[run.lane];
  const DeviceAddress from = target + run.blocks * kBlock;
  Kernels::Call sums;
  sums.planes[0] = from;
  sums.out = lane.sums;
  sums.count = blocks * 4;
  context_.kernels().launch(kSumsKernel, sums, sums.count, lane.stream.get());
  Kernels::Call steps;
  steps.planes = {lane.sums, from + blocks * kBlock, 0};
  steps.out = run.accumulators;
  steps.first = run.blocks;
  steps.numbers = {blocks, rest};
  steps.count = 8;
  context_.kernels().launch(kChainKernel, steps, steps.count, lane.stream.get());
}

std::vector<DeviceDigests::Found> DeviceDigests::next() {
  std::vector<Found> found;
  const std::size_t first = given_;
  {
    std::unique_lock lock(mutex_);
    while (given_ == queued_.size() && given_ < runs_.size()) {
      changed_.wait_for(lock, std::chrono::milliseconds(20));
      check_stop();
    }
    for (; given_ < queued_.size(); ++given_) found.push_back({queued_[given_], {}});
  }
  if (found.empty()) return found;
  for (const auto& lane : lanes_) {
    done_.record(lane->stream.get());
    done_.synchronize();
  }
  Bytes results(found.size() * kResult);
  context_.check(context_.driver().copy_to_host_in(results.data(), results_ + first * kResult, results.size(),
                                                   results_stream_.get()),
                 "copy digests to the host");
  results_stream_.synchronize();
  for (std::size_t i = 0; i < found.size(); ++i)
    found[i].digest =
        digest_from(pieces_[found[i].piece].digest.algorithm(), std::span(results).subspan(i * kResult, kResult));
  return found;
}

}  // namespace tare::device
