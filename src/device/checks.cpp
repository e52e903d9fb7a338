#include "device/checks.hpp"

#include <fmt/format.h>

#include "base/printable.hpp"
#include "inspect/scan.hpp"

namespace tare::device {

void Checks::scan(const Piece& piece, std::span<const std::byte> bytes) {
  if (!wanted_ || !piece.scan) return;
  const inspect::ScanCounts found = inspect::scan(*piece.scan, bytes);
  if (found.nan + found.inf == 0) return;
  nan_.fetch_add(found.nan, std::memory_order_relaxed);
  inf_.fetch_add(found.inf, std::memory_order_relaxed);
  const std::scoped_lock lock(mutex_);
  if (nonfinite_.empty()) nonfinite_ = piece.tensor;
}

void Checks::compare(const Piece& piece, const Source& file, const Digest& found) {
  digests_.fetch_add(1, std::memory_order_relaxed);
  if (found == piece.digest) return;
  throw Error(ErrorKind::corrupt, "digest.mismatch",
              fmt::format("the {} stored bytes do not match their digest: expected {}, found {}", piece.run,
                          piece.digest.text(), found.text()))
      .in(file.name())
      .at(piece.begin)
      .about("tensor " + quote(piece.tensor));
}

void Checks::verify(const Blob& blob) {
  if (!wanted_) return;
  blob.verify();
  if (blob.digest() && blob.digest().algorithm() != DigestAlgorithm::unknown)
    digests_.fetch_add(1, std::memory_order_relaxed);
}

void Checks::fill(Report& report) const {
  report.nan = nan_.load();
  report.inf = inf_.load();
  report.digests = digests_.load();
  const std::scoped_lock lock(mutex_);
  report.nonfinite = nonfinite_;
}

}  // namespace tare::device
