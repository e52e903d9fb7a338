// What a layout is made of, for those who fill it.
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

// Bytes in a file of which each unit of a tensor has its share.
struct Plane {
  std::size_t file = kNoFile;
  std::uint64_t offset = 0, bytes = 0;  // in the file
  std::uint64_t unit_bytes = 0;         // the last one may be shorter
  std::uint64_t units = 1;              // that share these bytes, such as the rows of a block that have one scale
  friend bool operator==(const Plane&, const Plane&) = default;
};

// What a unit may have at most, in all planes together.
inline constexpr std::uint64_t kMostUnitBytes = std::uint64_t{96} << 10;

// Elements that the device makes of stored bytes, unit by unit.
struct DeviceDecode {
  std::string_view kernel;  // of kernels.cu; empty: none
  std::vector<Plane> planes;
  std::uint64_t units = 0;
  std::uint64_t unit_out = 0;                 // bytes that a unit becomes; the last one may become fewer
  DType made = DType::f32;                    // f32, f16 or bf16
  std::array<std::uint64_t, 2> numbers = {};  // what else the kernel wants to know
};

// Bytes that arrive together: those of a component, or of several tensors that share it.
struct Piece {
  std::string tensor, role;  // of the first tensor
  std::size_t buffer = 0;
  std::uint64_t offset = 0, bytes = 0;  // in the buffer
  // As they are in a file: `runs` runs of `run` bytes, `stride` apart.
  std::size_t file = kNoFile;
  std::uint64_t begin = 0, run = 0, stride = 0, runs = 1;
  bool joined = false;  // lies in the buffer behind the piece before it as it does in the file, and is read with it
  Blob blob;            // from which they are pulled if they are not in a file as they are
  DeviceDecode decode;
  // What there is to check.
  Digest digest;                        // of the bytes in the file; none if not all of them are read
  std::vector<Blob> apart;              // whose digests are compared by reading them once more
  bool unchecked = false;               // there is a digest, and only a part of what it covers is read
  std::optional<Kind> scan;             // elements that may be NaN or infinite
  InlineVector<std::size_t, 1> placed;  // in Layout::tensors

  bool in_file() const { return file != kNoFile; }
  bool decodes() const { return !decode.kernel.empty(); }
  // One run of bytes, copied as it is.
  bool plain() const { return in_file() && runs == 1 && !decodes(); }
  std::uint64_t end() const { return begin + run; }
};

struct Pieces {
  std::vector<Piece> all;        // by buffer, and in it as they lie in the file
  std::vector<SourcePtr> files;  // of each buffer; null for bytes that come from no file
};

}  // namespace tare::device
