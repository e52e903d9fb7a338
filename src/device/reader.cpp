#include "device/reader.hpp"

#include <algorithm>

#include "base/printable.hpp"
#include "base/stopping.hpp"

namespace tare::device {
namespace {

// Read and checked at a time, so that the bytes are still in the processor's cache for the check.
constexpr std::uint64_t kPart = std::uint64_t{512} << 10;

}  // namespace

Loading::State::Reader::Reader(State& load, unsigned number) : load_(load), context_(*load.context_) {
  const std::uint64_t bytes = load.options_.chunk_bytes;
  for (std::size_t i = 0; i < load.slots_each_; ++i) {
    const std::uint64_t at = (number * load.slots_each_ + i) * bytes;
    const DeviceAddress stage = load.device_->stage == nullptr ? 0 : load.device_->stage->address() + at;
    slots_.push_back(std::make_unique<Slot>(context_, load.lease_->bytes().data() + at, stage));
  }
}

Loading::State::Reader::~Reader() {
  const Driver& driver = context_.driver();
  // After an error, the last copies may have no event.
  driver.stream_synchronize(load_.device_->copies.get());
  driver.stream_synchronize(load_.device_->kernels.get());
  if (load_.device_->digests != nullptr) load_.device_->digests->drain();
}

void Loading::State::Reader::work() {
  const std::vector<Job>& jobs = load_.work_.jobs;
  for (std::size_t i; (i = load_.next_job_.fetch_add(1, std::memory_order_relaxed)) < jobs.size();) {
    check_stop();
    const Job& job = jobs[i];
    const auto name = [&](std::size_t piece) { return "tensor " + quote(load_.pieces_[piece].tensor); };
    try {
      if (job.pulled)
        run_pulled(job);
      else
        run_chunks(job);
    } catch (Error& error) {
      const std::size_t piece =
          job.pulled ? job.piece : load_.work_.shares[load_.work_.chunks[job.begin].first_share].piece;
      if (error.subject() != Subject::machine && error.kind() != ErrorKind::usage) error.about(name(piece));
      throw error;
    }
  }
}

Loading::State::Reader::Slot& Loading::State::Reader::next_slot() {
  check_stop();
  Slot& slot = *slots_[turn_];
  turn_ = (turn_ + 1) % slots_.size();
  if (slot.busy) slot.event.synchronize();
  slot.busy = false;
  return slot;
}

void Loading::State::Reader::run_chunks(const Job& job) {
  const Chunk& first = load_.work_.chunks[job.begin];
  const std::size_t number = load_.work_.shares[first.first_share].piece;
  const Piece& piece = load_.pieces_[number];
  const bool sequence = job.end - job.begin > 1 || first.kind == Chunk::Kind::units;
  if (!sequence || load_.hashed_here_[number] == 0) {
    for (std::uint64_t i = job.begin; i < job.end; ++i) run_chunk(load_.work_.chunks[i], nullptr);
    return;
  }
  Hasher hasher(piece.digest.algorithm());
  for (std::uint64_t i = job.begin; i < job.end; ++i) {
    // The last chunk makes the tensor available; its digest is compared before that.
    run_chunk(load_.work_.chunks[i], &hasher);
  }
}

void Loading::State::Reader::run_chunk(const Chunk& chunk, Hasher* hasher) {
  const std::span shares(load_.work_.shares.data() + chunk.first_share, chunk.shares);
  Slot& slot = next_slot();
  switch (chunk.kind) {
    case Chunk::Kind::run: read_run(chunk, shares, slot, hasher); break;
    case Chunk::Kind::gather: read_gather(chunk, shares.front(), slot); break;
    case Chunk::Kind::units: return run_units(chunk, shares.front(), slot, hasher);
  }
  copy_shares(chunk, shares, slot);
  mark(slot, load_.device_->copies.get());
  done(shares, slot);
}

void Loading::State::Reader::read_run(const Chunk& chunk, std::span<const Share> shares, Slot& slot, Hasher* hasher) {
  const FileReader& file = load_.files_[chunk.file];
  const std::uint64_t length = chunk.end - chunk.begin;
  const Piece& first = load_.pieces_[shares.front().piece];
  const bool hashed = load_.hashed_here_[shares.front().piece] != 0;
  const bool looks = load_.checks_.wanted() && (hashed || first.scan || shares.size() > 1);
  if (!looks) return file.read_sectors(chunk.begin, length, slot.data, load_.counts_);
  if (shares.size() > 1 || file.goes_direct(chunk.begin, length)) {
    file.read_sectors(chunk.begin, length, slot.data, load_.counts_);
    return check_run(shares, slot, hasher, chunk);
  }
  // One tensor, or a part of one: read and checked in small pieces.
  const Share& share = shares.front();
  std::optional<Hasher> own;
  if (hashed && hasher == nullptr) own.emplace(first.digest.algorithm());
  Hasher* const hashes = own ? &*own : hasher;
  for (std::uint64_t at = 0; at < share.bytes; at += kPart) {
    const std::span<std::byte> part(slot.data + share.at + at, std::min(kPart, share.bytes - at));
    file.read(chunk.begin + at, part, load_.counts_);
    if (hashes != nullptr) hashes->update(part);
    load_.checks_.scan(first, part);
  }
  if (hashes != nullptr && share.offset + share.bytes == first.bytes)
    load_.checks_.compare(first, file.source(), hashes->finish());
}

void Loading::State::Reader::check_run(std::span<const Share> shares, Slot& slot, Hasher* hasher, const Chunk& chunk) {
  const Source& source = load_.files_[chunk.file].source();
  for (const Share& share : shares) {
    const Piece& piece = load_.pieces_[share.piece];
    const std::span<const std::byte> bytes(slot.data + share.at, static_cast<std::size_t>(share.bytes));
    load_.checks_.scan(piece, bytes);
    if (load_.hashed_here_[share.piece] == 0) continue;
    if (hasher == nullptr) {
      Hasher own(piece.digest.algorithm());
      own.update(bytes);
      load_.checks_.compare(piece, source, own.finish());
      continue;
    }
    hasher->update(bytes);
    if (share.offset + share.bytes == piece.bytes) load_.checks_.compare(piece, source, hasher->finish());
  }
}

void Loading::State::Reader::read_gather(const Chunk& chunk, const Share& share, Slot& slot) {
  const Piece& piece = load_.pieces_[share.piece];
  const FileReader& file = load_.files_[chunk.file];
  std::byte* to = slot.data;
  for (std::uint64_t row = chunk.begin; row < chunk.end; ++row, to += piece.run)
    file.read(piece.begin + row * piece.stride, {to, static_cast<std::size_t>(piece.run)}, load_.counts_);
  load_.checks_.scan(piece, {slot.data, static_cast<std::size_t>(share.bytes)});
}

void Loading::State::Reader::run_units(const Chunk& chunk, const Share& share, Slot& slot, Hasher* hasher) {
  const Piece& piece = load_.pieces_[share.piece];
  const FileReader& file = load_.files_[chunk.file];
  if (chunk.begin == 0)
    for (const Blob& blob : piece.checked_separately) load_.checks_.verify(blob);
  Kernels::Call call;
  std::uint64_t used = 0;
  for (std::size_t i = 0; i < piece.decode.planes.size(); ++i) {
    const Plane& plane = piece.decode.planes[i];
    const PlaneRange range = plane_range(plane, chunk.begin, chunk.end);
    const std::span<std::byte> bytes(slot.data + used, static_cast<std::size_t>(range.bytes));
    load_.files_[plane.file].read(plane.offset + range.begin, bytes, load_.counts_);
    if (i == 0) load_.checks_.scan(piece, bytes);
    if (i == 0 && hasher != nullptr) hasher->update(bytes);
    call.planes[i] = slot.stage + used;
    used = (used + range.bytes + kPlaneAlignment - 1) / kPlaneAlignment * kPlaneAlignment;
  }
  if (hasher != nullptr && chunk.end == piece.decode.units)
    load_.checks_.compare(piece, file.source(), hasher->finish());
  copy(slot.stage, slot.data, used);
  const StreamHandle kernels = load_.device_->kernels.get();
  slot.busy = true;
  slot.event.record(load_.device_->copies.get());
  slot.event.hold(kernels);
  call.out = load_.targets_[share.piece] + share.offset;
  call.first = chunk.begin;
  call.numbers = piece.decode.numbers;
  call.count = share.bytes / size_of(piece.decode.made);
  call.kind = piece.decode.made == DType::f32 ? 0 : piece.decode.made == DType::f16 ? 1 : 2;
  constexpr std::uint64_t kEach = 8;  // elements per device thread
  context_.kernels().launch(piece.decode.kernel, call, (call.count + kEach - 1) / kEach, kernels);
  mark(slot, kernels);
  done({&share, 1}, slot);
}

void Loading::State::Reader::run_pulled(const Job& job) {
  const Piece& piece = load_.pieces_[job.piece];
  if (job.begin == 0) load_.checks_.verify(piece.blob);
  const std::unique_ptr<BlobReader> reader = piece.blob.unchecked().open(job.begin);
  const std::uint64_t slot_bytes = load_.options_.chunk_bytes;
  for (std::uint64_t at = job.begin; at < job.end;) {
    Slot& slot = next_slot();
    const std::span<std::byte> bytes(slot.data, static_cast<std::size_t>(std::min(slot_bytes, job.end - at)));
    reader->read(bytes);
    load_.checks_.scan(piece, bytes);
    copy(load_.targets_[job.piece] + at, bytes.data(), bytes.size());
    mark(slot, load_.device_->copies.get());
    const Share share{job.piece, 0, at, bytes.size()};
    done({&share, 1}, slot);
    at += bytes.size();
  }
}

// Makes as few copies as possible: neighbours in memory that are also neighbours on the device are copied together.
void Loading::State::Reader::copy_shares(const Chunk& chunk, std::span<const Share> shares, Slot& slot) {
  const bool over_gaps = load_.own_places_ && chunk.kind == Chunk::Kind::run;
  for (std::size_t i = 0; i < shares.size();) {
    const std::uint64_t from = shares[i].at;
    const DeviceAddress to = load_.targets_[shares[i].piece] + shares[i].offset;
    std::uint64_t end = from + shares[i].bytes;
    for (++i; i < shares.size(); ++i) {
      const bool beside = load_.targets_[shares[i].piece] + shares[i].offset - to == shares[i].at - from;
      if (!beside || (shares[i].at != end && !over_gaps)) break;
      end = shares[i].at + shares[i].bytes;
    }
    copy(to, slot.data + from, end - from);
  }
}

void Loading::State::Reader::copy(DeviceAddress to, const std::byte* from, std::uint64_t bytes) {
  context_.check(context_.driver().copy_to_device(to, from, bytes, load_.device_->copies.get()), "copy to the device");
  load_.copied_.fetch_add(bytes, std::memory_order_relaxed);
}

void Loading::State::Reader::mark(Slot& slot, StreamHandle stream) {
  slot.busy = true;
  slot.event.record(stream);
}

void Loading::State::Reader::done(std::span<const Share> shares, Slot& slot) {
  std::uint64_t bytes = 0;
  whole_.clear();
  for (const Share& share : shares) {
    bytes += share.bytes;
    if (load_.hashed_there_[share.piece] != 0) {
      load_.device_->digests->issued(share.piece, load_.targets_[share.piece], share.offset, share.bytes,
                                     load_.device_->copies.get());
      continue;
    }
    // Other threads issue their copies before they subtract, so whichever subtracts the last byte comes after all
    // copies.
    if (load_.left_[share.piece].fetch_sub(share.bytes, std::memory_order_acq_rel) == share.bytes)
      whole_.push_back(share.piece);
  }
  if (load_.options_.work.progress != nullptr) load_.options_.work.progress->advance(bytes);
  if (whole_.empty()) return;
  if (!load_.timed_.exchange(true)) {
    slot.event.synchronize();
    slot.busy = false;
    load_.first_seconds_ = load_.since_start();
  }
  load_.arrived(whole_);
}

}  // namespace tare::device
