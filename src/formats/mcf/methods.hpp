// MCF's numbers for quantization methods, and what QuantInfo states about each.
#pragma once

#include <cstdint>

#include "codecs/mcf/layout.hpp"

namespace tare::mcf {

struct MethodRecord {
  std::uint8_t number;               // in TensorIndex and QuantInfo
  std::string_view name;             // the codec's name
  std::uint16_t block, super_block;  // as QuantInfo states them; 0: none
};

// Returns null if there is no such method.
const codec::mcf::Method* find_method(std::uint32_t number);
// The method must be one of the codec's.
const MethodRecord& record_of(const codec::mcf::Method& method);

// QuantInfo has 0 for weights and 1 for activations.
inline codec::mcf::Domain domain_of(std::uint8_t number) {
  return number == 1 ? codec::mcf::Domain::activations : codec::mcf::Domain::weights;
}
inline std::uint8_t domain_number(codec::mcf::Domain domain) {
  return domain == codec::mcf::Domain::activations ? 1 : 0;
}

}  // namespace tare::mcf
