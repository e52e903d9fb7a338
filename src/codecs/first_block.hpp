// The first block of a quantized tensor in detail: which bytes are scales, which are codes, and how they make the
// weights. Each family of layouts fills a FirstBlock for its table rows (Codec::explain). Shared parts are here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tare/codec.hpp"

namespace tare::codec {

// How the bytes of a field are read.
enum class FieldKind : std::uint8_t {
  f16,
  f32,
  e8m0,  // a power of two
  e4m3,  // an 8-bit float without a sign
  u8,    // integers, one per byte
  i8,
  i16,
  bits,      // codes of `bits` bits each, or in an order that `what` explains
  elements,  // have the component's own type
};

// A field of a block: `runs` runs of bytes of one component, `stride` bytes apart.
struct BlockField {
  std::string_view name = {};  // "d", "scales"; a literal. If empty, the component's role is used
  std::string_view what = {};  // for people; a literal
  FieldKind kind = FieldKind::bits;
  std::uint64_t offset = 0, bytes = 0;  // the first run, in its component
  unsigned bits = 0;                    // per code; 0 for other kinds
  std::uint64_t runs = 1, stride = 0;
  bool high_first = false;    // the first code of a byte is in its high bits
  std::size_t component = 0;  // index of the component in the tensor
};

// A name in the formula: one value per weight of the block, or a single value for all of them.
struct BlockTerm {
  std::string_view name;
  std::vector<double> values;
};

struct FirstBlock {
  std::uint64_t weights = 0;  // weights in the block, or the number explained if it is large
  // How a weight is made: "w = scale (q - zero); q is a code". The formula over the terms ends at the semicolon.
  std::string_view formula = {};
  std::vector<BlockField> fields = {};
  std::vector<BlockTerm> terms = {};
  std::uint64_t step = 1;  // distance in the tensor from one weight of the block to the next, in elements
};

// At most this many weights are explained if the layout itself does not limit a block.
inline constexpr std::uint64_t kMostExplained = 128;

// Every quantized layout in the table has one. Returns nothing for other layouts, for tensors that fail their codec's
// `check`, that cannot be decoded, or that have no elements. Reads a few bytes of each component.
std::optional<FirstBlock> first_block(const Tensor& tensor);

// The bytes of a field, the runs one after the other.
Bytes bytes_of(const Component& component, const BlockField& field);
// Returns `count` codes of `bits` bits from a stream of bits, the first in the lowest bits of the first byte. With
// `high_first`, the first code is in the highest bits; then `bits` must divide 8.
std::vector<double> codes_in(std::span<const std::byte> bytes, unsigned bits, std::uint64_t count,
                             bool high_first = false);

// Builds a FirstBlock.
class Explainer {
 public:
  Explainer(const Tensor& tensor, std::uint64_t weights, std::string_view formula, std::uint64_t step = 1);

  std::uint64_t weights() const { return block_.weights; }
  // Adds a field of the component with this role and returns its bytes.
  Bytes field(std::string_view role, BlockField field);
  // Adds a field of `count` elements of a component from `first` on, `step` elements from one to the next. Returns
  // their values.
  std::vector<double> numbers(std::string_view role, std::string_view what, std::uint64_t first = 0,
                              std::uint64_t count = 1, std::uint64_t step = 1);
  // Adds a field with the codes of all weights of the block, a stream of bits at the start of a component.
  std::vector<double> codes(std::string_view role, std::string_view what, unsigned bits, bool high_first = false);
  Explainer& term(std::string_view name, std::vector<double> values);
  Explainer& term(std::string_view name, double value) { return term(name, std::vector<double>{value}); }
  FirstBlock take() { return std::move(block_); }

 private:
  const Tensor& tensor_;
  FirstBlock block_;
};

}  // namespace tare::codec
