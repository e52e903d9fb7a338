// Types with blocks of 256 weights whose codes are codewords for four or eight weights at once.
#include "codecs/ggml/blocks.hpp"
#include "codecs/ggml/grids.hpp"
#include "codecs/ggml/parts.hpp"

namespace tare::codec::ggml {
namespace {

// Calls decode(block, eighth, weights) for each eighth (32 weights) of each block.
template <std::size_t kBytes, typename Decode>
void for_eighths(const std::byte* block, std::size_t count, float* out, const Decode& decode) {
  for (; count > 0; --count, block += kBytes)
    for (std::size_t eighth = 0; eighth < 8; ++eighth, out += 32) decode(block, eighth, out);
}

// Decodes a codeword; a set bit of `signs` makes the value negative.
template <typename Word>
void put_signed(Word codeword, unsigned signs, float scale, float* weights) {
  for (std::size_t j = 0; j < sizeof(Word); ++j)
    weights[j] = scale * static_cast<float>(codeword >> (8 * j) & 255) * ((signs >> j & 1) != 0 ? -1.0F : 1.0F);
}

void put_shifted(std::uint64_t codeword, float delta, float scale, float* weights) {
  for (std::size_t j = 0; j < 8; ++j) {
    const auto eight = static_cast<std::int8_t>(codeword >> (8 * j) & 255);
    weights[j] = scale * (static_cast<float>(eight) / 8 + delta);
  }
}

float half_up(float d, unsigned scale, float factor) { return d * (0.5F + static_cast<float>(scale)) * factor; }
float odd(float d, unsigned scale) { return d * static_cast<float>(2 * scale + 1); }

}  // namespace

void decode_iq2_xxs(const std::byte* blocks, std::size_t count, float* out) {
  for_eighths<66>(blocks, count, out, [](const std::byte* block, std::size_t eighth, float* weights) {
    const std::byte* const at = block + 2 + 8 * eighth;
    const auto rest = load_le<std::uint32_t>(at + 4);
    const float scale = half_up(half_at(block), rest >> 28, 0.25F);
    for (std::size_t l = 0; l < 4; ++l)
      put_signed(kIq2XxsGrid[byte_at(at, l)], even_signs(rest >> (7 * l) & 127), scale, weights + 8 * l);
  });
}

void decode_iq2_xs(const std::byte* blocks, std::size_t count, float* out) {
  for_eighths<74>(blocks, count, out, [](const std::byte* block, std::size_t eighth, float* weights) {
    const unsigned scales = byte_at(block, 66 + eighth);
    for (std::size_t l = 0; l < 4; ++l) {
      const unsigned code = load_le<std::uint16_t>(block + 2 + 8 * eighth + 2 * l);
      const float scale = half_up(half_at(block), scales >> (4 * (l / 2)) & 15, 0.25F);
      put_signed(kIq2XsGrid[code & 511], even_signs(code >> 9), scale, weights + 8 * l);
    }
  });
}

void decode_iq2_s(const std::byte* blocks, std::size_t count, float* out) {
  for_eighths<82>(blocks, count, out, [](const std::byte* block, std::size_t eighth, float* weights) {
    const unsigned scales = byte_at(block, 74 + eighth), high = byte_at(block, 66 + eighth);
    for (std::size_t l = 0; l < 4; ++l) {
      const unsigned code = byte_at(block, 2 + 4 * eighth + l) | (high >> (2 * l) & 3) << 8;
      const float scale = half_up(half_at(block), scales >> (4 * (l / 2)) & 15, 0.25F);
      put_signed(kIq2SGrid[code], byte_at(block, 34 + 4 * eighth + l), scale, weights + 8 * l);
    }
  });
}

void decode_iq3_xxs(const std::byte* blocks, std::size_t count, float* out) {
  for_eighths<98>(blocks, count, out, [](const std::byte* block, std::size_t eighth, float* weights) {
    const auto rest = load_le<std::uint32_t>(block + 66 + 4 * eighth);
    const float scale = half_up(half_at(block), rest >> 28, 0.5F);
    for (std::size_t l = 0; l < 8; ++l) {
      const unsigned signs = even_signs(rest >> (7 * (l / 2)) & 127);
      put_signed(kIq3XxsGrid[byte_at(block, 2 + 8 * eighth + l)], signs >> (4 * (l % 2)), scale, weights + 4 * l);
    }
  });
}

void decode_iq3_s(const std::byte* blocks, std::size_t count, float* out) {
  for_eighths<110>(blocks, count, out, [](const std::byte* block, std::size_t eighth, float* weights) {
    const unsigned high = byte_at(block, 66 + eighth);
    const float scale = odd(half_at(block), byte_at(block, 106 + eighth / 2) >> (4 * (eighth % 2)) & 15);
    for (std::size_t l = 0; l < 8; ++l) {
      const unsigned code = byte_at(block, 2 + 8 * eighth + l) | (high >> l & 1) << 8;
      const unsigned signs = byte_at(block, 74 + 4 * eighth + l / 2);
      put_signed(kIq3SGrid[code], signs >> (4 * (l % 2)), scale, weights + 4 * l);
    }
  });
}

void decode_iq1_s(const std::byte* blocks, std::size_t count, float* out) {
  for_eighths<50>(blocks, count, out, [](const std::byte* block, std::size_t eighth, float* weights) {
    const unsigned high = load_le<std::uint16_t>(block + 34 + 2 * eighth);
    const float scale = odd(half_at(block), high >> 12 & 7), delta = (high & 0x8000) != 0 ? -0.125F : 0.125F;
    for (std::size_t l = 0; l < 4; ++l) {
      const unsigned code = byte_at(block, 2 + 4 * eighth + l) | (high >> (3 * l) & 7) << 8;
      put_shifted(kIq1Grid[code], delta, scale, weights + 8 * l);
    }
  });
}

void decode_iq1_m(const std::byte* blocks, std::size_t count, float* out) {
  for_eighths<56>(blocks, count, out, [](const std::byte* block, std::size_t eighth, float* weights) {
    const float d = iq1_m_half(block);
    const unsigned scales = load_le<std::uint16_t>(block + 48 + 2 * (eighth / 2)) >> (6 * (eighth % 2));
    for (std::size_t l = 0; l < 4; ++l) {
      const unsigned high = byte_at(block, 32 + 2 * eighth + l / 2) >> (4 * (l % 2));
      const unsigned code = byte_at(block, 4 * eighth + l) | (high & 7) << 8;
      put_shifted(kIq1Grid[code], (high & 8) != 0 ? -0.125F : 0.125F, odd(d, scales >> (3 * (l / 2)) & 7),
                  weights + 8 * l);
    }
  });
}

}  // namespace tare::codec::ggml
