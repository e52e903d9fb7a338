// The rows of the table of formats, each defined in its own file.
#pragma once

#include "tare/format.hpp"

// One declaration a container, each in the namespace of its folder.
namespace tare {
namespace zt {
extern const Format kFormat;
}
namespace mcf {
extern const Format kFormat;
}
namespace tllm {
extern const Format kFormat;
}
namespace alt {
extern const Format kFormat, kFormat1;
}
namespace npz {
extern const Format kFormat;
}
namespace npy {
extern const Format kFormat;
}
namespace safetensors {
extern const Format kFormat;
}
namespace hf {
extern const Format kFormat;
}
}  // namespace tare
