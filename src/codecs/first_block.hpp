// The first block of a quantized tensor, taken apart: which bytes are scales, which are codes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tare/model.hpp"

namespace tare::codec {

// How the bytes of a field are read.
enum class FieldKind : std::uint8_t {
  f16,
  f32,
  e8m0,  // a power of two
  e4m3,  // an 8-bit float without a sign
  u8,    // whole numbers, one in a byte
  i8,
  i16,
  bits,  // so many of `bits` bits each, or packed in a way that `what` explains
};

struct BlockField {
  std::string_view name;  // "d", "scales", "codes"
  std::string_view what;  // for people
  FieldKind kind = FieldKind::bits;
  std::uint64_t offset = 0, bytes = 0;  // in the first component
  unsigned bits = 0;                    // of one code; 0 for others
};

struct FirstBlock {
  std::uint64_t weights = 0;
  std::string_view formula = {};  // how a weight is made
  std::vector<BlockField> fields;
};

// Nothing for layouts that are not described, and for tensors that do not pass their codec's `check`.
std::optional<FirstBlock> first_block(const Tensor& tensor);

namespace ggml {
std::optional<FirstBlock> first_block(const Tensor& tensor);
}
namespace mcf {
std::optional<FirstBlock> first_block(const Tensor& tensor);
}

}  // namespace tare::codec
