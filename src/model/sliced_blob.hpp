// The bytes that a plan selects from a blob, in the order of the plan.
#pragma once

#include "model/slice_plan.hpp"
#include "tare/blob.hpp"

namespace tare {

// `width`: bytes per element of the plan. Read lazily, in blocks of at most about 4 MiB; the plan must stay inside the
// blob, and may permute as well as select.
Blob sliced_blob(const Blob& blob, SlicePlan plan, std::uint64_t width);

}  // namespace tare
