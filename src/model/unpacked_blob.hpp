// A blob that can only be decoded front to back, decoded once and kept in scratch.
#pragma once

#include "tare/blob.hpp"

namespace tare {

// The same bytes as a plain blob, which can be entered anywhere. Lives as long as its copies.
Blob unpacked_blob(const Blob& blob);

}  // namespace tare
