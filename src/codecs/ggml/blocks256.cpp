// Types with blocks of 256 weights. Scales are small integers for 16 or 32 weights each, multiplied by one or two f16.
#include "codecs/ggml/blocks.hpp"
#include "codecs/ggml/parts.hpp"

namespace tare::codec::ggml {
namespace {

constexpr std::size_t kWeights = 256;

template <std::size_t kBytes, typename Decode>
void for_supers(const std::byte* block, std::size_t count, float* out, const Decode& decode) {
  for (; count > 0; --count, block += kBytes, out += kWeights) decode(block, out);
}

// The 2-bit code of weight i; it shares a byte with the weights 32, 64 and 96 further on.
unsigned crumb(const std::byte* codes, std::size_t i) {
  return byte_at(codes, 32 * (i / 128) + i % 32) >> (2 * (i % 128 / 32)) & 3;
}

// Shared by Q4_K and Q5_K: a scale and a minimum for each part of 32 weights. The low four bits of the codes are in the
// low or the high halves of 32 bytes; `high` returns the bits above them.
template <typename High>
void decode_halves(const std::byte* block, const std::byte* codes, float* weights, const High& high) {
  const float d = half_at(block), dmin = half_at(block + 2);
  for (std::size_t part = 0; part < 8; ++part) {
    const ScaleAndMinimum packed = k_scale(block + 4, part);
    const float scale = d * static_cast<float>(packed.scale), minimum = dmin * static_cast<float>(packed.minimum);
    for (std::size_t i = 0; i < 32; ++i) {
      const unsigned both = byte_at(codes, 32 * (part / 2) + i), low = part % 2 == 0 ? both & 15 : both >> 4;
      weights[32 * part + i] = scale * static_cast<float>(low | high(part, i)) - minimum;
    }
  }
}

}  // namespace

void decode_q2_k(const std::byte* blocks, std::size_t count, float* out) {
  for_supers<84>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float d = half_at(block + 80), dmin = half_at(block + 82);
    for (std::size_t part = 0; part < 16; ++part) {
      const unsigned both = byte_at(block, part);
      const float scale = d * static_cast<float>(both & 15), minimum = dmin * static_cast<float>(both >> 4);
      for (std::size_t i = 16 * part; i < 16 * part + 16; ++i)
        weights[i] = scale * static_cast<float>(crumb(block + 16, i)) - minimum;
    }
  });
}

void decode_q3_k(const std::byte* blocks, std::size_t count, float* out) {
  for_supers<110>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float d = half_at(block + 108);
    for (std::size_t part = 0; part < 16; ++part) {
      const float scale = d * static_cast<float>(q3_scale(block + 96, part));
      for (std::size_t i = 16 * part; i < 16 * part + 16; ++i) {
        // The third bit is set for codes >= 0.
        const bool high = (byte_at(block, i % 32) >> (i / 32) & 1) != 0;
        weights[i] = scale * static_cast<float>(static_cast<int>(crumb(block + 32, i)) - (high ? 0 : 4));
      }
    }
  });
}

void decode_q4_k(const std::byte* blocks, std::size_t count, float* out) {
  for_supers<144>(blocks, count, out, [](const std::byte* block, float* weights) {
    decode_halves(block, block + 16, weights, [](std::size_t, std::size_t) { return 0U; });
  });
}

void decode_q5_k(const std::byte* blocks, std::size_t count, float* out) {
  for_supers<176>(blocks, count, out, [](const std::byte* block, float* weights) {
    decode_halves(block, block + 48, weights,
                  [&](std::size_t part, std::size_t i) { return (byte_at(block, 16 + i) >> part & 1) << 4; });
  });
}

void decode_q6_k(const std::byte* blocks, std::size_t count, float* out) {
  for_supers<210>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float d = half_at(block + 208);
    for (std::size_t part = 0; part < 16; ++part) {
      const float scale = d * static_cast<float>(signed_at(block + 192, part));
      for (std::size_t i = 16 * part; i < 16 * part + 16; ++i) {
        const std::size_t quarter = i % 128 / 32;
        const unsigned both = byte_at(block, 64 * (i / 128) + i % 32 + 32 * (quarter % 2));
        const unsigned low = quarter < 2 ? both & 15 : both >> 4;
        weights[i] = scale * static_cast<float>(static_cast<int>(low | crumb(block + 128, i) << 4) - 32);
      }
    }
  });
}

// The block ends with sums of 16 codes each, which only products use.
void decode_q8_k(const std::byte* blocks, std::size_t count, float* out) {
  for_supers<292>(blocks, count, out, [](const std::byte* block, float* weights) {
    const auto d = load_le<float>(block);
    for (std::size_t i = 0; i < kWeights; ++i) weights[i] = d * static_cast<float>(signed_at(block + 4, i));
  });
}

void decode_iq4_xs(const std::byte* blocks, std::size_t count, float* out) {
  for_supers<136>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float d = half_at(block);
    const unsigned high = load_le<std::uint16_t>(block + 2);
    for (std::size_t part = 0; part < 8; ++part) {
      const unsigned low = byte_at(block, 4 + part / 2) >> (4 * (part % 2)) & 15;
      const float scale = d * static_cast<float>(static_cast<int>(low | (high >> (2 * part) & 3) << 4) - 32);
      for (std::size_t i = 0; i < 16; ++i) {
        const unsigned codes = byte_at(block, 8 + 16 * part + i);
        weights[32 * part + i] = scale * kIq4[codes & 15];
        weights[32 * part + i + 16] = scale * kIq4[codes >> 4];
      }
    }
  });
}

// A byte holds five codes (-1, 0, 1) as base-3 digits of a fraction of 256: multiplied by 3, the next digit is what
// overflows 8 bits. 48 bytes hold 240 codes, in a run of 32 bytes and one of 16; the last 4 bytes hold four codes each.
void decode_tq1_0(const std::byte* blocks, std::size_t count, float* out) {
  for_supers<54>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float d = half_at(block + 52);
    const auto put = [&](std::size_t first, std::size_t run, std::size_t digits) {
      unsigned power = 1;
      for (std::size_t digit = 0; digit < digits; ++digit, power *= 3)
        for (std::size_t i = 0; i < run; ++i) {
          const unsigned rest = byte_at(block, first + i) * power & 255;
          *weights++ = static_cast<float>(static_cast<int>(rest * 3 >> 8) - 1) * d;
        }
    };
    put(0, 32, 5);
    put(32, 16, 5);
    put(48, 4, 4);
  });
}

void decode_tq2_0(const std::byte* blocks, std::size_t count, float* out) {
  for_supers<66>(blocks, count, out, [](const std::byte* block, float* weights) {
    const float d = half_at(block + 64);
    for (std::size_t i = 0; i < kWeights; ++i)
      weights[i] = static_cast<float>(static_cast<int>(crumb(block, i)) - 1) * d;
  });
}

}  // namespace tare::codec::ggml
