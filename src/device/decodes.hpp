// What the device can decode by itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/pieces.hpp"

namespace tare::device {

// A tensor whose stored bytes travel and whose elements are made by a kernel.
struct Decoding {
  DeviceDecode decode;             // with planes whose `file` is not filled in
  std::vector<SourcePtr> sources;  // of each plane
  std::uint64_t bytes = 0;         // of the elements
  Digest digest;                   // of the first plane, if that is all there is
  std::vector<Blob> apart;         // with digests that cannot be compared while the bytes pass
  bool unchecked = false;          // there is a digest, and only a part of what it covers is read
  std::optional<Kind> scan;
};

// Nothing where the device has no kernel for it, or the bytes are not in a file as they are.
std::optional<Decoding> decoding_of(const Tensor& tensor, const std::optional<Part>& part, DType dtype);

}  // namespace tare::device
