// The eight quantization methods of MCF and where the parts of a payload lie. No data is touched here.
//
// A payload is a run of regions, each on a 64-byte boundary of the payload, in the order of Geometry. The last region
// has no padding behind it, and a tensor without elements has a payload of 0 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tare/codec.hpp"
#include "tare/shape.hpp"

namespace tare::codec::mcf {

inline constexpr unsigned kBlock = 32;   // columns that share a scale (q*) or a sub-scale (k*)
inline constexpr unsigned kSuper = 256;  // columns that share a super-scale (k*)
inline constexpr unsigned kBlocksInSuper = kSuper / kBlock;
inline constexpr std::uint64_t kAlignment = 64;

enum class Family : std::uint8_t {
  raw,    // int*: one f32 scale for the tensor, any rank, codes in row-major order without padding
  block,  // q*: one f16 scale for each 32 columns
  super,  // k*: one f16 scale for each 256 columns, times u / 32 for each 32
};

enum class Domain : std::uint8_t {
  weights,      // w = S q, the most negative code is not used
  activations,  // x = S (q - Z); int* only
};
std::string_view name_of(Domain domain);

struct Method {
  std::string_view name;    // "k4"
  std::string_view layout;  // "mcf.k4"
  Family family;
  unsigned bits;  // of a code, two's complement
  int qmax;       // largest code; weights use [-qmax, qmax]

  // Bytes of the codes of one block of 32.
  unsigned block_bytes() const { return kBlock * bits / 8; }
};

std::span<const Method> all_methods();
// By "k4" or "mcf.k4"; null when there is no such method.
const Method* find_method(std::string_view name);

struct Region {
  std::uint64_t offset = 0, size = 0;  // bytes, in the payload
  std::uint64_t end() const { return offset + size; }
};

struct Geometry {
  const Method* method = nullptr;
  Domain domain = Domain::weights;
  std::uint64_t rows = 0, columns = 0;   // int*: all dimensions but the last, the last
  std::uint64_t blocks = 0, supers = 0;  // in a row; 0 where the family has none
  Region scales;                         // f32 (int*), f16 for each block (q*), f16 for each super-block (k*)
  Region zero;                           // f32, activations only
  Region sub_scales;                     // u8 for each block (k*)
  Region codes;
  std::uint64_t bytes = 0;  // the whole payload

  std::uint64_t elements() const { return rows * columns; }
  // Of a whole row (q* and k*).
  std::uint64_t row_code_bytes() const { return blocks * method->block_bytes(); }
};

// Nothing when the method cannot hold such a tensor: `why` (if given) then says the broken rule, one of quant.rank,
// quant.domain and quant.too_large.
std::optional<Geometry> geometry_of(const Method& method, Domain domain, const Shape& shape, Problem* why = nullptr);

// The attributes of a coded tensor: "domain" ("weights" or "activations"), "min_clip", "max_clip".
// The clips are the range of values that the codes were made for.
struct Attributes {
  Domain domain = Domain::weights;
  float min_clip = 0, max_clip = 0;
};
void set_attributes(Map& attributes, const Attributes& info);
// Missing attributes have the values above; nothing when one has a type or value that makes no sense.
std::optional<Attributes> attributes_of(const Map& attributes);

}  // namespace tare::codec::mcf
