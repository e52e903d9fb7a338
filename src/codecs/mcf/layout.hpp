// The eight quantization methods of MCF, and where the parts of a payload are. Reads no data.
//
// A payload is a sequence of regions in the order of Geometry, each at a multiple of 64 bytes. There is no padding
// after the last region, and a tensor without elements has a payload of 0 bytes.
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
  block,  // q*: one f16 scale per 32 columns
  super,  // k*: one f16 scale per 256 columns, times u / 32 per 32 columns
};

enum class Domain : std::uint8_t {
  weights,      // w = S q; the most negative code is not used
  activations,  // x = S (q - Z); int* only
};
std::string_view name_of(Domain domain);

struct Method {
  std::string_view name;    // "k4"
  std::string_view layout;  // "mcf.k4"
  Family family;
  unsigned bits;  // per code, two's complement
  int qmax;       // largest code; weights use [-qmax, qmax]

  // Code bytes per block of 32.
  unsigned block_bytes() const { return kBlock * bits / 8; }
};

std::span<const Method> all_methods();
// Finds a method by "k4" or "mcf.k4"; null if there is none.
const Method* find_method(std::string_view name);

struct Region {
  std::uint64_t offset = 0, size = 0;  // bytes, in the payload
  std::uint64_t end() const { return offset + size; }
};

struct Geometry {
  const Method* method = nullptr;
  Domain domain = Domain::weights;
  std::uint64_t rows = 0, columns = 0;   // int*: columns is the last dimension, rows the product of the others
  std::uint64_t blocks = 0, supers = 0;  // per row; 0 if the family has none
  Region scales;                         // f32 (int*), f16 per block (q*), f16 per super-block (k*)
  Region zero;                           // f32, activations only
  Region sub_scales;                     // u8 per block (k*)
  Region codes;
  std::uint64_t bytes = 0;  // size of the whole payload

  std::uint64_t elements() const { return rows * columns; }
  // Code bytes per row (q* and k*).
  std::uint64_t row_code_bytes() const { return blocks * method->block_bytes(); }
};

// Returns nothing if the method cannot hold such a tensor; then `why` (if given) is the broken rule: quant.rank,
// quant.domain or quant.too_large.
std::optional<Geometry> geometry_of(const Method& method, Domain domain, const Shape& shape, Problem* why = nullptr);

// The attributes of a coded tensor: "domain" ("weights" or "activations"), "min_clip", "max_clip". The clips are the
// range of values that the codes cover.
struct Attributes {
  Domain domain = Domain::weights;
  float min_clip = 0, max_clip = 0;
};
void set_attributes(Map& attributes, const Attributes& info);
// Missing attributes have the default values above. Returns nothing if one has an invalid type or value.
std::optional<Attributes> attributes_of(const Map& attributes);

}  // namespace tare::codec::mcf
