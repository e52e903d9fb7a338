// The vocabulary as a metadata value, for containers that keep it under a private key. Vocabulary::from_map reads it.
//
// A small vocabulary has the form of Vocabulary::to_map. In a large one, "tokens", "scores", "types" and "merges" are
// not lists but one byte string each:
//
//   tokens, merges   for each: u64 length, the bytes
//   scores           f32 each
//   types            one byte each, the number of the TokenType
//
// all little-endian. Each element of a list is a value of metadata, and `open` limits those (base/budget.hpp). As
// lists, a vocabulary that is read from a GGUF file could be written and then not be opened. The lengths take eight
// bytes, as in GGUF, for the same reason: the limit grows with the size of the file, and this form is not smaller.
#pragma once

#include "tare/vocabulary.hpp"

namespace tare {

Map stored_map(const Vocabulary& vocabulary);

}  // namespace tare
