// The small model that `tare demo` takes around: every storage type, every logical type, every layout, metadata,
// a configuration, a vocabulary and an attachment.
#pragma once

#include "tare/model.hpp"

namespace tare::cli {

// The same on every machine and on every call.
Model demo_model();
// A model for a container that holds one architecture only (Capabilities::architecture).
Model demo_model(std::string_view architecture);

}  // namespace tare::cli
