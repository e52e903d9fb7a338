// Element values: decodes any known type to double, and casts dense tensors from one type to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "tare/export.hpp"
#include "tare/model.hpp"

namespace tare {

// Whether elements of this type can be read as numbers: every storage type, fp8, complex (as pairs).
[[nodiscard]] TARE_API bool is_numeric(DType dtype, std::string_view type);

// Decodes out.size() storage elements at `bytes` into doubles. An unknown logical type is read as its storage type.
// 64-bit integers beyond 2^53 are rounded.
TARE_API void decode_elements(DType dtype, std::string_view type, std::span<const std::byte> bytes,
                              std::span<double> out);

// Calls `visit` with consecutive runs of a dense tensor's elements as doubles (complex: re, im, re, im).
TARE_API void for_each_element_run(const Tensor& dense_tensor,
                                   const std::function<void(std::span<const double>)>& visit);

// Whether `to` can represent every value of `from` exactly.
[[nodiscard]] TARE_API bool cast_is_lossless(DType from, std::string_view from_type, DType to);

// What becomes of a finite value that exceeds the largest number of a float type, or of any value outside of the range of
// an integer type.
enum class Overflow : std::uint8_t {
  refuse,    // throws `cast.overflow` when the bytes are read
  infinity,  // becomes infinite; integer types have no infinity and refuse
  clamp,     // becomes the nearest number that the type has
};
// A dense tensor of type `to` with the same values; produced lazily. A float type rounds to nearest even. An integer type
// throws when the bytes are read: `cast.nan` for a NaN, and `cast.fraction` for a number that is not whole (bool: for
// all but 0 and 1), unless `overflow` is clamp, which rounds to nearest even (bool: all but 0 become 1).
[[nodiscard]] TARE_API Tensor cast(const Tensor& dense_tensor, DType to, Overflow overflow = Overflow::refuse);
// Counts the values of a dense tensor to which Overflow applies, and NaN where `to` has none. Reads the tensor once, on
// `threads` threads (0: all cores).
[[nodiscard]] TARE_API std::uint64_t count_overflow(const Tensor& dense_tensor, DType to, unsigned threads = 0);

}  // namespace tare
