// Tensors that came compressed in another way than the container has it.
#pragma once

#include <vector>

#include "tare/format.hpp"

namespace tare {

// Says that they are stored raw, unless an option says how they are stored. `other`: the encoding that is unpacked.
std::vector<Change> unpacked_remark(const Model& model, const WriteOptions& options, Encoding other);

}  // namespace tare
