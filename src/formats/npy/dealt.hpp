// Reads a large Fortran-ordered array that can only be read front to back, in C order: decompresses it once, deals its
// rows into scratch files and assembles the result from those. The time is linear in the array; otherwise every band of
// the output would decompress the whole array.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tare/blob.hpp"

namespace tare::npy {

using Axes = std::vector<std::uint64_t>;

// Opens the array's bytes from the first one. `axes` are those above 1, the fastest in `stored` first; in each `item`,
// runs of `swap` bytes are reversed (1: none). Takes scratch space of the array's size (io/scratch.hpp).
std::unique_ptr<BlobReader> open_dealt(const Blob& stored, const Axes& axes, std::size_t item, std::size_t swap);

}  // namespace tare::npy
