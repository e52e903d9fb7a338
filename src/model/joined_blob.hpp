// Several blobs, one after another, as a single blob.
#pragma once

#include <vector>

#include "tare/blob.hpp"

namespace tare {

// Read lazily. Seekable if all of them are and their sizes are multiples of the common granularity.
Blob joined_blob(std::vector<Blob> blobs);

}  // namespace tare
