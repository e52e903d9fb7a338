// Shared by the descriptions of blocks: what fields are called, and access to the codes in them.
#pragma once

#include "codecs/ggml/blocks.hpp"
#include "codecs/ggml/parts.hpp"

namespace tare::codec::ggml {

using Kind = FieldKind;

inline constexpr std::string_view kScale = "scale of the block", kSuper = "scale of the scales",
                                  kFifth = "the fifth bit of each code",
                                  kTable = "numbers of a table of 16 values, two in a byte";

// A term with one value per weight.
template <typename Of>
BlockTerm each(std::string_view name, std::size_t weights, const Of& of) {
  BlockTerm term{name, std::vector<double>(weights)};
  for (std::size_t i = 0; i < weights; ++i) term.values[i] = static_cast<double>(of(i));
  return term;
}
inline BlockTerm one(std::string_view name, double value) { return {name, {value}}; }

// `count` bits of the byte at `at`, from `shift` on.
inline unsigned bits_at(const std::byte* bytes, std::size_t at, std::size_t shift, unsigned count) {
  return byte_at(bytes, at) >> shift & ((1U << count) - 1);
}
// The 4-bit code of weight i of 32.
inline unsigned nibble(const std::byte* codes, std::size_t i) { return bits_at(codes, i % 16, i < 16 ? 0 : 4, 4); }
inline unsigned bit_of(const std::byte* bits, std::size_t i) { return bits_at(bits, i / 8, i % 8, 1); }
inline double sign_of(unsigned bit) { return bit != 0 ? -1 : 1; }

}  // namespace tare::codec::ggml
