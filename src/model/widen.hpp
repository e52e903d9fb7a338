// Narrow integers as the 64-bit ones that a Model's sparse layouts ask for.
#pragma once

#include "tare/blob.hpp"

namespace tare {

// The i32 numbers of `blob` as 64-bit ones with the same sign, produced lazily. The blob's size must be a multiple of 4.
Blob widened_blob(Blob blob);

}  // namespace tare
