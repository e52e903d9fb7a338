// Arrays in another order than ours, put right while they are read: big-endian numbers, and Fortran order
// (first axis fastest) as C order. Lazy, in bounded memory.
#pragma once

#include "formats/npy/header.hpp"
#include "tare/blob.hpp"

namespace tare::npy {

// The array `stored` (exactly header.data_bytes of it) as little-endian numbers in C order: `stored` itself
// when it is that already.
//
// A plain Fortran-ordered array is transposed in tiles, bands of a few MiB at a time, from any starting
// point. A deflated one can only be read front to back: every 16 MiB of output cost one decoding of the
// whole.
Blob in_c_order(Blob stored, const Header& header);

}  // namespace tare::npy
