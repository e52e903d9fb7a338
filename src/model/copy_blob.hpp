#pragma once

#include "tare/blob.hpp"
#include "tare/sink.hpp"

namespace tare {

// Copies all bytes of a blob to a sink, in order, through one small buffer.
void copy_blob(const Blob& blob, Sink& sink);

}  // namespace tare
