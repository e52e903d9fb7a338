// The numbers that MCF gives to quantization methods, and what its QuantInfo states about each.
#pragma once

#include <cstdint>

#include "codecs/mcf/layout.hpp"

namespace tare::mcf {

struct MethodRecord {
  std::uint8_t number;               // in TensorIndex and QuantInfo
  std::string_view name;             // the codec's
  std::uint16_t block, super_block;  // as QuantInfo states them; 0: none
};

// Null when there is no such method.
const codec::mcf::Method* find_method(std::uint32_t number);
// The method must be one of the codec's.
const MethodRecord& record_of(const codec::mcf::Method& method);

// 0 and 1 in QuantInfo.
inline codec::mcf::Domain domain_of(std::uint8_t number) {
  return number == 1 ? codec::mcf::Domain::activations : codec::mcf::Domain::weights;
}
inline std::uint8_t domain_number(codec::mcf::Domain domain) {
  return domain == codec::mcf::Domain::activations ? 1 : 0;
}

}  // namespace tare::mcf
