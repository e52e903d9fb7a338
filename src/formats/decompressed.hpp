// Tensors with a compression that the container does not have.
#pragma once

#include <vector>

#include "formats/format.hpp"

namespace tare {

// Reports tensors that are decompressed and stored raw, unless an option chooses how they are stored. `other` is the
// encoding that the container does not have.
std::vector<Change> decompressed_remark(const Model& model, const WriteOptions& options, Encoding other);

}  // namespace tare
