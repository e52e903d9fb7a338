// Digests that the device makes of bytes once they have been copied: those of XXH3, of which only a short step from block to
// block must be done in order (kernels.cu). The device reads its memory a hundred times as fast as the link fills it, so
// these digests cost the load next to nothing, and the processor nothing at all.
//
// As soon as enough of a piece is on its way from its beginning on, without a gap, kernels for that much are queued behind the
// copies. So little is left to do when the last byte of a piece arrives, and little memory is needed for sums.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "device/context.hpp"
#include "device/pieces.hpp"

namespace tare::device {

class DeviceDigests {
 public:
  // Whether the device is the better place to hash a piece, if it can.
  static bool suits(const Piece& piece);
  // Whether it can. False where its driver does not take the kernels.
  static bool possible(const Context& context) noexcept;

  // For those pieces that it suits. The context is current here and in all that follows.
  DeviceDigests(const Context& context, std::span<const Piece> pieces);
  // Waits for the device.
  ~DeviceDigests();
  DeviceDigests(const DeviceDigests&) = delete;
  DeviceDigests& operator=(const DeviceDigests&) = delete;

  std::uint64_t device_bytes() const { return memory_.bytes(); }

  // Bytes [offset, offset + bytes) of a piece have been put into the stream `copies`, and the piece begins at `target`. From
  // many threads.
  void issued(std::size_t piece, DeviceAddress target, std::uint64_t offset, std::uint64_t bytes, StreamHandle copies);

  struct Found {
    std::size_t piece = 0;
    Digest digest;
  };
  // Waits for digests that have not been given yet. Empty when all have been. Listens to the wish to stop. From one thread.
  std::vector<Found> next();
  // Waits until the device has done what was queued.
  void drain() const noexcept;

 private:
  struct Run {  // a piece
    std::size_t piece = 0;
    std::uint64_t bytes = 0;
    std::uint64_t front = 0;                       // issued from the beginning on
    std::map<std::uint64_t, std::uint64_t> later;  // what was issued beyond: begin and end
    std::uint64_t blocks = 0;                      // hashed
    std::size_t lane = 0;
    DeviceAddress accumulators = 0;
  };
  // A stream with memory for sums: pieces in different ones do not wait for each other.
  struct Lane {
    explicit Lane(const Context& context) : stream(context) {}
    Stream stream;
    DeviceAddress sums = 0;
  };

  void hash(Run& run, DeviceAddress target, StreamHandle copies);
  void chain(const Run& run, DeviceAddress target, std::uint64_t blocks, std::uint64_t rest) const;

  const Context& context_;
  std::span<const Piece> pieces_;
  std::uint64_t sum_blocks_ = 0;  // for which a lane has memory
  DeviceMemory memory_;
  Event fence_, done_;
  Stream results_stream_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  DeviceAddress results_ = 0;
  std::vector<std::size_t> run_of_;  // of each piece

  std::mutex mutex_;  // of the following
  std::condition_variable changed_;
  std::vector<Run> runs_;
  std::size_t next_lane_ = 0;
  std::vector<std::size_t> queued_;  // pieces whose digests are being made; their results lie in this order
  std::size_t given_ = 0;            // of those
};

}  // namespace tare::device
