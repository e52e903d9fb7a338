// Shared by the two halves of zt.group: the sizes a tensor's attributes imply.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tare/codec.hpp"

namespace tare::codec::group {

struct Plan {
  std::uint64_t rows = 0, columns = 0;
  unsigned bits = 0, per_word = 0;      // codes in an i32
  std::uint64_t group_size = 0;         // columns
  std::uint64_t words = 0, groups = 0;  // in a row
};

// Nothing when the attributes, the rank or the types are none that we know how to decode.
std::optional<Plan> plan_of(const Tensor& tensor);

Tensor decode(const Tensor& tensor);
std::unique_ptr<const Rows> make_rows(const Tensor& tensor);
Tensor encode(const Tensor& tensor, const EncodeOptions& options);

}  // namespace tare::codec::group
