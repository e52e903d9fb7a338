// Shared by the encoder and the decoder of zt.group: the sizes that a tensor's attributes imply.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tare/codec.hpp"

namespace tare::codec::group {

struct Plan {
  std::uint64_t rows = 0, columns = 0;
  unsigned bits = 0, per_word = 0;      // per_word: codes per i32
  std::uint64_t group_size = 0;         // in columns
  std::uint64_t words = 0, groups = 0;  // per row
};

// Returns nothing if the attributes, the rank, the types or the sizes cannot be decoded.
std::optional<Plan> plan_of(const Tensor& tensor);

Tensor decode(const Tensor& tensor);
std::unique_ptr<const Rows> make_rows(const Tensor& tensor);
Tensor encode(const Tensor& tensor, const EncodeOptions& options);

}  // namespace tare::codec::group
