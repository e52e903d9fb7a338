// The parts of a Layout, for the code that arranges and loads them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codecs/element_kinds.hpp"
#include "tare/device.hpp"
#include "tare/inline_vector.hpp"

namespace tare::device {

inline constexpr std::size_t kNoFile = SIZE_MAX;

// Bytes in a file that contain a part of every unit of a tensor.
struct Plane {
  std::size_t file = kNoFile;
  std::uint64_t offset = 0, bytes = 0;  // in the file
  std::uint64_t unit_bytes = 0;         // the last unit may be shorter
  std::uint64_t units = 1;              // units that share these bytes, such as the rows of a block that have one scale
  friend bool operator==(const Plane&, const Plane&) = default;
};

// The most bytes that a unit may have in all planes together.
inline constexpr std::uint64_t kMostUnitBytes = std::uint64_t{96} << 10;

// How the device makes elements from stored bytes, unit by unit.
struct DeviceDecode {
  std::string_view kernel;  // in kernels.cu; empty: none
  std::vector<Plane> planes;
  std::uint64_t units = 0;
  std::uint64_t unit_out = 0;                 // bytes that a unit becomes; the last one may become fewer
  DType made = DType::f32;                    // f32, f16 or bf16
  std::array<std::uint64_t, 2> numbers = {};  // further arguments of the kernel
};

// Bytes that arrive together: those of a component, which several tensors may share.
struct Piece {
  std::string tensor, role;  // names of the first tensor and its component
  std::size_t buffer = 0;
  std::uint64_t offset = 0, bytes = 0;  // in the buffer
  // If the bytes are stored in a file unchanged: `runs` runs of `run` bytes, `stride` bytes apart.
  std::size_t file = kNoFile;
  std::uint64_t begin = 0, run = 0, stride = 0, runs = 1;
  bool joined = false;  // has the same distance to the previous piece in the buffer as in the file, and is read with it
  Blob blob;            // from which the bytes are pulled if no file stores them unchanged
  DeviceDecode decode;
  // Checks:
  Digest digest;                         // the digest of the bytes in the file; empty if not all of them are read
  std::vector<Blob> checked_separately;  // whose digests are compared by reading them separately
  bool unchecked = false;                // there is a digest, but only a part of its bytes is read
  std::optional<Kind> scan;              // set if elements may be NaN or infinite
  InlineVector<std::size_t, 1> placed;   // indices in Arrangement::tensors

  bool in_file() const { return file != kNoFile; }
  bool decodes() const { return !decode.kernel.empty(); }
  // One run of bytes, copied unchanged.
  bool plain() const { return in_file() && runs == 1 && !decodes(); }
  std::uint64_t end() const { return begin + run; }
};

struct Pieces {
  std::vector<Piece> all;        // by buffer, then in file order
  std::vector<SourcePtr> files;  // per buffer; null for bytes that are not from a file
};

}  // namespace tare::device
