// The first block of a quantized tensor, taken apart: which bytes are scales, which are codes, and what its weights are made
// of. Each family of layouts fills it for its rows of the table (Codec::explain); here is what they share.
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
  u8,    // whole numbers, one in a byte
  i8,
  i16,
  bits,      // so many of `bits` bits each, or packed in a way that `what` explains
  elements,  // of the component's own type
};

// Runs of bytes of one component: one, or as many as `runs` says, each `stride` bytes after the one before it.
struct BlockField {
  std::string_view name = {};  // "d", "scales": of a literal; left empty it becomes the component's role
  std::string_view what = {};  // for people; of a literal
  FieldKind kind = FieldKind::bits;
  std::uint64_t offset = 0, bytes = 0;  // of the first run, in its component
  unsigned bits = 0;                    // of one code; 0 for others
  std::uint64_t runs = 1, stride = 0;
  bool high_first = false;    // the first code of a byte is in its high bits
  std::size_t component = 0;  // its place among the tensor's
};

// A name in the formula: what it is for each weight of the block, or, a single number, for all of them.
struct BlockTerm {
  std::string_view name;
  std::vector<double> values;
};

struct FirstBlock {
  std::uint64_t weights = 0;  // of the block, or the first of a large one
  std::string_view formula =
      {};  // "w = scale (q - zero); q is a code": how a weight is made, up to the semicolon of terms
  std::vector<BlockField> fields = {};
  std::vector<BlockTerm> terms = {};
  std::uint64_t step = 1;  // elements of the tensor from one weight of the block to the next
};

// As many weights of a block are explained, if the layout sets no end to it.
inline constexpr std::uint64_t kMostExplained = 128;

// Every quantized layout of the table has one. Nothing for others, for tensors that do not pass their codec's `check`, those
// that are carried and not decoded, and those without elements. Reads a few bytes of each component.
std::optional<FirstBlock> first_block(const Tensor& tensor);

// The bytes of a field, the runs one behind the other.
Bytes bytes_of(const Component& component, const BlockField& field);
// `count` codes of `bits` bits from a stream of bits, the first in the lowest bits of the first byte; with `high_first`, which
// is for codes that fill bytes, in the highest.
std::vector<double> codes_in(std::span<const std::byte> bytes, unsigned bits, std::uint64_t count,
                             bool high_first = false);

// Puts a block together.
class Explainer {
 public:
  Explainer(const Tensor& tensor, std::uint64_t weights, std::string_view formula, std::uint64_t step = 1);

  std::uint64_t weights() const { return block_.weights; }
  // Adds a field of the component with this role, and returns its bytes.
  Bytes field(std::string_view role, BlockField field);
  // Elements of a component, from `first` on, `apart` from each other; adds the field, and returns the numbers.
  std::vector<double> numbers(std::string_view role, std::string_view what, std::uint64_t first = 0,
                              std::uint64_t count = 1, std::uint64_t apart = 1);
  // Codes of all weights of the block in a stream of bits at the beginning of a component.
  std::vector<double> codes(std::string_view role, std::string_view what, unsigned bits, bool high_first = false);
  Explainer& term(std::string_view name, std::vector<double> values);
  Explainer& term(std::string_view name, double value) { return term(name, std::vector<double>{value}); }
  FirstBlock take() { return std::move(block_); }

 private:
  const Tensor& tensor_;
  FirstBlock block_;
};

}  // namespace tare::codec
