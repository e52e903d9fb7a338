// Copies a blob that can only be decoded in order to scratch.
#pragma once

#include "tare/blob.hpp"

namespace tare {

// The same bytes as a plain blob, which can be opened anywhere. The scratch lives as long as a copy of the result.
Blob scratch_blob(const Blob& blob);

}  // namespace tare
