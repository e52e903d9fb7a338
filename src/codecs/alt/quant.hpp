// Shared by the two halves of the ALT codecs: what a tensor's attributes say about its codes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "tare/codec.hpp"

namespace tare {

struct AltPlan {
  unsigned bits = 8;    // 8 or 4
  bool ranged = false;  // w = min + delta * u with unsigned codes; else w = delta * q with signed ones
  bool packed = false;  // two codes a byte, the first in the high nibble
  float delta = 0, min = 0, max = 0;
  std::uint64_t elements = 0;

  int lowest() const { return ranged ? 0 : -highest(); }
  int highest() const { return ranged ? (1 << bits) - 1 : (1 << (bits - 1)) - 1; }
  // The code that is stored as this byte, or nibble when packed.
  int code_of(unsigned stored) const {
    const int forms = packed ? 16 : 256, code = static_cast<int>(stored);
    return ranged || code < forms / 2 ? code : code - forms;
  }
  std::uint64_t payload_bytes() const { return packed ? elements / 2 + elements % 2 : elements; }
};

// What is wrong with the attributes, the shape or the payload's size; else nothing, and `plan` is filled.
std::optional<Problem> alt_plan(const Tensor& tensor, AltPlan& plan);

// What each code stands for; the code's bits are the index.
using AltTable = std::array<float, 256>;
AltTable alt_table(const AltPlan& plan);

// Sets `ranged`, `delta`, `min` and `max` of a plan whose other fields are set. What the codes are made for: the user's
// clip, or else what a search finds, or else all weights. Reads the weights. Throws qint.nonfinite, qint.overflow.
void choose_alt_scale(const Tensor& tensor, const EncodeOptions& options, AltPlan& plan);

Tensor decode_alt(const Tensor& tensor);
Tensor encode_alt(const Tensor& tensor, const EncodeOptions& options);

}  // namespace tare
