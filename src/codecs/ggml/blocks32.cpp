// Types with blocks of 32 weights (64 and 128 for NVFP4, Q2_0 and Q1_0): weight i is in the low half of byte i, weight
// i + 16 in the high half.
#include "codecs/ggml/blocks.hpp"
#include "codecs/ggml/parts.hpp"

namespace tare::codec::ggml {
namespace {

// Calls put(i, code) for 32 codes of 4 bits.
template <typename Put>
void for_halves(const std::byte* codes, const Put& put) {
  for (std::size_t i = 0; i < 16; ++i) put(i, byte_at(codes, i) & 15);
  for (std::size_t i = 0; i < 16; ++i) put(i + 16, byte_at(codes, i) >> 4);
}

// As above, with a fifth bit from `high`.
template <typename Put>
void for_halves(const std::byte* codes, std::uint32_t high, const Put& put) {
  for_halves(codes, [&](std::size_t i, unsigned code) { put(i, code | (high >> i & 1) << 4); });
}

template <std::size_t kWeights, std::size_t kBytes, typename Decode>
void for_blocks(const std::byte* block, std::size_t count, float* out, const Decode& decode) {
  for (; count > 0; --count, block += kBytes, out += kWeights) decode(block, out);
}

}  // namespace

void decode_q4_0(const std::byte* blocks, std::size_t count, float* out) {
  for_blocks<32, 18>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float d = half_at(block);
    for_halves(block + 2,
               [&](std::size_t i, unsigned code) { weights[i] = static_cast<float>(static_cast<int>(code) - 8) * d; });
  });
}

void decode_q4_1(const std::byte* blocks, std::size_t count, float* out) {
  for_blocks<32, 20>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float d = half_at(block), minimum = half_at(block + 2);
    for_halves(block + 4, [&](std::size_t i, unsigned code) { weights[i] = static_cast<float>(code) * d + minimum; });
  });
}

void decode_q5_0(const std::byte* blocks, std::size_t count, float* out) {
  for_blocks<32, 22>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float d = half_at(block);
    for_halves(block + 6, load_le<std::uint32_t>(block + 2),
               [&](std::size_t i, unsigned code) { weights[i] = static_cast<float>(static_cast<int>(code) - 16) * d; });
  });
}

void decode_q5_1(const std::byte* blocks, std::size_t count, float* out) {
  for_blocks<32, 24>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float d = half_at(block), minimum = half_at(block + 2);
    for_halves(block + 8, load_le<std::uint32_t>(block + 4),
               [&](std::size_t i, unsigned code) { weights[i] = static_cast<float>(code) * d + minimum; });
  });
}

void decode_q8_0(const std::byte* blocks, std::size_t count, float* out) {
  for_blocks<32, 34>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float d = half_at(block);
    for (std::size_t i = 0; i < 32; ++i) weights[i] = static_cast<float>(signed_at(block + 2, i)) * d;
  });
}

// The second f16 is d times the sum of the codes; only products use it.
void decode_q8_1(const std::byte* blocks, std::size_t count, float* out) {
  for_blocks<32, 36>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float d = half_at(block);
    for (std::size_t i = 0; i < 32; ++i) weights[i] = static_cast<float>(signed_at(block + 4, i)) * d;
  });
}

void decode_iq4_nl(const std::byte* blocks, std::size_t count, float* out) {
  for_blocks<32, 18>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float d = half_at(block);
    for_halves(block + 2, [&](std::size_t i, unsigned code) { weights[i] = d * kIq4[code]; });
  });
}

void decode_mxfp4(const std::byte* blocks, std::size_t count, float* out) {
  for_blocks<32, 17>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float scale = half_e8m0(byte_at(block, 0));
    for_halves(block + 1, [&](std::size_t i, unsigned code) { weights[i] = kE2m1[code] * 2 * scale; });
  });
}

// Four groups of 16 weights, each with its own scale: weight i of a group in the low half of byte i, weight i + 8 in
// the high half.
void decode_nvfp4(const std::byte* blocks, std::size_t count, float* out) {
  for_blocks<64, 36>(blocks, count, out, [](const std::byte* block, float* weights) {
    for (std::size_t group = 0; group < 4; ++group) {
      const float scale = ue4m3(byte_at(block, group));
      for (std::size_t i = 0; i < 8; ++i) {
        const unsigned codes = byte_at(block, 4 + 8 * group + i);
        weights[16 * group + i] = kE2m1[codes & 15] * scale;
        weights[16 * group + i + 8] = kE2m1[codes >> 4] * scale;
      }
    }
  });
}

void decode_q1_0(const std::byte* blocks, std::size_t count, float* out) {
  for_blocks<128, 18>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float d = half_at(block);
    for (std::size_t i = 0; i < 128; ++i) weights[i] = (byte_at(block, 2 + i / 8) >> (i % 8) & 1) != 0 ? d : -d;
  });
}

// The codes mean -1, 0, 1 and 2.
void decode_q2_0(const std::byte* blocks, std::size_t count, float* out) {
  for_blocks<64, 18>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float d = half_at(block);
    for (std::size_t i = 0; i < 64; ++i) {
      const unsigned code = byte_at(block, 2 + i / 4) >> (2 * (i % 4)) & 3;
      weights[i] = static_cast<float>(static_cast<int>(code) - 1) * d;
    }
  });
}

}  // namespace tare::codec::ggml
