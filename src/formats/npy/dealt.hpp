// A large Fortran-ordered array that can only be read front to back, in C order: unpacked once, dealt by rows into scratch,
// and put together from there. Time is linear in the array; without this, every band of the output would unpack it all.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tare/blob.hpp"

namespace tare::npy {

using Axes = std::vector<std::uint64_t>;

// The array's bytes from the first on. `axes` are those above 1, the first the fastest in `stored`; of each `item`, runs
// of `swap` bytes are turned round (1: none). Takes scratch space of the array's size (io/scratch.hpp).
std::unique_ptr<BlobReader> open_dealt(const Blob& stored, const Axes& axes, std::size_t item, std::size_t swap);

}  // namespace tare::npy
