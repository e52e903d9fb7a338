#pragma once

#include "tare/blob.hpp"
#include "tare/sink.hpp"

namespace tare {

// All bytes of a blob into a sink, front to back, through one small buffer.
void copy_blob(const Blob& blob, Sink& sink);

}  // namespace tare
