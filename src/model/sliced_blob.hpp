// The bytes that a plan picks from a blob, in the plan's order.
#pragma once

#include "model/slice_plan.hpp"
#include "tare/blob.hpp"

namespace tare {

// `width` is the bytes of an element of the plan. Read lazily, about 4 MiB at a time or less; the plan must stay inside
// the blob, and it may permute as well as pick.
Blob sliced_blob(const Blob& blob, SlicePlan plan, std::uint64_t width);

}  // namespace tare
