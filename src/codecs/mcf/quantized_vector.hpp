// What is inside a QuantizedVector, for the row kernels.
#pragma once

#include "codecs/mcf/reference.hpp"
#include "tare/rows.hpp"

namespace tare {

struct QuantizedVector::Data {
  codec::mcf::Vector vector;
};

}  // namespace tare
