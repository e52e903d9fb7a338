// simd_expand.hpp for the types whose codes are codewords: eight values at a time in a 64-bit register. Included by
// simd_expand.hpp, once for every SIMD target that has vectors and little-endian bytes.
#if defined(TARE_GGML_SIMD_EXPAND_GRIDS_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TARE_GGML_SIMD_EXPAND_GRIDS_HPP
#undef TARE_GGML_SIMD_EXPAND_GRIDS_HPP
#else
#define TARE_GGML_SIMD_EXPAND_GRIDS_HPP
#endif

#include "codecs/ggml/grids.hpp"

// NOLINTBEGIN(misc-definitions-in-headers)
HWY_BEFORE_NAMESPACE();
namespace tare::codec::ggml::HWY_NAMESPACE {
namespace {

// A byte of ones for each set sign.
struct SignBytes {
  std::uint64_t bytes[256];
  constexpr SignBytes() : bytes{} {
    for (unsigned signs = 0; signs < 256; ++signs)
      for (unsigned j = 0; j < 8; ++j)
        if ((signs >> j & 1) != 0) bytes[signs] |= std::uint64_t{255} << (8 * j);
  }
};
inline constexpr SignBytes kSignBytes;
inline constexpr std::uint64_t kOnes = 0x0101010101010101, kTops = 0x8080808080808080;

HWY_INLINE void put_word(std::uint64_t word, std::int8_t* to) { std::memcpy(to, &word, sizeof word); }

// Negates the values with a set sign: complement plus 1. No value is 0, so the sum stays inside its byte.
HWY_INLINE void put_signed_word(std::uint64_t word, unsigned signs, std::int8_t* to) {
  const std::uint64_t minus = kSignBytes.bytes[signs];
  put_word((word ^ minus) + (minus & kOnes), to);
}

// Adds or subtracts 1; the values are 8 times -1, 0 or 1. It has no branch, because the direction is unpredictable.
HWY_INLINE void put_shifted_word(std::uint64_t word, bool less, std::int8_t* to) {
  const std::uint64_t below = ((word | kTops) - kOnes) ^ (~word & kTops), mask = std::uint64_t{0} - std::uint64_t{less};
  put_word((below & mask) | ((word | kOnes) & ~mask), to);
}

HWY_INLINE std::uint64_t pair_of(std::uint32_t low, std::uint32_t high) {
  return low | static_cast<std::uint64_t>(high) << 32;
}
HWY_INLINE float half_more(unsigned scale) { return 0.5F + static_cast<float>(scale); }

void expand_iq2_xxs(const std::byte* block, std::size_t, Expanded& out) {
  const float d = half_of(block);
  for (std::size_t k = 0; k < 8; ++k) {
    const std::byte* const at = block + 2 + 8 * k;
    const auto rest = load_le<std::uint32_t>(at + 4);
    out.scale[k] = d * half_more(rest >> 28) * 0.25F;
    for (std::size_t l = 0; l < 4; ++l)
      put_signed_word(kIq2XxsGrid[byte_at(at, l)], even_signs(rest >> (7 * l) & 127), out.codes + 32 * k + 8 * l);
  }
}

void expand_iq2_scales(const std::byte* scales, float d, Expanded& out) {
  for (std::size_t k = 0; k < 16; ++k)
    out.scale[k] = d * half_more(byte_at(scales, k / 2) >> (4 * (k % 2)) & 15) * 0.25F;
}

void expand_iq2_xs(const std::byte* block, std::size_t, Expanded& out) {
  expand_iq2_scales(block + 66, half_of(block), out);
  for (std::size_t l = 0; l < 32; ++l) {
    const unsigned code = load_le<std::uint16_t>(block + 2 + 2 * l);
    put_signed_word(kIq2XsGrid[code & 511], even_signs(code >> 9), out.codes + 8 * l);
  }
}

void expand_iq2_s(const std::byte* block, std::size_t, Expanded& out) {
  expand_iq2_scales(block + 74, half_of(block), out);
  for (std::size_t l = 0; l < 32; ++l) {
    const unsigned code = byte_at(block, 2 + l) | (byte_at(block, 66 + l / 4) >> (2 * (l % 4)) & 3) << 8;
    put_signed_word(kIq2SGrid[code], byte_at(block, 34 + l), out.codes + 8 * l);
  }
}

void expand_iq3_xxs(const std::byte* block, std::size_t, Expanded& out) {
  const float d = half_of(block);
  for (std::size_t k = 0; k < 8; ++k) {
    const auto rest = load_le<std::uint32_t>(block + 66 + 4 * k);
    out.scale[k] = d * half_more(rest >> 28) * 0.5F;
    for (std::size_t l = 0; l < 4; ++l) {
      const std::byte* const codes = block + 2 + 8 * k + 2 * l;
      put_signed_word(pair_of(kIq3XxsGrid[byte_at(codes, 0)], kIq3XxsGrid[byte_at(codes, 1)]),
                      even_signs(rest >> (7 * l) & 127), out.codes + 32 * k + 8 * l);
    }
  }
}

void expand_iq3_s(const std::byte* block, std::size_t, Expanded& out) {
  const float d = half_of(block);
  for (std::size_t k = 0; k < 8; ++k) {
    out.scale[k] = d * static_cast<float>(2 * (byte_at(block, 106 + k / 2) >> (4 * (k % 2)) & 15) + 1);
    const unsigned high = byte_at(block, 66 + k);
    for (std::size_t l = 0; l < 4; ++l) {
      const std::byte* const codes = block + 2 + 8 * k + 2 * l;
      const unsigned first = byte_at(codes, 0) | (high >> (2 * l) & 1) << 8;
      const unsigned second = byte_at(codes, 1) | (high >> (2 * l + 1) & 1) << 8;
      put_signed_word(pair_of(kIq3SGrid[first], kIq3SGrid[second]), byte_at(block, 74 + 4 * k + l),
                      out.codes + 32 * k + 8 * l);
    }
  }
}

// An eighth of the scale, because the codes are multiplied by 8; both are exact.
HWY_INLINE float odd_eighth(float d, unsigned scale) { return d * static_cast<float>(2 * scale + 1) * 0.125F; }

void expand_iq1_s(const std::byte* block, std::size_t, Expanded& out) {
  const float d = half_of(block);
  for (std::size_t k = 0; k < 8; ++k) {
    const unsigned high = load_le<std::uint16_t>(block + 34 + 2 * k);
    out.scale[k] = odd_eighth(d, high >> 12 & 7);
    for (std::size_t l = 0; l < 4; ++l) {
      const unsigned code = byte_at(block, 2 + 4 * k + l) | (high >> (3 * l) & 7) << 8;
      put_shifted_word(kIq1Grid[code], (high & 0x8000) != 0, out.codes + 32 * k + 8 * l);
    }
  }
}

void expand_iq1_m(const std::byte* block, std::size_t, Expanded& out) {
  const float d = iq1_m_half(block);
  for (std::size_t k = 0; k < 16; ++k)
    out.scale[k] = odd_eighth(d, load_le<std::uint16_t>(block + 48 + 2 * (k / 4)) >> (3 * (k % 4)) & 7);
  for (std::size_t l = 0; l < 32; ++l) {
    const unsigned high = byte_at(block, 32 + l / 2) >> (4 * (l % 2));
    put_shifted_word(kIq1Grid[byte_at(block, l) | (high & 7) << 8], (high & 8) != 0, out.codes + 8 * l);
  }
}

}  // namespace
}  // namespace tare::codec::ggml::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
// NOLINTEND(misc-definitions-in-headers)

#endif
