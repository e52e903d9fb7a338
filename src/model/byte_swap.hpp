// Converts big-endian elements to the little-endian ones of a Model.
#pragma once

#include "tare/blob.hpp"

namespace tare {

// The bytes of `blob` with every run of `width` bytes reversed, produced lazily. The blob's size must be a multiple of
// `width`.
Blob byte_swapped_blob(Blob blob, std::size_t width);

}  // namespace tare
