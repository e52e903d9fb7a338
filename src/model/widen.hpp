// Widens integers to the 64 bits that a Model's sparse layouts require.
#pragma once

#include "tare/blob.hpp"

namespace tare {

// The i32 numbers of `blob` (u32 if not signed) as 64-bit numbers, produced lazily. The blob's size must be a multiple
// of 4.
Blob widened_blob(Blob blob, bool is_signed = true);

}  // namespace tare
