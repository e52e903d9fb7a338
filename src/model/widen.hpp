// Narrow integers as the 64-bit ones that a Model's sparse layouts ask for.
#pragma once

#include "tare/blob.hpp"

namespace tare {

// The i32 numbers of `blob` (u32, if they are not signed) as 64-bit ones, produced lazily. The blob's size must be a multiple
// of 4.
Blob widened_blob(Blob blob, bool is_signed = true);

}  // namespace tare
