// A load in progress: the threads that read, the ring that they read into, and waiting for tensors.
//
// All copies go through one stream, in the order in which they are issued. So one event means "everything issued until
// now", and a tensor whose last copy was issued is ready for any stream that waits for such an event. Kernels have
// their own stream, which waits for each copy that a kernel needs.
//
// Each thread has its own slots of the ring. It fills one while the device copies from the other, and waits for a
// slot's event before it writes to that slot again. Otherwise a reading thread waits for the device only once, to time
// the first tensor.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "device/checks.hpp"
#include "device/context.hpp"
#include "device/device_digests.hpp"
#include "device/file_reader.hpp"
#include "device/jobs.hpp"
#include "device/kernels.hpp"
#include "device/ring.hpp"
#include "tare/device.hpp"
#include "tare/stop.hpp"

namespace tare::device {

class Loading::State {
 public:
  // Plans the load: the jobs of the threads, and which processor hashes what. Allocates and starts nothing.
  State(std::vector<SourcePtr> sources, Arrangement arrangement, const Options& options);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Takes pinned memory and memory of the device. Call it once, then `start`.
  void allocate(const Destination& destination);
  void start();

  const Arrangement& arrangement() const { return arrangement_; }
  DeviceAddress address(std::size_t tensor) const;
  void wait(std::size_t tensor, StreamHandle stream);
  std::optional<std::size_t> next(StreamHandle stream);
  Report finish();
  void cancel() noexcept { stop_.ask(); }

 private:
  using Clock = std::chrono::steady_clock;
  class Reader;

  // Everything on the device, in the order in which it is created.
  struct OnDevice {
    explicit OnDevice(const Context& context) : copies(context), kernels(context), fence(context) {}
    Stream copies, kernels;
    Event fence;  // used by `hold`
    std::vector<DeviceMemory> buffers;
    std::unique_ptr<DeviceMemory> stage;     // a copy of the slots on the device, for what kernels decode
    std::unique_ptr<DeviceDigests> digests;  // null if the device hashes nothing
  };

  void take_slots();
  void prepare_kernels();
  void take_memory(const Destination& destination);
  void check_destination(const Memory& memory, std::uint64_t bytes, const std::string& what) const;
  void choose_hashers();
  void run(unsigned number) noexcept;
  // Compares the digests that the device finds. The main function of a thread, like `run`.
  void run_digests() noexcept;
  void ended() noexcept;
  void fail(std::exception_ptr error) noexcept;
  // Makes pieces available whose last byte was issued.
  void arrived(std::span<const std::size_t> pieces);
  void hold(StreamHandle stream);
  // Waits a short time for a tensor to arrive. Throws `work.stopped`.
  void look(std::unique_lock<std::mutex>& lock);
  double since_start() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }
  void release_all() noexcept;

  Clock::time_point started_ = Clock::now();
  std::vector<SourcePtr> sources_;
  Arrangement arrangement_;
  const std::vector<Piece>& pieces_;
  Options options_;
  ContextPtr context_;
  Checks checks_;
  std::vector<char> hashed_here_, hashed_there_;  // per piece: hashed by the processor, by the device
  Work work_;
  ReadCounts counts_;
  std::atomic<std::uint64_t> copied_{0};
  std::deque<FileReader> files_;
  std::vector<DeviceAddress> targets_;  // per piece
  std::vector<std::size_t> piece_of_;   // per tensor
  bool decodes_ = false;                // kernels are used
  bool own_places_ = true;              // only padding is between joined pieces, so copies may include it
  std::unique_ptr<OnDevice> device_;
  std::unique_ptr<Lease> lease_;
  unsigned readers_ = 0;  // threads that read
  std::size_t slots_each_ = 0;
  std::uint64_t device_bytes_ = 0, pinned_bytes_ = 0;
  std::unique_ptr<std::atomic<std::uint64_t>[]> left_;  // bytes of each piece that were not issued yet
  std::atomic<std::size_t> next_job_{0};
  std::atomic<bool> timed_{false};
  Stop stop_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<char> ready_;            // per piece
  std::vector<std::size_t> arrivals_;  // tensors, in order of arrival
  std::size_t given_ = 0;              // number of those returned by `next`
  unsigned running_ = 0;
  unsigned waiting_ = 0;  // threads that wait for tensors; those that wait for the end need no notice of each
  std::exception_ptr failure_;
  double first_seconds_ = 0;
  std::optional<Report> report_;

  std::mutex fence_mutex_;
  std::vector<std::jthread> threads_, checkers_;
};

}  // namespace tare::device
