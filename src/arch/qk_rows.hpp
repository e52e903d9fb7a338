// The order of the rows of q and k, which differs between dialects because rotary positions can be applied to a head in
// two ways.
//
//  halves   element k of a head is rotated with element k + D/2: Hugging Face, and most families in GGUF
//  pairs    element 2k is rotated with element 2k + 1: Meta's own files, and Llama and related families in GGUF
//
// A conversion moves whole rows inside their head (D rows): row 2k + p of `pairs` is row p * D/2 + k of `halves`. So
// numbers do not change, and rows that are whole quantized blocks need not be decoded. Which families are in `pairs` in
// GGUF: those whose q and k have the step pair_rows (patterns.hpp).
#pragma once

#include <cstdint>
#include <optional>

#include "arch/families.hpp"
#include "arch/roles.hpp"
#include "tare/model.hpp"

namespace tare::arch {

enum class QkOrder : std::uint8_t { halves, pairs };

// How many heads the rows of a tensor belong to if their order matters (q, k); nothing for other roles, or if the
// config does not state it.
std::optional<std::uint64_t> rotated_heads(Role role, const Config& config);

// Checks the number of heads against the rows: the heads of all q and k of a model have the same size. A wrong number
// would still divide the rows, but move them to wrong places.
class HeadRows {
 public:
  HeadRows(const Family& family, const Config& config);
  // Throws usage `arch.qk.heads` if the heads of this tensor have another size than config or earlier tensors state.
  void check(std::uint64_t rows, std::uint64_t heads);

 private:
  std::optional<std::uint64_t> size_;  // the rows of one head
};

// Changes the order of `rows` rows of equal size to `to`; they must be in the other order. Read lazily, in bounded
// memory. Throws usage `arch.qk.heads` unless the rows are `heads` heads of an even number of rows each,
// `arch.qk.bytes` unless the blob is `rows` rows of the same size.
Blob reorder_qk(const Blob& blob, std::uint64_t rows, std::uint64_t heads, QkOrder to);
// For a dense tensor, a matrix or a bias. Throws usage `arch.qk.layout` for other layouts, whose rows only a codec
// knows.
Tensor reorder_qk(const Tensor& tensor, std::uint64_t heads, QkOrder to);

}  // namespace tare::arch
