// The rows of the table of formats, each defined in its own folder.
#pragma once

#include "tare/format.hpp"

// One line a container.
// clang-format off
namespace tare::zt { extern const Format kFormat; }
namespace tare::zt2 { extern const Format kFormat; }
namespace tare::mcf { extern const Format kFormat; }
namespace tare::tllm { extern const Format kFormat; }
namespace tare::alt { extern const Format kFormat, kFormat1; }
namespace tare::npz { extern const Format kFormat; }
namespace tare::npy { extern const Format kFormat; }
namespace tare::safetensors { extern const Format kFormat; }
namespace tare::gguf { extern const Format kFormat; }
namespace tare::hf { extern const Format kFormat; }
namespace tare::torch { extern const Format kFormat; }
// clang-format on

namespace tare {

// Adds the row of a container that is not part of Tare; it is tried after all others. Must be called before the table
// is first used.
void add_format(const Format& row);

}  // namespace tare
