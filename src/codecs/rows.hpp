// The rows of the table of layouts, each defined in its own file.
#pragma once

#include <array>

#include "tare/codec.hpp"

namespace tare {

extern const Codec kDense;
extern const Codec kSparseCsr;
extern const Codec kSparseCoo;
extern const Codec kZtGroup;
extern const std::array<Codec, 8> kMcfCodecs;
extern const Codec kPackedF4, kPackedF6Fine, kPackedF6Wide;
extern const Codec kAltQint8;
extern const Codec kAltQint4;

}  // namespace tare
