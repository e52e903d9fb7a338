// The fast twins of mcf_reference.hpp, for whatever SIMD the processor has.
//
// `mcf_decode` gives the reference's bits. The products are f32 sums in another order: they differ from the reference by
// at most (columns / 4 + 16) * 2^-24 times the sum of the magnitudes of what is added, and never from call to call on one
// machine.
#pragma once

#include <span>

#include "codecs/mcf/reference.hpp"

namespace tare {

// rows * columns values.
void mcf_decode(const McfRows& rows, float* out);

// The codes of one row, one to a byte: for q* and k* those behind the last column too, up to a whole block.
void mcf_unpack(const McfRows& row, std::int8_t* out);

// One product for each row; `vector` has `columns` values.
void mcf_dot(const McfRows& rows, std::span<const float> vector, float* out);
void mcf_dot(const McfRows& rows, const McfVector& vector, float* out);

// The same codes and scales as mcf_reference_vector.
McfVector mcf_vector(std::span<const float> vector);

}  // namespace tare
