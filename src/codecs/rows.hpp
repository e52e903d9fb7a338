// The rows of the table of layouts, each defined in its own file.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tare/codec.hpp"

namespace tare::codec {

// Adds a table row for a layout that Tare does not define. Call it before the table is first used.
void add_row(const Codec& row);

extern const Codec kDense;

namespace sparse {
extern const Codec kCsr, kCoo;
}
namespace group {
extern const Codec kCodec;
}
namespace small_floats {
extern const Codec kF4, kF6Fine, kF6Wide;
}
namespace alt {
extern const Codec kQint8, kQint4;
}
namespace mcf {
extern const std::array<Codec, 8> kCodecs;
}
namespace zt2 {
extern const Codec kNarrowCsr, kNarrowCoo, kQuantGroup, kMx, kOddFloats;
}
namespace ggml {
std::span<const Codec> codecs();
}
namespace packs {
std::vector<Codec> codecs();
}

}  // namespace tare::codec
