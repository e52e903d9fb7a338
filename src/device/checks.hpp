// What is checked of bytes while they pass: their digests, and whether they are finite numbers.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "device/pieces.hpp"

namespace tare::device {

// From any thread.
class Checks {
 public:
  explicit Checks(bool wanted) : wanted_(wanted) {}
  bool wanted() const { return wanted_; }

  // Elements of a piece, whole ones.
  void scan(const Piece& piece, std::span<const std::byte> bytes);
  // Compares. Throws `digest.mismatch`, with file and tensor.
  void compare(const Piece& piece, const Source& file, const Digest& found);
  // Of a blob whose stored bytes do not pass as they are: reads them once more.
  void verify(const Blob& blob);
  void fill(Report& report) const;

 private:
  bool wanted_;
  std::atomic<std::uint64_t> nan_{0}, inf_{0}, digests_{0};
  mutable std::mutex mutex_;
  std::string nonfinite_;
};

}  // namespace tare::device
