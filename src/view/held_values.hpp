// What a report holds of a tensor's values, to be looked at without a server: all of a small one; of others a picture, and the
// values at their corners. Numbers are base64: text would take twice the room. The page's api.js reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tare/model.hpp"

namespace tare::view {

// Each of these throws what Reading throws.

// {rows columns height width exact exponent cells}: f16 times 2^exponent for each cell, the largest of its elements; FFFF for
// a cell of which nothing was read.
std::string grid_json(const Tensor& tensor, std::size_t height, std::size_t width);
// {shape rows columns type values}: every element, as f32 or f64, or as i64 or u64 where it is one.
std::string whole_json(const Tensor& tensor);
// {shape rows columns type blocks}, a block: {top left height width values}; one at each corner of the matrix.
std::string corners_json(const Tensor& tensor);

// About the bytes of whole_json.
std::uint64_t whole_size(const Tensor& tensor);

}  // namespace tare::view
