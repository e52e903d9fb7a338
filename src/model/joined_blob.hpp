// Blobs one behind the other, as one.
#pragma once

#include <vector>

#include "tare/blob.hpp"

namespace tare {

// Read lazily. Can be entered anywhere if all of them can.
Blob joined_blob(std::vector<Blob> blobs);

}  // namespace tare
