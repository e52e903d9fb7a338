// Shared by the ALT encoder and decoder: the parameters in a tensor's attributes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "tare/codec.hpp"

namespace tare::codec::alt {

struct Plan {
  unsigned bits = 8;    // 8 or 4
  bool ranged = false;  // w = min + delta * u with unsigned codes; else w = delta * q with signed codes
  bool packed = false;  // two codes per byte, the first in the high nibble
  float delta = 0, min = 0, max = 0;
  std::uint64_t elements = 0;

  int lowest() const { return ranged ? 0 : -highest(); }
  int highest() const { return ranged ? (1 << bits) - 1 : (1 << (bits - 1)) - 1; }
  // The code that is stored as this byte, or as this nibble if packed.
  int code_of(unsigned stored) const {
    const int forms = packed ? 16 : 256, code = static_cast<int>(stored);
    return ranged || code < forms / 2 ? code : code - forms;
  }
  std::uint64_t payload_bytes() const { return packed ? elements / 2 + elements % 2 : elements; }
};

// Fills `plan`, or returns what is wrong with the attributes, the shape or the payload's size.
std::optional<Problem> read_plan(const Tensor& tensor, Plan& plan);

// The decoded value of each code, indexed by the code's bits.
using Table = std::array<float, 256>;
Table table_of(const Plan& plan);
// One of them.
float value_of(const Plan& plan, unsigned bits);

// Sets `ranged`, `delta`, `min` and `max` of a plan whose other fields are set. The codes cover the user's clip, or the
// range that a search finds, or (`fast`) all weights. Reads the weights. Throws qint.nonfinite, qint.overflow.
void choose_scale(const Tensor& tensor, const EncodeOptions& options, Plan& plan);

Tensor decode(const Tensor& tensor);
std::unique_ptr<const Rows> make_rows(const Tensor& tensor);
Tensor encode(const Tensor& tensor, const EncodeOptions& options);

}  // namespace tare::codec::alt
