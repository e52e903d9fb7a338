// The rows of the table of layouts, each defined in its own file.
#pragma once

#include "tare/codec.hpp"

namespace tare {

extern const Codec kDense;
extern const Codec kSparseCsr;
extern const Codec kSparseCoo;
extern const Codec kZtGroup;

}  // namespace tare
