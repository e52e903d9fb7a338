// Converts arrays in another order to ours while they are read: big-endian to little-endian numbers, and Fortran order
// (first axis fastest) to C order. Lazy, in bounded memory.
#pragma once

#include "formats/npy/header.hpp"
#include "tare/blob.hpp"

namespace tare::npy {

// Returns the array `stored` (exactly header.data_bytes bytes) as little-endian numbers in C order; `stored` itself if
// it is that already.
//
// A plain Fortran-ordered array is transposed in tiles, bands of a few MiB at a time, from any starting point. A
// deflated array can only be read front to back: if it is large, it is decompressed once into scratch space
// (dealt.hpp).
Blob in_c_order(Blob stored, const Header& header);

}  // namespace tare::npy
