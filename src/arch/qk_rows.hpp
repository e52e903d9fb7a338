// The order of the rows of q and k, which differs between dialects because rotary positions can be applied to a head in
// two ways.
//
//   halves   element k of a head is rotated with element k + D/2: Hugging Face, and most families in GGUF
//   pairs    element 2k is rotated with element 2k + 1: Meta's own files, and Llama and its kin in GGUF
//
// Between them rows move inside their head (D rows), each as a whole: row 2k + p of `pairs` is row p * D/2 + k of
// `halves`. So numbers do not change, and rows that are whole quantized blocks need not be decoded.
#pragma once

#include <cstdint>
#include <optional>

#include "arch/families.hpp"
#include "tare/model.hpp"

namespace tare::arch {

enum class QkOrder : std::uint8_t { halves, pairs };

// Tiny Llama has learned positions, and no order that would matter.
QkOrder qk_order(const Family& family, Dialect dialect);
// How many heads the rows of a tensor belong to, where their order matters (q, k); nothing for other roles, and where the
// config does not say.
std::optional<std::uint64_t> rotated_heads(Role role, const Config& config);

// The bytes of `rows` rows of equal size, which are in the other order now, in the order `to`. Read lazily, in bounded
// memory. Throws usage `arch.qk.heads` unless the rows are `heads` heads of an even number of rows each, `arch.qk.bytes`
// unless the blob is `rows` rows of the same size.
Blob reorder_qk(const Blob& blob, std::uint64_t rows, std::uint64_t heads, QkOrder to);
// A dense tensor, a matrix or a bias. Throws usage `arch.qk.layout` for another layout, whose rows only its codec knows.
Tensor reorder_qk(const Tensor& tensor, std::uint64_t heads, QkOrder to);

}  // namespace tare::arch
