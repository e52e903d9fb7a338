#include "device/loading.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "base/stopping.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "device/budget.hpp"
#include "device/reader.hpp"

namespace tare::device {
namespace {

constexpr std::uint64_t kLeastChunk = std::uint64_t{256} << 10;
constexpr std::chrono::milliseconds kLook{20};  // how often waiting threads look for a stop request

Options checked(Options options) {
  if (options.chunk_bytes % kSector != 0 || options.chunk_bytes < kLeastChunk ||
      options.chunk_bytes > (std::uint64_t{1} << 30))
    throw Error(ErrorKind::usage, "device.chunk",
                fmt::format("a chunk of {} bytes; expected a multiple of {} from {} to {}", options.chunk_bytes,
                            kSector, size_text(kLeastChunk), size_text(std::uint64_t{1} << 30)));
  return options;
}

}  // namespace

Loading::State::State(std::vector<SourcePtr> sources, Arrangement arrangement, const Options& options)
    : sources_(std::move(sources)),
      arrangement_(std::move(arrangement)),
      pieces_(arrangement_.pieces->all),
      options_(checked(options)),
      context_(Context::of(options.device)),
      checks_(options.verify) {
  choose_hashers();
  work_ = make_work(*arrangement_.pieces, options_.chunk_bytes, hashed_here_);
  for (const SourcePtr& file : arrangement_.pieces->files) files_.emplace_back(file, options_.reading);
  decodes_ = std::ranges::any_of(pieces_, &Piece::decodes);
  piece_of_.resize(arrangement_.tensors.size());
  arrivals_.reserve(arrangement_.tensors.size());
  ready_.resize(pieces_.size());
  left_ = std::make_unique<std::atomic<std::uint64_t>[]>(pieces_.size());
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    left_[i].store(pieces_[i].bytes, std::memory_order_relaxed);
    for (const std::size_t tensor : pieces_[i].placed) piece_of_[tensor] = i;
  }
}

void Loading::State::allocate(const Destination& destination) {
  const Current here(*context_);
  device_ = std::make_unique<OnDevice>(*context_);
  take_slots();
  if (decodes_) prepare_kernels();
  if (std::ranges::count(hashed_there_, 1) > 0) {
    device_->digests = std::make_unique<DeviceDigests>(*context_, pieces_);
    device_bytes_ += device_->digests->device_bytes();
  }
  take_memory(destination);
}

// Leases pinned memory: two slots per reading thread if the budget allows it.
void Loading::State::take_slots() {
  const auto threads = static_cast<unsigned>(std::min<std::size_t>(
      reader_threads(options_.work.threads, options_.verify), std::max<std::size_t>(work_.jobs.size(), 1)));
  const std::uint64_t chunk = options_.chunk_bytes, wanted = 2 * threads * chunk;
  const std::uint64_t budget = pinned_budget(options_.pinned_bytes);
  lease_ = std::make_unique<Lease>(context_, std::min(wanted, budget / chunk * chunk), chunk, budget, threads);
  pinned_bytes_ = lease_->bytes().size();
  const std::uint64_t slots = pinned_bytes_ / chunk;
  readers_ = static_cast<unsigned>(std::min<std::uint64_t>(threads, slots));
  slots_each_ = std::min<std::size_t>(slots / readers_, 2);
}

void Loading::State::prepare_kernels() {
  for (const Piece& piece : pieces_)
    if (piece.decodes()) context_->kernels().prepare(piece.decode.kernel);
  const std::uint64_t bytes = slots_each_ * readers_ * options_.chunk_bytes;
  device_->stage = std::make_unique<DeviceMemory>(*context_, bytes);
  device_bytes_ += bytes;
}

Loading::State::~State() {
  cancel();
  release_all();
}

// Assigns each digest to the device if that is faster, otherwise to the processor.
void Loading::State::choose_hashers() {
  hashed_here_.resize(pieces_.size());
  hashed_there_.resize(pieces_.size());
  if (!options_.verify) return;
  const bool there = std::ranges::any_of(pieces_, DeviceDigests::suits) && DeviceDigests::possible(*context_);
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (!pieces_[i].digest) continue;
    (there && DeviceDigests::suits(pieces_[i]) ? hashed_there_ : hashed_here_)[i] = 1;
  }
}

void Loading::State::release_all() noexcept {
  threads_.clear();
  checkers_.clear();
  try {
    const Current here(*context_);
    if (device_ != nullptr) {  // other streams may still wait for an event after the last copies
      context_->driver().stream_synchronize(device_->copies.get());
      context_->driver().stream_synchronize(device_->kernels.get());
    }
    device_.reset();
  } catch (const Error&) {
    device_.reset();  // a lost device frees nothing
  }
  lease_.reset();
}

void Loading::State::check_destination(const Memory& memory, std::uint64_t bytes, const std::string& what) const {
  if (memory.bytes < bytes)
    throw Error(ErrorKind::usage, "device.destination.small",
                fmt::format("{} needs {} bytes, its destination has {}", what, bytes, memory.bytes));
  if (bytes == 0) return;
  constexpr int kMemoryType = 2, kOrdinal = 9;
  constexpr unsigned kOnDevice = 2;
  unsigned type = 0;
  int ordinal = -1;
  const Driver& driver = context_->driver();
  if (driver.pointer_attribute(&type, kMemoryType, memory.address) != 0 || type != kOnDevice)
    throw Error(ErrorKind::usage, "device.destination.elsewhere",
                fmt::format("the destination of {}, {:#x}, is not memory of a device", what, memory.address));
  if (driver.pointer_attribute(&ordinal, kOrdinal, memory.address) == 0 && ordinal != context_->ordinal())
    throw Error(ErrorKind::usage, "device.destination.elsewhere",
                fmt::format("the destination of {} is memory of device {}, the load is for device {}", what, ordinal,
                            context_->ordinal()));
  DeviceAddress base = 0;
  std::size_t size = 0;
  if (driver.address_range(&base, &size, memory.address) == 0 && memory.address + bytes > base + size)
    throw Error(ErrorKind::usage, "device.destination.small",
                fmt::format("{} needs {} bytes, the memory at its destination ends after {}", what, bytes,
                            base + size - memory.address));
}

void Loading::State::take_memory(const Destination& destination) {
  targets_.resize(pieces_.size());
  if (destination.memory.empty()) {
    std::uint64_t needed = 0;
    for (const std::uint64_t bytes : arrangement_.buffers) needed += bytes;
    std::size_t free = 0, all = 0;
    context_->check(context_->driver().memory_info(&free, &all), "tell its memory");
    if (needed > free)
      throw Error(ErrorKind::limit, "device.memory",
                  fmt::format("{} are needed on the device, {} of {} are free", size_text(needed), size_text(free),
                              size_text(all)))
          .blame(Subject::machine);
    for (const std::uint64_t bytes : arrangement_.buffers) device_->buffers.emplace_back(*context_, bytes);
    device_bytes_ += needed;
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      targets_[i] = device_->buffers[pieces_[i].buffer].address() + pieces_[i].offset;
    return;
  }
  const std::size_t places = destination.each ? arrangement_.tensors.size() : arrangement_.buffers.size();
  if (destination.memory.size() != places)
    throw Error(ErrorKind::usage, "device.destination.count",
                fmt::format("{} destinations are given for {} {}", destination.memory.size(), places,
                            destination.each ? "tensors" : "buffers"));
  own_places_ = !destination.each;
  if (destination.each) {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      // Tensors that share their bytes use the destination of the first.
      const std::size_t first = pieces_[i].placed.front();
      check_destination(destination.memory[first], pieces_[i].bytes, "tensor " + quote(pieces_[i].tensor));
      targets_[i] = destination.memory[first].address;
    }
  } else {
    for (std::size_t i = 0; i < places; ++i)
      check_destination(destination.memory[i], arrangement_.buffers[i], fmt::format("buffer {}", i));
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      targets_[i] = destination.memory[pieces_[i].buffer].address + pieces_[i].offset;
  }
  for (std::size_t i = 0; i < pieces_.size(); ++i)
    if (pieces_[i].decodes() && targets_[i] % 16 != 0)
      throw Error(ErrorKind::usage, "device.destination.aligned",
                  fmt::format("tensor {} is decoded by the device to {:#x}, which is not a multiple of 16",
                              quote(pieces_[i].tensor), targets_[i]));
  // Work that the caller has queued may still use that memory.
  const Event before(*context_);
  before.record(destination.stream);
  before.hold(device_->copies.get());
  before.hold(device_->kernels.get());
}

void Loading::State::start() {
  std::uint64_t total = 0;
  std::vector<std::size_t> empty;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    total += pieces_[i].bytes;
    if (pieces_[i].bytes == 0) empty.push_back(i);
  }
  if (options_.work.progress != nullptr) options_.work.progress->expect(total);
  arrived(empty);
  const bool digests = device_->digests != nullptr;
  {
    const std::scoped_lock lock(mutex_);
    running_ = readers_ + (digests ? 1 : 0);
  }
  threads_ = start_threads(readers_, [this](unsigned number) { run(number); });
  const auto started = static_cast<unsigned>(threads_.size());
  {
    const std::scoped_lock lock(mutex_);
    running_ -= readers_ - started;
    if (started == 0) ++running_;
  }
  // If the system cannot start a thread, the caller's thread does the work.
  if (started == 0) run(0);
  if (digests) checkers_ = start_threads(1, [this](unsigned) { run_digests(); });
  if (digests && checkers_.empty()) run_digests();
}

void Loading::State::run(unsigned number) noexcept {
  const Stop* const before = current_stop();
  listen_to(&stop_);
  try {
    const Current here(*context_);
    Reader reader(*this, number);
    try {
      reader.work();
    } catch (...) {
      fail(std::current_exception());  // before the reader waits for the device, so that the other threads stop, too
    }
  } catch (...) {
    fail(std::current_exception());
  }
  listen_to(before);
  ended();
}

void Loading::State::run_digests() noexcept {
  const Stop* const before = current_stop();
  listen_to(&stop_);
  try {
    const Current here(*context_);
    for (;;) {
      const std::vector<DeviceDigests::Found> found = device_->digests->next();
      if (found.empty()) break;
      std::vector<std::size_t> good;
      for (const DeviceDigests::Found& one : found) {
        const Piece& piece = pieces_[one.piece];
        checks_.compare(piece, files_[piece.file].source(), one.digest);
        good.push_back(one.piece);
      }
      if (!timed_.exchange(true)) first_seconds_ = since_start();
      arrived(good);
    }
  } catch (...) {
    fail(std::current_exception());
  }
  listen_to(before);
  ended();
}

void Loading::State::ended() noexcept {
  const std::scoped_lock lock(mutex_);
  // The readers have waited for their copies: the next load may use the ring, even while this object still exists.
  if (--running_ == 0) lease_.reset();
  changed_.notify_all();
}

void Loading::State::fail(std::exception_ptr error) noexcept {
  const std::scoped_lock lock(mutex_);
  if (!failure_) failure_ = std::move(error);
  stop_.ask();  // after the failure is known: a thread that stops because of it would otherwise report "stopped" first
  changed_.notify_all();
}

void Loading::State::arrived(std::span<const std::size_t> pieces) {
  const std::scoped_lock lock(mutex_);
  for (const std::size_t number : pieces) {
    ready_[number] = 1;
    for (const std::size_t tensor : pieces_[number].placed) arrivals_.push_back(tensor);
  }
  if (waiting_ > 0) changed_.notify_all();
}

DeviceAddress Loading::State::address(std::size_t tensor) const { return targets_[piece_of_.at(tensor)]; }

void Loading::State::hold(StreamHandle stream) {
  const Current here(*context_);
  const std::scoped_lock lock(fence_mutex_);
  device_->fence.record(device_->copies.get());
  device_->fence.hold(stream);
  if (!decodes_) return;
  device_->fence.record(device_->kernels.get());
  device_->fence.hold(stream);
}

void Loading::State::look(std::unique_lock<std::mutex>& lock) {
  ++waiting_;
  changed_.wait_for(lock, kLook);
  --waiting_;
  check_stop();
}

void Loading::State::wait(std::size_t tensor, StreamHandle stream) {
  const StopScope stop(options_.work);
  const std::size_t piece = piece_of_.at(tensor);
  {
    std::unique_lock lock(mutex_);
    while (ready_[piece] == 0 && !failure_ && running_ > 0) look(lock);
    if (failure_) std::rethrow_exception(failure_);
  }
  hold(stream);
}

std::optional<std::size_t> Loading::State::next(StreamHandle stream) {
  const StopScope stop(options_.work);
  std::size_t tensor = 0;
  {
    std::unique_lock lock(mutex_);
    while (given_ == arrivals_.size() && !failure_ && running_ > 0) look(lock);
    if (failure_) std::rethrow_exception(failure_);
    if (given_ == arrivals_.size()) return std::nullopt;
    tensor = arrivals_[given_++];
  }
  hold(stream);
  return tensor;
}

Report Loading::State::finish() {
  const StopScope stop(options_.work);
  {
    std::unique_lock lock(mutex_);
    if (report_) return *report_;
    while (running_ > 0) {
      changed_.wait_for(lock, kLook);
      check_stop();
    }
    if (failure_) std::rethrow_exception(failure_);
  }
  const Current here(*context_);
  device_->copies.synchronize();
  device_->kernels.synchronize();
  Report report;
  report.seconds = since_start();
  for (const SourcePtr& source : sources_) source->check();
  for (const Piece& piece : pieces_) {
    report.bytes += piece.bytes;
    report.unchecked += options_.verify && piece.unchecked ? 1 : 0;
  }
  report.copied_bytes = copied_.load();
  report.read_bytes = counts_.bytes.load();
  report.reads = counts_.reads.load();
  report.direct_bytes = counts_.direct.load();
  report.pinned_bytes = pinned_bytes_;
  report.device_bytes = device_bytes_;
  report.threads = static_cast<unsigned>(std::max<std::size_t>(threads_.size(), 1));
  checks_.fill(report);
  const std::scoped_lock lock(mutex_);
  report.first_seconds = first_seconds_;
  report_ = report;
  return report;
}

Loading::Loading(std::unique_ptr<State> state) : state_(std::move(state)) {}
Loading::~Loading() = default;
Loading::Loading(Loading&&) noexcept = default;

const Arrangement& Loading::arrangement() const { return state_->arrangement(); }
std::uint64_t Loading::address(std::size_t tensor) const { return state_->address(tensor); }
void Loading::wait(std::size_t tensor, void* stream) { state_->wait(tensor, stream); }
std::optional<std::size_t> Loading::next(void* stream) { return state_->next(stream); }
Report Loading::finish() { return state_->finish(); }
void Loading::cancel() noexcept { state_->cancel(); }

Loading load(const Model& model, Arrangement arrangement, Destination destination, const Options& options) {
  auto state = std::make_unique<Loading::State>(model.sources, std::move(arrangement), options);
  state->allocate(destination);
  state->start();
  return Loading(std::move(state));
}

}  // namespace tare::device
