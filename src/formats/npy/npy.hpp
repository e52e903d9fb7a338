// Arrays of NumPy's .npy syntax as tensors and back: what the rows npy and npz share.
#pragma once

#include <functional>
#include <string>

#include "formats/npy/header.hpp"
#include "tare/error.hpp"
#include "tare/format.hpp"
#include "tare/model.hpp"

namespace tare::npy {

// Throws `npy.data.length` unless `total` bytes are exactly the header and the array.
void check_length(const Header& header, std::uint64_t header_bytes, std::uint64_t total);

// The tensor over `stored`, the bytes after the header; converted to little-endian C order where it must be.
Tensor to_tensor(std::string name, const Header& header, Blob stored);

// Says that the descriptor has lost the type (an np.save of ml_dtypes arrays): what it is read as, and how to
// tell.
Error raw_note(const Header& header);

// Whether these bytes are an array of something else than numbers, as far as their header tells.
bool holds_other_array(const Blob& bytes);

// Why this tensor cannot be an .npy array, if it cannot: a layout, a logical type, a size that is not its
// shape's. Rules `npz.write.*`.
void check_writable(const Tensor& tensor);

// The header in front of the tensor's data.
Bytes header_for(const Tensor& tensor);

}  // namespace tare::npy
