// Digests that the device computes after bytes have been copied. They are XXH3 digests, in which only a short step from
// block to block is sequential (kernels.cu). The device reads its memory a hundred times faster than the link fills it,
// so these digests cost the load next to nothing, and the processor nothing at all.
//
// As soon as enough bytes of a piece are issued, from its beginning on and without a gap, kernels for them are queued
// after the copies. So little is left to do when the last byte of a piece arrives, and sums need little memory.
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
  // Whether the device, if it can hash, is the better place to hash a piece.
  static bool suits(const Piece& piece);
  // Whether the device can hash. False if its driver does not accept the kernels.
  static bool possible(const Context& context) noexcept;

  // For the pieces that `suits` accepts. The context must be current here and in all functions below.
  DeviceDigests(const Context& context, std::span<const Piece> pieces);
  // Waits for the device.
  ~DeviceDigests();
  DeviceDigests(const DeviceDigests&) = delete;
  DeviceDigests& operator=(const DeviceDigests&) = delete;

  std::uint64_t device_bytes() const { return memory_.bytes(); }

  // Reports that bytes [offset, offset + bytes) of a piece, which begins at `target`, were issued to the stream
  // `copies`. Thread-safe.
  void issued(std::size_t piece, DeviceAddress target, std::uint64_t offset, std::uint64_t bytes, StreamHandle copies);

  struct Found {
    std::size_t piece = 0;
    Digest digest;
  };
  // Waits for digests that were not returned before. Empty after the last. Throws `work.stopped`. Used by one thread.
  std::vector<Found> next();
  // Waits until the device has finished everything queued.
  void drain() const noexcept;

 private:
  struct Run {  // a piece
    std::size_t piece = 0;
    std::uint64_t bytes = 0;
    std::uint64_t front = 0;                       // bytes issued from the beginning on, without a gap
    std::map<std::uint64_t, std::uint64_t> later;  // ranges issued after that: begin and end
    std::uint64_t blocks = 0;                      // hashed
    std::size_t lane = 0;
    DeviceAddress accumulators = 0;
  };
  // A stream with its own memory for sums, so that pieces in different lanes do not wait for each other.
  struct Lane {
    explicit Lane(const Context& context) : stream(context) {}
    Stream stream;
    DeviceAddress sums = 0;
  };

  void hash(Run& run, DeviceAddress target, StreamHandle copies);
  void chain(const Run& run, DeviceAddress target, std::uint64_t blocks, std::uint64_t rest) const;

  const Context& context_;
  std::span<const Piece> pieces_;
  std::uint64_t sum_blocks_ = 0;  // blocks for which a lane has memory
  DeviceMemory memory_;
  Event fence_, done_;
  Stream results_stream_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  DeviceAddress results_ = 0;
  std::vector<std::size_t> run_of_;  // per piece

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::vector<Run> runs_;
  std::size_t next_lane_ = 0;
  std::vector<std::size_t> queued_;  // pieces whose digests are queued; the results are in this order
  std::size_t given_ = 0;            // number of those already returned
};

}  // namespace tare::device
