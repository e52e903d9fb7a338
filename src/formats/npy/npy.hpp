// Converts between arrays in NumPy's .npy syntax and tensors; shared by the formats npy and npz.
#pragma once

#include <functional>
#include <string>

#include "formats/format.hpp"
#include "formats/npy/header.hpp"
#include "tare/error.hpp"
#include "tare/model.hpp"

namespace tare::npy {

// Throws `npy.data.length` unless `total` is exactly the size of the header and the array.
void check_length(const Header& header, std::uint64_t header_bytes, std::uint64_t total);

// Returns the tensor over `stored`, the bytes after the header, converted to little-endian C order if they are not.
Tensor to_tensor(std::string name, const Header& header, Blob stored);

// A note that the descriptor has lost the type (np.save of ml_dtypes arrays), with the type that was assumed.
Error raw_note(const Header& header);

// Returns whether the header shows an array that does not hold numbers.
bool holds_other_array(const Blob& bytes);

// Throws `npz.write.*` if the tensor cannot be an .npy array: because of its layout, its logical type, or a size that
// does not match its shape.
void check_writable(const Tensor& tensor);

// Returns the header that precedes the tensor's data.
Bytes header_for(const Tensor& tensor);

}  // namespace tare::npy
