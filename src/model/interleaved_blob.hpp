// Two blobs, taken in turns: a piece of one, a piece of the other, and so on.
#pragma once

#include <cstdint>

#include "tare/blob.hpp"

namespace tare {

// `first_step` and `second_step`: bytes of a piece; both blobs must have the same number of whole pieces. Read lazily,
// each blob once from front to back, so that the number of pieces costs nothing. Seekable if both are and the pieces are
// multiples of the common granularity.
Blob interleaved_blob(Blob first, std::uint64_t first_step, Blob second, std::uint64_t second_step);

}  // namespace tare
