// The compressing part of Transfer: splits every blob into frames of 4 MiB (1 MiB with a table), compresses all frames
// of all blobs on all cores and writes them in order. A blob that does not become smaller is stored raw instead.
#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/parallel.hpp"
#include "io/zstd.hpp"
#include "model/transfer.hpp"

namespace tare {
namespace {

// Reads the frames of one blob. A blob that cannot be opened in the middle is read in order: each frame waits for the
// previous one. Frames are handed out in order, so another thread is always working on the previous one.
class FrameInput {
 public:
  FrameInput(const Blob& blob, std::size_t frame_bytes) : blob_(blob), frame_bytes_(frame_bytes) {
    const std::uint64_t step = blob.seek_granularity();
    seekable_ = step != 0 && frame_bytes % step == 0;
  }

  // Returns the frame's bytes in `room`, which has the size of a frame.
  std::span<const std::byte> read(std::size_t frame, std::byte* room) {
    const std::uint64_t at = std::uint64_t{frame} * frame_bytes_;
    const std::span out(room, static_cast<std::size_t>(std::min<std::uint64_t>(frame_bytes_, blob_.size() - at)));
    if (seekable_) {
      blob_.read(at, out);
      return out;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failed_ || next_ == frame; });
    if (failed_) return {};  // the thread that failed throws the error
    failed_ = true;
    if (frame == 0) reader_ = blob_.open();
    reader_->read(out);
    if (at + out.size() == blob_.size()) reader_.reset();  // a decompressor takes memory, and there may be many blobs
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
  std::size_t frame_bytes_;
  bool seekable_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<BlobReader> reader_;
  std::size_t next_ = 0;
  bool failed_ = false;
};

struct Slot {
  Slot(int level, bool checksum, std::size_t frame_bytes)
      : compressor(level, checksum), room(std::make_unique_for_overwrite<std::byte[]>(frame_bytes)) {}
  io::ZstdCompressor compressor;
  std::unique_ptr<std::byte[]> room;  // the memory of `input`
  std::span<const std::byte> input, frame;
};

struct FrameOf {
  std::size_t blob, frame;
  bool last;
};

// The table after the frames of a blob: a skippable frame, as in zstd's seekable format.
class SeekTable {
 public:
  static std::uint64_t bytes_for(std::uint64_t frames) { return 17 + 8 * frames; }
  void clear() { entries_.clear(); }
  void add(std::size_t stored, std::size_t decoded) {
    entries_.emplace_back(static_cast<std::uint32_t>(stored), static_cast<std::uint32_t>(decoded));
  }
  Bytes bytes() const {
    Bytes out(bytes_for(entries_.size()));
    std::byte* at = out.data();
    const auto put = [&](std::uint32_t number) {
      store_le(at, number);
      at += 4;
    };
    put(0x184D2A5E);
    put(static_cast<std::uint32_t>(out.size() - 8));
    for (const auto& [stored, decoded] : entries_) {
      put(stored);
      put(decoded);
    }
    put(static_cast<std::uint32_t>(entries_.size()));
    ++at;  // the descriptor: no checksums in the table
    put(0x8F92EAB1);
    return out;
  }

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> entries_;
};

// Compresses the frames of all blobs on all cores, in slots that are used again.
class FrameMaker {
 public:
  FrameMaker(std::vector<const Blob*> blobs, int level, bool seekable, unsigned threads)
      : blobs_(std::move(blobs)), level_(level), seekable_(seekable), compressed_size_(blobs_.size(), 0) {
    for (std::size_t b = 0; b < blobs_.size(); ++b) {
      inputs_.push_back(std::make_unique<FrameInput>(*blobs_[b], frame_bytes_));
      // An empty blob has one empty frame, which does not make it smaller.
      const std::uint64_t count = std::max<std::uint64_t>(1, ceil_div(blobs_[b]->size(), frame_bytes_));
      for (std::uint64_t f = 0; f < count; ++f) frames_.push_back({b, f, f + 1 == count});
    }
    threads_ = static_cast<unsigned>(std::min<std::size_t>(threads, frames_.size()));
    // A slot holds a frame and its compressed form, 8 MiB. Spare slots keep the cores busy while one of them writes: up
    // to 7 slots (56 MiB) for six threads or fewer, above that one more than there are threads.
    const std::size_t window = std::max<std::size_t>(threads_ + 1, std::min<std::size_t>(2 * threads_ + 1, 7));
    for (std::size_t i = 0; i < window; ++i) slots_.emplace_back(level, seekable, frame_bytes_);
  }

  // Calls `take` for every frame, in order.
  template <typename Take>
  void for_each(const Take& take) {
    const auto make = [&](std::size_t i, std::size_t s) {
      const FrameOf& at = frames_[i];
      try {
        slots_[s].input = inputs_[at.blob]->read(at.frame, slots_[s].room.get());
        slots_[s].frame = stays_raw(at.blob) ? slots_[s].input : slots_[s].compressor.compress(slots_[s].input);
      } catch (...) {
        inputs_[at.blob]->fail();
        throw;
      }
    };
    parallel_in_order(frames_.size(), threads_, slots_.size(), make,
                      [&](std::size_t i, std::size_t s) { take(frames_[i], slots_[s]); });
  }

  // Finds out which blobs become smaller. Calls `done` with the bytes of each frame.
  template <typename Done>
  void measure(const Done& done) {
    for_each([&](const FrameOf& at, const Slot& slot) {
      compressed_size_[at.blob] += slot.frame.size();
      if (seekable_ && at.last) compressed_size_[at.blob] += SeekTable::bytes_for(at.frame + 1);
      done(slot.input.size());
    });
    for (auto& input : inputs_) input->restart();
    sizes_known_ = true;
  }
  bool sizes_known() const { return sizes_known_; }
  bool stays_raw(std::size_t b) const { return sizes_known_ && compressed_size_[b] >= blobs_[b]->size(); }

  // Compresses the first `count` frames of a blob again, and calls `take` with the bytes of each and its compressed form.
  template <typename Take>
  void repeat(const Blob& blob, std::size_t count, const Take& take) const {
    if (count == 0) return;  // most blobs are one frame; a buffer for each would cost more than the work itself
    io::ZstdCompressor compressor(level_, seekable_);
    Bytes input(frame_bytes_);
    const auto reader = blob.open();
    for (std::size_t f = 0; f < count; ++f) {
      reader->read(input);  // never the last frame of the blob, so always a whole one
      take(input, compressor.compress(input));
    }
  }

 private:
  static constexpr std::size_t kSeekableFrame = std::size_t{1} << 20;

  std::vector<const Blob*> blobs_;
  int level_;
  bool seekable_, sizes_known_ = false;
  std::size_t frame_bytes_ = seekable_ ? kSeekableFrame : io::kZstdFrame;
  std::vector<std::uint64_t> compressed_size_;
  std::vector<FrameOf> frames_;
  std::vector<std::unique_ptr<FrameInput>> inputs_;
  unsigned threads_ = 1;
  std::vector<Slot> slots_;
};

}  // namespace

void Transfer::compress_all() {
  const bool seekable = options_.seekable;
  std::vector<const Blob*> blobs;
  for (const Compressed& each : compressed_) blobs.push_back(&each.blob);
  FrameMaker frames(std::move(blobs), *options_.zstd_level, seekable, thread_count(options_.threads));
  // Bytes in a pipe are final: find out first which blobs become smaller. Each of the two passes is half of the
  // progress.
  const bool twice = !sink_.positional();
  if (twice) frames.measure([&](std::size_t bytes) { advance(bytes / 2); });

  Hasher hasher(DigestAlgorithm::none), arrived(DigestAlgorithm::none);
  SeekTable table;
  const auto put = [&](std::span<const std::byte> bytes) {
    if (!seekable) hasher.update(bytes);
    sink_.write(bytes);
  };
  std::uint64_t touched = 0;  // before this position there may be bytes of a form that was discarded
  const auto start = [&](const Blob& blob, StoredBlob& stored) {
    const bool again = sink_.position() > stored.offset;
    if (again) {
      touched = std::max(touched, sink_.position());
      sink_.rewind(stored.offset);
    }
    // The digest of decoded bytes does not depend on how they are stored.
    if (!again || !seekable) hasher = Hasher(algorithm_for(blob));
    table.clear();
  };
  // Until a frame of a blob becomes smaller, its bytes are written raw: most likely none will, and the blob is stored
  // raw. If a later frame does become smaller, the earlier ones are compressed again.
  bool raw = true;
  frames.for_each([&](const FrameOf& at, const Slot& slot) {
    const auto& [blob, number] = compressed_[at.blob];
    StoredBlob& stored = stored_[number];
    if (at.frame == 0) {
      const std::uint64_t over = sink_.position() % options_.alignment;
      if (touched > sink_.position() && over != 0)
        sink_.write_zeros(std::min(touched - sink_.position(), options_.alignment - over));
      align();
      stored.offset = sink_.position();
      start(blob, stored);
      arrived = Hasher(arrived_algorithm(blob));
      raw = !frames.sizes_known() || frames.stays_raw(at.blob);
    }
    arrived.update(slot.input);
    if (seekable) hasher.update(slot.input);
    advance(twice ? slot.input.size() - slot.input.size() / 2 : slot.input.size());
    if (raw && !frames.stays_raw(at.blob) && slot.frame.size() < slot.input.size()) {
      raw = false;
      if (at.frame > 0) start(blob, stored);
      frames.repeat(blob, at.frame, [&](std::span<const std::byte> input, std::span<const std::byte> frame) {
        table.add(frame.size(), input.size());
        put(frame);
      });
    }
    put(raw ? slot.input : slot.frame);
    if (!raw) table.add(slot.frame.size(), slot.input.size());
    if (!at.last) return;
    expect_arrived(blob, arrived.finish());
    if (!raw && seekable) sink_.write(table.bytes());
    if (!raw && sink_.position() - stored.offset >= blob.size()) {  // the other frames cost what some saved
      start(blob, stored);
      return stream(blob, number, nullptr);
    }
    if (raw) return settle_digest(blob, number, hasher.finish());
    stored.encoding = seekable ? Encoding::zstd_seekable : Encoding::zstd;
    stored.stored = sink_.position() - stored.offset;
    stored.digest = hasher.finish();
  });
  compressed_.clear();
}

}  // namespace tare
