// The small models of `tare demo`, the same on every machine and on every call.
#pragma once

#include "tare/model.hpp"

namespace tare::cli {

// Every storage type, every logical type, every layout, metadata, a configuration, a vocabulary and an attachment.
Model demo_model();
// A model for a container that holds one architecture only (Capabilities::architecture).
Model demo_model(std::string_view architecture);
// A language model like a downloaded one, with its files.
Model mistral_model();

// Bell-shaped numbers around 0, or integers with that distribution.
Tensor demo_tensor(std::string name, Shape shape, DType type, std::uint64_t seed);

}  // namespace tare::cli
