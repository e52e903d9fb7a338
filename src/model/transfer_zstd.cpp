// The compressing half of Transfer: every blob is cut into frames of 4 MiB, all frames of all blobs are packed on all
// cores and written in order. A blob that does not shrink is stored raw instead.
#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "io/zstd.hpp"
#include "model/transfer.hpp"

namespace tare {
namespace {

// Reads the frames of one blob. One that cannot be entered in the middle is read front to back: each frame waits for
// the one before it. Frames are handed out in order, so the one waited for is always in another thread's hands.
class FrameInput {
 public:
  explicit FrameInput(const Blob& blob) : blob_(blob) {
    const std::uint64_t step = blob.seek_granularity();
    seekable_ = step != 0 && io::kZstdFrame % step == 0;
  }

  // The frame's bytes, at the front of `room` (io::kZstdFrame bytes).
  std::span<const std::byte> read(std::size_t frame, std::byte* room) {
    const std::uint64_t at = std::uint64_t{frame} * io::kZstdFrame;
    const std::span out(room, static_cast<std::size_t>(std::min<std::uint64_t>(io::kZstdFrame, blob_.size() - at)));
    if (seekable_) {
      blob_.read(at, out);
      return out;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failed_ || next_ == frame; });
    if (failed_) return {};  // the thread that failed carries the error
    failed_ = true;
    if (frame == 0) reader_ = blob_.open();
    reader_->read(out);
    failed_ = false;
    ++next_;
    changed_.notify_all();
    return out;
  }
  void fail() {
    const std::scoped_lock lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }
  // For a second pass.
  void restart() { next_ = 0; }

 private:
  const Blob& blob_;
  bool seekable_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<BlobReader> reader_;
  std::size_t next_ = 0;
  bool failed_ = false;
};

struct Slot {
  explicit Slot(int level) : packer(level), room(std::make_unique_for_overwrite<std::byte[]>(io::kZstdFrame)) {}
  io::ZstdPacker packer;
  std::unique_ptr<std::byte[]> room;  // what `input` shows
  std::span<const std::byte> input, frame;
};

struct FrameOf {
  std::size_t blob, frame;
  bool last;
};

}  // namespace

void Transfer::pack_all() {
  std::vector<FrameOf> frames;
  std::vector<std::unique_ptr<FrameInput>> inputs;
  for (std::size_t b = 0; b < packed_.size(); ++b) {
    inputs.push_back(std::make_unique<FrameInput>(packed_[b].blob));
    // An empty blob has one empty frame, which does not shrink it.
    const std::uint64_t count = std::max<std::uint64_t>(1, ceil_div(packed_[b].blob.size(), io::kZstdFrame));
    for (std::uint64_t f = 0; f < count; ++f) frames.push_back({b, static_cast<std::size_t>(f), f + 1 == count});
  }
  const auto threads = static_cast<unsigned>(std::min<std::size_t>(thread_count(options_.threads), frames.size()));
  // A slot is a frame and its packed form, 8 MiB. Some to spare keep the cores busy while one of them writes; at most
  // 56 MiB of them up to six threads, above that one a thread and one more.
  const std::size_t window = std::max<std::size_t>(threads + 1, std::min<std::size_t>(2 * threads + 1, 7));
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < window; ++i) slots.emplace_back(*options_.zstd_level);

  std::vector<std::uint64_t> packed_size(packed_.size(), 0);
  bool sizes_known = false;
  const auto stays_raw = [&](std::size_t b) { return sizes_known && packed_size[b] >= packed_[b].blob.size(); };
  const auto make = [&](std::size_t i, std::size_t s) {
    try {
      slots[s].input = inputs[frames[i].blob]->read(frames[i].frame, slots[s].room.get());
      slots[s].frame = stays_raw(frames[i].blob) ? slots[s].input : slots[s].packer.pack(slots[s].input);
    } catch (...) {
      inputs[frames[i].blob]->fail();
      throw;
    }
  };

  // A pipe takes nothing back: find out first which blobs shrink. Each of the two passes is half of the progress.
  const bool twice = !sink_.positional();
  if (twice) {
    parallel_in_order(frames.size(), threads, window, make, [&](std::size_t i, std::size_t s) {
      packed_size[frames[i].blob] += slots[s].frame.size();
      advance(slots[s].input.size() / 2);
    });
    for (auto& input : inputs) input->restart();
    sizes_known = true;
  }

  Hasher hasher(DigestAlgorithm::none), arrived(DigestAlgorithm::none);
  const auto put = [&](std::span<const std::byte> bytes) {
    hasher.update(bytes);
    sink_.write(bytes);
  };
  const auto start = [&](const Blob& blob, StoredBlob& stored) {
    if (sink_.position() > stored.offset) sink_.rewind(stored.offset);
    hasher = Hasher(algorithm_for(blob));
  };
  const auto pack_again = [&](const Blob& blob, std::size_t count) {
    io::ZstdPacker packer(*options_.zstd_level);
    Bytes input(io::kZstdFrame);
    const auto reader = blob.open();
    for (std::size_t f = 0; f < count; ++f) {
      reader->read(input);  // never the last frame of the blob, so always a whole one
      put(packer.pack(input));
    }
  };
  // As long as no frame of a blob has shrunk, its bytes are written as they are: most likely none will, and the blob is
  // stored raw. Should a later one shrink after all, those before it are packed once more.
  bool raw = true;
  parallel_in_order(frames.size(), threads, window, make, [&](std::size_t i, std::size_t s) {
    const FrameOf& at = frames[i];
    const auto& [blob, number] = packed_[at.blob];
    StoredBlob& stored = stored_[number];
    if (at.frame == 0) {
      sink_.align(options_.alignment);
      stored.offset = sink_.position();
      start(blob, stored);
      arrived = Hasher(arrived_algorithm(blob));
      raw = !sizes_known || stays_raw(at.blob);
    }
    arrived.update(slots[s].input);
    advance(twice ? slots[s].input.size() - slots[s].input.size() / 2 : slots[s].input.size());
    if (raw && !stays_raw(at.blob) && slots[s].frame.size() < slots[s].input.size()) {
      raw = false;
      if (at.frame > 0) start(blob, stored);
      pack_again(blob, at.frame);
    }
    put(raw ? slots[s].input : slots[s].frame);
    if (!at.last) return;
    expect_arrived(blob, arrived.finish());
    if (!raw && sink_.position() - stored.offset >= blob.size()) {  // what some frames saved, the others cost
      start(blob, stored);
      return stream(blob, number, nullptr);
    }
    if (raw) return settle_digest(blob, number, hasher.finish());
    stored.encoding = Encoding::zstd;
    stored.stored = sink_.position() - stored.offset;
    stored.digest = hasher.finish();
  });
  packed_.clear();
}

}  // namespace tare
