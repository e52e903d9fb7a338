// Fast versions of the functions in reference.hpp, with the best SIMD of the processor.
//
// `decode_rows` returns the reference's values, bit for bit. Products are f32 sums in another order: they differ from
// the reference by at most (columns / 4 + 16) * 2^-24 times the sum of the magnitudes that are added. On one machine
// they are the same in every call.
#pragma once

#include <span>

#include "codecs/mcf/reference.hpp"

namespace tare::codec::mcf {

// Writes rows * columns values.
void decode_rows(const RowSpan& rows, float* out);

// Unpacks the codes of one row, one per byte. For q* and k*, also those after the last column, up to a whole block.
void unpack_row(const RowSpan& row, std::int8_t* out);

// One product per row; `vector` has `columns` values.
void dot_rows(const RowSpan& rows, std::span<const float> vector, float* out);
void dot_rows(const RowSpan& rows, const Vector& vector, float* out);

}  // namespace tare::codec::mcf
