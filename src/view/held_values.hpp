// The values of tensors that a report carries, so that it works without a server: all values of a small tensor; for
// others a picture, and the values at the corners. Numbers are base64, which takes half the space of decimal text. Read
// by the page's api.js.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tare/model.hpp"
#include "view/heat.hpp"

namespace tare::view {

// Each of these throws what Reading throws.

// {rows columns height width exact exponent cells}: per cell an f16 to be multiplied by 2^exponent, the element of
// largest magnitude; 0xFFFF if nothing was read for the cell. `sample`: about as many elements are read at most.
// `cost` is increased by HeatMap::cost.
std::string grid_json(const Tensor& tensor, std::size_t height, std::size_t width, std::uint64_t sample,
                      std::uint64_t& cost);
// {shape rows columns type values}: every element, as f32 or f64; 64-bit integers as i64 or u64.
std::string whole_json(const Tensor& tensor);
// {shape rows columns type blocks}, a block being {top left height width values}: one block at each corner of the
// matrix.
std::string corners_json(const Tensor& tensor);

// The approximate size of whole_json, in bytes.
std::uint64_t whole_size(const Tensor& tensor);

}  // namespace tare::view
