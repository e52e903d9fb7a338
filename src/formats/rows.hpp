// The rows of the table of formats, each defined in its own file.
#pragma once

#include "tare/format.hpp"

namespace tare {

extern const Format kZt;
extern const Format kMcf;
extern const Format kTllm;
extern const Format kAlt;
extern const Format kAlt1;
extern const Format kNpz;
extern const Format kNpy;
extern const Format kSafetensors;
extern const Format kHf;

}  // namespace tare
