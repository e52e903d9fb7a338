// The fast twins of reference.hpp, for whatever SIMD the processor has.
//
// `decode_rows` gives the reference's bits. The products are f32 sums in another order: they differ from the reference by
// at most (columns / 4 + 16) * 2^-24 times the sum of the magnitudes of what is added, and never from call to call on one
// machine.
#pragma once

#include <span>

#include "codecs/mcf/reference.hpp"

namespace tare::codec::mcf {

// rows * columns values.
void decode_rows(const RowSpan& rows, float* out);

// The codes of one row, one to a byte: for q* and k* those behind the last column too, up to a whole block.
void unpack_row(const RowSpan& row, std::int8_t* out);

// One product for each row; `vector` has `columns` values.
void dot_rows(const RowSpan& rows, std::span<const float> vector, float* out);
void dot_rows(const RowSpan& rows, const Vector& vector, float* out);

}  // namespace tare::codec::mcf
