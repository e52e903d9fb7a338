// Checks of bytes while they are loaded: their digests, and whether they are finite numbers.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "device/pieces.hpp"

namespace tare::device {

// Thread-safe.
class Checks {
 public:
  explicit Checks(bool wanted) : wanted_(wanted) {}
  bool wanted() const { return wanted_; }

  // Counts NaN and infinities in a piece. `bytes` are whole elements.
  void scan(const Piece& piece, std::span<const std::byte> bytes);
  // Compares a digest. Throws `digest.mismatch` with the file and the tensor.
  void compare(const Piece& piece, const Source& file, const Digest& found);
  // Verifies a blob whose stored bytes are not loaded unchanged, by reading them again.
  void verify(const Blob& blob);
  void fill(Report& report) const;

 private:
  bool wanted_;
  std::atomic<std::uint64_t> nan_{0}, inf_{0}, digests_{0};
  mutable std::mutex mutex_;
  std::string nonfinite_;
};

}  // namespace tare::device
