// A model as the bytes of an MCF file.
#pragma once

#include "conformance/models.hpp"

namespace tare::testing {

inline Bytes write_mcf(const Model& model, const WriteOptions& options = {}) {
  return write_bytes(*find_format("mcf"), model, options);
}

}  // namespace tare::testing
