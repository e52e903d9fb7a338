// What the device can decode.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/pieces.hpp"

namespace tare::device {

// A tensor whose stored bytes are copied to the device, where a kernel decodes them.
struct Decoding {
  DeviceDecode decode;                   // `file` of its planes is not set yet
  std::vector<SourcePtr> sources;        // per plane
  std::uint64_t bytes = 0;               // size of the elements
  Digest digest;                         // the digest of the first plane, if there is only one
  std::vector<Blob> checked_separately;  // blobs with digests that cannot be compared while the bytes are loaded
  bool unchecked = false;                // there is a digest, but only a part of its bytes is read
  std::optional<Kind> scan;
};

// Nothing if the device has no kernel for it, or if the bytes are not stored in a file unchanged.
std::optional<Decoding> decoding_of(const Tensor& tensor, const std::optional<AxisRange>& part, DType dtype);

}  // namespace tare::device
