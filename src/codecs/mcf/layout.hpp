// The eight quantization methods of MCF and where the parts of a payload lie. No data is touched here.
//
// A payload is a run of regions, each on a 64-byte boundary of the payload, in the order of McfGeometry. The last region
// has no padding behind it, and a tensor without elements has a payload of 0 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tare/codec.hpp"
#include "tare/shape.hpp"

namespace tare {

inline constexpr unsigned kMcfBlock = 32;   // columns that share a scale (q*) or a sub-scale (k*)
inline constexpr unsigned kMcfSuper = 256;  // columns that share a super-scale (k*)
inline constexpr unsigned kMcfBlocksInSuper = kMcfSuper / kMcfBlock;
inline constexpr std::uint64_t kMcfAlignment = 64;

enum class McfFamily : std::uint8_t {
  raw,    // int*: one f32 scale for the tensor, any rank, codes in row-major order without padding
  block,  // q*: one f16 scale for each 32 columns
  super,  // k*: one f16 scale for each 256 columns, times u / 32 for each 32
};

enum class McfDomain : std::uint8_t {
  weights = 0,      // w = S q, the most negative code is not used
  activations = 1,  // x = S (q - Z); int* only
};
std::string_view name_of(McfDomain domain);

struct McfMethod {
  std::uint8_t id;          // the number in TensorIndex and QuantInfo
  std::string_view name;    // "k4"
  std::string_view layout;  // "mcf.k4"
  McfFamily family;
  unsigned bits;             // of a code, two's complement
  int qmax;                  // largest code; weights use [-qmax, qmax]
  std::uint16_t block_size;  // as QuantInfo states them: 32 / 0 for q*, 32 / 256 for k*, 0 / 0 for int*
  std::uint16_t super_size;

  // Bytes of the codes of one block of 32.
  unsigned block_bytes() const { return kMcfBlock * bits / 8; }
};

std::span<const McfMethod> mcf_methods();
// Null when there is no such method. By number, or by "k4" or "mcf.k4".
const McfMethod* find_mcf_method(std::uint32_t id);
const McfMethod* find_mcf_method(std::string_view name);

struct McfRegion {
  std::uint64_t offset = 0, size = 0;  // bytes, in the payload
  std::uint64_t end() const { return offset + size; }
};

struct McfGeometry {
  const McfMethod* method = nullptr;
  McfDomain domain = McfDomain::weights;
  std::uint64_t rows = 0, columns = 0;   // int*: all dimensions but the last, the last
  std::uint64_t blocks = 0, supers = 0;  // in a row; 0 where the family has none
  McfRegion scales;                      // f32 (int*), f16 for each block (q*), f16 for each super-block (k*)
  McfRegion zero;                        // f32, activations only
  McfRegion sub_scales;                  // u8 for each block (k*)
  McfRegion codes;
  std::uint64_t bytes = 0;  // the whole payload

  std::uint64_t elements() const { return rows * columns; }
  // Of a whole row (q* and k*).
  std::uint64_t row_code_bytes() const { return blocks * method->block_bytes(); }
};

// Nothing when the method cannot hold such a tensor: `why` (if given) then says the broken rule, one of quant.rank,
// quant.domain and quant.too_large.
std::optional<McfGeometry> mcf_geometry(const McfMethod& method, McfDomain domain, const Shape& shape,
                                        Problem* why = nullptr);

// The attributes of a coded tensor: "domain" ("weights" or "activations"), "min_clip", "max_clip".
// The range of values that the codes were made for, as QuantInfo records it.
struct McfQuantInfo {
  McfDomain domain = McfDomain::weights;
  float min_clip = 0, max_clip = 0;
};
void set_mcf_attributes(Map& attributes, const McfQuantInfo& info);
// Missing attributes have the values above; nothing when one has a type or value that makes no sense.
std::optional<McfQuantInfo> mcf_attributes(const Map& attributes);

}  // namespace tare
