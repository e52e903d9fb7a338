// Expands blocks to one byte per code and f32 scales, 256 weights at a time; decoding and products start with this.
// Included once for every SIMD target that has vectors.
//
// A weight is scale * code + minimum. A part, the weights that share these two, has 16 or 32 weights.
#if defined(TARE_GGML_SIMD_EXPAND_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TARE_GGML_SIMD_EXPAND_HPP
#undef TARE_GGML_SIMD_EXPAND_HPP
#else
#define TARE_GGML_SIMD_EXPAND_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "codecs/ggml/blocks.hpp"
#include "codecs/ggml/kernels.hpp"
#include "codecs/ggml/parts.hpp"

// Without vectors, or on big-endian machines (the bytes of lanes are in another order), the scalar functions are used.
#undef TARE_GGML_HAS_SIMD
#if HWY_TARGET != HWY_SCALAR && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TARE_GGML_HAS_SIMD 1
#else
#define TARE_GGML_HAS_SIMD 0
#endif

#if TARE_GGML_HAS_SIMD

// NOLINTBEGIN(misc-definitions-in-headers)
HWY_BEFORE_NAMESPACE();
namespace tare::codec::ggml::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::size_t kChunk = 256;

struct Expanded {
  alignas(64) std::int8_t codes[kChunk];
  alignas(64) float scale[16];
  alignas(64) float minimum[16];
};

using Half = hn::CappedTag<std::uint8_t, 16>;   // 16 bytes
using Whole = hn::CappedTag<std::uint8_t, 32>;  // 32 bytes, or as many as a vector has
inline constexpr std::size_t kWhole = hn::MaxLanes(Whole());

HWY_INLINE const std::uint8_t* bytes_at(const std::byte* at) { return reinterpret_cast<const std::uint8_t*>(at); }

template <class D>
HWY_INLINE void store(D d, hn::Vec<D> codes, std::int8_t* to) {
  hn::StoreU(codes, d, reinterpret_cast<std::uint8_t*>(to));
}

// kBits bits of each byte, from kShift on.
template <unsigned kShift, unsigned kBits, class D>
HWY_INLINE hn::Vec<D> field(D d, hn::Vec<D> bytes) {
  const auto mask = hn::Set(d, static_cast<std::uint8_t>((1U << kBits) - 1));
  if constexpr (kShift == 0) {
    return hn::And(bytes, mask);
  } else {
    const hn::Repartition<std::uint16_t, D> wide;
    return hn::And(hn::BitCast(d, hn::ShiftRight<kShift>(hn::BitCast(wide, bytes))), mask);
  }
}

template <class D>
HWY_INLINE hn::Vec<D> bit_or_0(D d, hn::Vec<D> bytes, unsigned bit, unsigned value) {
  return hn::IfThenElseZero(hn::TestBit(bytes, hn::Set(d, static_cast<std::uint8_t>(1U << bit))),
                            hn::Set(d, static_cast<std::uint8_t>(value)));
}

// Expands bits `first` to `first` + 15 of a number: each set bit to a byte `value`, the others to 0.
HWY_INLINE hn::Vec<Half> spread_bits(std::uint32_t bits, std::size_t first, unsigned value) {
  const Half d;
  alignas(16) static constexpr std::uint8_t kPlaces[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  alignas(16) static constexpr std::uint8_t kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const auto both =
      hn::BitCast(d, hn::Set(hn::Repartition<std::uint16_t, Half>(), static_cast<std::uint16_t>(bits >> first)));
  const auto spread = hn::TableLookupBytes(both, hn::Load(d, kPlaces));
  return hn::IfThenElseZero(hn::TestBit(spread, hn::Load(d, kBits)), hn::Set(d, static_cast<std::uint8_t>(value)));
}

// Like half_at, with an instruction if the target has one. Without it, Highway 1.0 converts infinities and NaN wrongly.
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_ARCH_ARM
HWY_INLINE float half_of(const std::byte* at) {
  const hn::CappedTag<float, 4> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  const hn::Rebind<std::uint16_t, decltype(d)> bits;
  return hn::GetLane(hn::PromoteTo(d, hn::BitCast(half, hn::Set(bits, load_le<std::uint16_t>(at)))));
}

// Loads the f16 at the beginning of up to eight blocks.
HWY_INLINE void halves(const std::byte* block, std::size_t bytes, std::size_t count, float* out) {
  const hn::CappedTag<float, 8> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  const hn::Rebind<std::uint16_t, decltype(d)> tag;
#if HWY_TARGET <= HWY_AVX2
  // Through memory, the load of eight would wait for the stores of each.
  if (count == 8) {
    const auto at = [&](std::size_t b) { return load_le<std::int16_t>(block + b * bytes); };
    _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm_setr_epi16(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7))));
    return;
  }
#endif
  alignas(16) std::uint16_t bits[8] = {};
  for (std::size_t b = 0; b < count; ++b) bits[b] = load_le<std::uint16_t>(block + b * bytes);
  for (std::size_t b = 0; b < 8; b += hn::MaxLanes(d))
    hn::StoreU(hn::PromoteTo(d, hn::BitCast(half, hn::LoadU(tag, bits + b))), d, out + b);
}
#else
HWY_INLINE float half_of(const std::byte* at) { return half_at(at); }
HWY_INLINE void halves(const std::byte* block, std::size_t bytes, std::size_t count, float* out) {
  for (std::size_t b = 0; b < 8; ++b) out[b] = b < count ? half_at(block + b * bytes) : 0;
}
#endif

// Multiplies eight bytes by a factor.
HWY_INLINE void scale_bytes(std::uint32_t low, std::uint32_t high, float factor, float* out) {
  const hn::CappedTag<float, 4> d;
  const hn::Rebind<std::int32_t, decltype(d)> whole;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const hn::Repartition<std::uint32_t, decltype(bytes)> word;
  const auto times = hn::Set(d, factor);
  const auto four = [&](std::uint32_t numbers) HWY_ATTR {
    return hn::Mul(hn::ConvertTo(d, hn::PromoteTo(whole, hn::BitCast(bytes, hn::Set(word, numbers)))), times);
  };
#if HWY_TARGET <= HWY_AVX2
  const hn::CappedTag<float, 8> both;
  hn::StoreU(hn::Combine(both, four(high), four(low)), both, out);
#else
  hn::StoreU(four(low), d, out);
  hn::StoreU(four(high), d, out + 4);
#endif
}

// --- blocks of 32, eight at a time

template <Type kType, std::size_t kCodes, unsigned kLess, bool kMinimum>
void expand_nibbles(const std::byte* block, std::size_t count, Expanded& out) {
  constexpr std::size_t kBytes = facts_of(kType).bytes;
  const Half d;
  halves(block, kBytes, count, out.scale);
  if constexpr (kMinimum) halves(block + 2, kBytes, count, out.minimum);
  const auto less = hn::Set(d, std::uint8_t{kLess});
  for (std::size_t b = 0; b < count; ++b) {
    const auto both = hn::LoadU(d, bytes_at(block + b * kBytes + kCodes));
    store(d, hn::Sub(field<0, 4>(d, both), less), out.codes + 32 * b);
    store(d, hn::Sub(field<4, 4>(d, both), less), out.codes + 32 * b + 16);
  }
}

template <Type kType, std::size_t kHigh, unsigned kLess, bool kMinimum>
void expand_fives(const std::byte* block, std::size_t count, Expanded& out) {
  constexpr std::size_t kBytes = facts_of(kType).bytes;
  const Half d;
  halves(block, kBytes, count, out.scale);
  if constexpr (kMinimum) halves(block + 2, kBytes, count, out.minimum);
  const auto less = hn::Set(d, std::uint8_t{kLess});
  for (std::size_t b = 0; b < count; ++b) {
    const auto high = load_le<std::uint32_t>(block + b * kBytes + kHigh);
    const auto both = hn::LoadU(d, bytes_at(block + b * kBytes + kHigh + 4));
    store(d, hn::Sub(hn::Or(field<0, 4>(d, both), spread_bits(high, 0, 16)), less), out.codes + 32 * b);
    store(d, hn::Sub(hn::Or(field<4, 4>(d, both), spread_bits(high, 16, 16)), less), out.codes + 32 * b + 16);
  }
}

template <Type kType, std::size_t kCodes>
void expand_bytes(const std::byte* block, std::size_t count, Expanded& out) {
  constexpr std::size_t kBytes = facts_of(kType).bytes;
  halves(block, kBytes, count, out.scale);
  for (std::size_t b = 0; b < count; ++b) std::memcpy(out.codes + 32 * b, block + b * kBytes + kCodes, 32);
}

// The values of 4-bit floats times 2, as integers. Their scales are halved; both are exact, far from the limits of f32.
alignas(16) inline constexpr std::int8_t kE2m1Twice[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
alignas(16) inline constexpr std::int8_t kIq4Bytes[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                          1,    13,   25,  38,  53,  69,  89,  113};

HWY_INLINE void look_up(const std::int8_t* table, const std::byte* codes, std::int8_t* out) {
  const Half d;
  const auto values = hn::Load(d, reinterpret_cast<const std::uint8_t*>(table));
  const auto both = hn::LoadU(d, bytes_at(codes));
  store(d, hn::TableLookupBytes(values, field<0, 4>(d, both)), out);
  store(d, hn::TableLookupBytes(values, field<4, 4>(d, both)), out + 16);
}

void expand_iq4_nl(const std::byte* block, std::size_t count, Expanded& out) {
  halves(block, 18, count, out.scale);
  for (std::size_t b = 0; b < count; ++b) look_up(kIq4Bytes, block + 18 * b + 2, out.codes + 32 * b);
}

void expand_mxfp4(const std::byte* block, std::size_t count, Expanded& out) {
  for (std::size_t b = 0; b < count; ++b) {
    out.scale[b] = half_e8m0(byte_at(block, 17 * b));
    look_up(kE2m1Twice, block + 17 * b + 1, out.codes + 32 * b);
  }
}

// --- blocks of 64 and 128

void expand_nvfp4(const std::byte* block, std::size_t count, Expanded& out) {
  const hn::CappedTag<std::uint8_t, 8> d;
  const auto values = hn::Load(Half(), reinterpret_cast<const std::uint8_t*>(kE2m1Twice));
  for (std::size_t g = 0; g < 4 * count; ++g) {
    const std::byte* const at = block + 36 * (g / 4);
    out.scale[g] = ue4m3(byte_at(at, g % 4)) * 0.5f;
    const auto both = hn::LoadU(d, bytes_at(at + 4 + 8 * (g % 4)));
    store(d, hn::TableLookupBytes(values, field<0, 4>(d, both)), out.codes + 16 * g);
    store(d, hn::TableLookupBytes(values, field<4, 4>(d, both)), out.codes + 16 * g + 8);
  }
}

void expand_q1_0(const std::byte* block, std::size_t count, Expanded& out) {
  const Half d;
  for (std::size_t b = 0; b < count; ++b) {
    std::fill_n(out.scale + 4 * b, 4, half_of(block + 18 * b));
    for (std::size_t i = 0; i < 128; i += 16) {
      const auto twos = spread_bits(load_le<std::uint16_t>(block + 18 * b + 2 + i / 8), 0, 2);
      store(d, hn::Sub(twos, hn::Set(d, std::uint8_t{1})), out.codes + 128 * b + i);
    }
  }
}

void expand_q2_0(const std::byte* block, std::size_t count, Expanded& out) {
  const Half d;
  alignas(16) static constexpr std::uint8_t kPlaces[16] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
  alignas(16) static constexpr std::uint8_t kOnes[16] = {1, 4, 16, 64, 1, 4, 16, 64, 1, 4, 16, 64, 1, 4, 16, 64};
  const auto one = hn::Set(d, std::uint8_t{1});
  const auto ones = hn::Load(d, kOnes), twos = hn::Add(ones, ones);
  for (std::size_t b = 0; b < count; ++b) {
    std::fill_n(out.scale + 2 * b, 2, half_of(block + 18 * b));
    for (std::size_t i = 0; i < 64; i += 16) {
      const auto four =
          hn::Set(hn::Repartition<std::uint32_t, Half>(), load_le<std::uint32_t>(block + 18 * b + 2 + i / 4));
      const auto spread = hn::TableLookupBytes(hn::BitCast(d, four), hn::Load(d, kPlaces));
      const auto low = hn::IfThenElseZero(hn::TestBit(spread, ones), one);
      const auto high = hn::IfThenElseZero(hn::TestBit(spread, twos), hn::Set(d, std::uint8_t{2}));
      store(d, hn::Sub(hn::Or(low, high), one), out.codes + 64 * b + i);
    }
  }
}

// --- blocks of 256

// Calls put(d, codes, number of the first weight) with vectors of 2-bit codes, four of which share each of 64 bytes.
template <unsigned kQuarter, class Put>
HWY_INLINE void for_crumbs(const std::byte* crumbs, const Put& put) {
  const Whole d;
  for (std::size_t half = 0; half < 2; ++half)
    for (std::size_t i = 0; i < 32; i += kWhole)
      put(d, field<2 * kQuarter, 2>(d, hn::LoadU(d, bytes_at(crumbs + 32 * half + i))), 128 * half + 32 * kQuarter + i);
}
template <class Put>
HWY_INLINE void for_all_crumbs(const std::byte* crumbs, const Put& put) {
  for_crumbs<0>(crumbs, put);
  for_crumbs<1>(crumbs, put);
  for_crumbs<2>(crumbs, put);
  for_crumbs<3>(crumbs, put);
}

void expand_q2_k(const std::byte* block, std::size_t, Expanded& out) {
  const float d = half_of(block + 80), dmin = half_of(block + 82);
  for (std::size_t k = 0; k < 16; ++k) {
    const unsigned both = byte_at(block, k);
    out.scale[k] = d * static_cast<float>(both & 15);
    out.minimum[k] = -(dmin * static_cast<float>(both >> 4));
  }
  for_all_crumbs(block + 16,
                 [&](Whole tag, hn::Vec<Whole> code, std::size_t i) HWY_ATTR { store(tag, code, out.codes + i); });
}

void expand_q3_k(const std::byte* block, std::size_t, Expanded& out) {
  const float d = half_of(block + 108);
  for (std::size_t k = 0; k < 16; ++k) out.scale[k] = d * static_cast<float>(q3_scale(block + 96, k));
  for_all_crumbs(block + 32, [&](Whole tag, hn::Vec<Whole> low, std::size_t i) HWY_ATTR {
    const auto high = bit_or_0(tag, hn::LoadU(tag, bytes_at(block + i % 32)), static_cast<unsigned>(i / 32), 4);
    store(tag, hn::Sub(hn::Or(low, high), hn::Set(tag, std::uint8_t{4})), out.codes + i);
  });
}

HWY_INLINE void expand_k_scales(const std::byte* block, Expanded& out) {
  const float d = half_of(block), dmin = half_of(block + 2);
  // All scales, then all minimums: four bytes per number.
  const auto a = load_le<std::uint32_t>(block + 4), b = load_le<std::uint32_t>(block + 8);
  const auto c = load_le<std::uint32_t>(block + 12);
  const std::uint32_t words[4] = {a & 0x3F3F3F3Fu, (c & 0x0F0F0F0Fu) | (a >> 2 & 0x30303030u), b & 0x3F3F3F3Fu,
                                  (c >> 4 & 0x0F0F0F0Fu) | (b >> 2 & 0x30303030u)};
  scale_bytes(words[0], words[1], d, out.scale);
  scale_bytes(words[2], words[3], -dmin, out.minimum);
}

void expand_q4_k(const std::byte* block, std::size_t, Expanded& out) {
  const Whole d;
  expand_k_scales(block, out);
  for (std::size_t pair = 0; pair < 4; ++pair)
    for (std::size_t i = 0; i < 32; i += kWhole) {
      const auto both = hn::LoadU(d, bytes_at(block + 16 + 32 * pair + i));
      store(d, field<0, 4>(d, both), out.codes + 64 * pair + i);
      store(d, field<4, 4>(d, both), out.codes + 64 * pair + 32 + i);
    }
}

void expand_q5_k(const std::byte* block, std::size_t, Expanded& out) {
  const Whole d;
  expand_k_scales(block, out);
  for (std::size_t i = 0; i < 32; i += kWhole) {
    const auto high = hn::LoadU(d, bytes_at(block + 16 + i));
    for (unsigned pair = 0; pair < 4; ++pair) {
      const auto both = hn::LoadU(d, bytes_at(block + 48 + 32 * pair + i));
      store(d, hn::Or(field<0, 4>(d, both), bit_or_0(d, high, 2 * pair, 16)), out.codes + 64 * pair + i);
      store(d, hn::Or(field<4, 4>(d, both), bit_or_0(d, high, 2 * pair + 1, 16)), out.codes + 64 * pair + 32 + i);
    }
  }
}

HWY_INLINE void expand_q6_scales(const std::byte* block, Expanded& out) {
  const hn::CappedTag<float, 16> d;
  const hn::Rebind<std::int32_t, decltype(d)> whole;
  const hn::Rebind<std::int8_t, decltype(d)> bytes;
  const auto scale = hn::Set(d, half_of(block + 208));
  for (std::size_t k = 0; k < 16; k += hn::MaxLanes(d)) {
    const auto* const at = reinterpret_cast<const std::int8_t*>(block + 192 + k);
    hn::Store(hn::Mul(hn::ConvertTo(d, hn::PromoteTo(whole, hn::LoadU(bytes, at))), scale), d, out.scale + k);
  }
}

void expand_q6_k(const std::byte* block, std::size_t, Expanded& out) {
  const Whole d;
  const hn::Repartition<std::uint16_t, Whole> wide;
  expand_q6_scales(block, out);
  const auto less = hn::Set(d, std::uint8_t{32}), mask = hn::Set(d, std::uint8_t{0x30});
  for (std::size_t half = 0; half < 2; ++half)
    for (std::size_t i = 0; i < 32; i += kWhole) {
      const auto a = hn::LoadU(d, bytes_at(block + 64 * half + i));
      const auto b = hn::LoadU(d, bytes_at(block + 64 * half + 32 + i));
      const auto high = hn::BitCast(wide, hn::LoadU(d, bytes_at(block + 128 + 32 * half + i)));
      std::int8_t* const to = out.codes + 128 * half + i;
      const auto put = [&](hn::Vec<Whole> low, hn::Vec<decltype(wide)> up, std::int8_t* at)
                           HWY_ATTR { store(d, hn::Sub(hn::Or(low, hn::And(hn::BitCast(d, up), mask)), less), at); };
      put(field<0, 4>(d, a), hn::ShiftLeft<4>(high), to);
      put(field<0, 4>(d, b), hn::ShiftLeft<2>(high), to + 32);
      put(field<4, 4>(d, a), high, to + 64);
      put(field<4, 4>(d, b), hn::ShiftRight<2>(high), to + 96);
    }
}

void expand_q8_k(const std::byte* block, std::size_t, Expanded& out) {
  std::fill_n(out.scale, 8, load_le<float>(block));
  std::memcpy(out.codes, block + 4, kChunk);
}

void expand_iq4_xs(const std::byte* block, std::size_t, Expanded& out) {
  const float d = half_of(block);
  const unsigned high = load_le<std::uint16_t>(block + 2), low = load_le<std::uint32_t>(block + 4);
  for (unsigned k = 0; k < 8; ++k) {
    out.scale[k] = d * static_cast<float>(static_cast<int>((low >> (4 * k) & 15) | (high >> (2 * k) & 3) << 4) - 32);
    look_up(kIq4Bytes, block + 8 + 16 * k, out.codes + 32 * k);
  }
}

// kDigits base-3 digits of each of kRun bytes.
template <std::size_t kRun, std::size_t kDigits>
HWY_INLINE void expand_digits(const std::byte* from, std::int8_t* to) {
  const hn::CappedTag<std::uint16_t, kRun> wide;
  const hn::Rebind<std::uint8_t, decltype(wide)> d;
  constexpr std::size_t kLanes = hn::MaxLanes(wide);
  for (std::size_t i = 0; i < kRun; i += kLanes) {
    auto rest = hn::PromoteTo(wide, hn::LoadU(d, bytes_at(from + i)));
    for (std::size_t digit = 0; digit < kDigits; ++digit) {
      const auto next = hn::Add(hn::Add(rest, rest), rest);
      const auto code = hn::BitCast(hn::RebindToSigned<decltype(wide)>(), hn::ShiftRight<8>(next));
      store(d, hn::Sub(hn::DemoteTo(d, code), hn::Set(d, std::uint8_t{1})), to + kRun * digit + i);
      rest = hn::And(next, hn::Set(wide, std::uint16_t{255}));
    }
  }
}

void expand_tq1_0(const std::byte* block, std::size_t, Expanded& out) {
  std::fill_n(out.scale, 8, half_of(block + 52));
  expand_digits<32, 5>(block, out.codes);
  expand_digits<16, 5>(block + 32, out.codes + 160);
  expand_digits<4, 4>(block + 48, out.codes + 240);
}

void expand_tq2_0(const std::byte* block, std::size_t, Expanded& out) {
  std::fill_n(out.scale, 8, half_of(block + 64));
  for_all_crumbs(block, [&](Whole tag, hn::Vec<Whole> code, std::size_t i)
                            HWY_ATTR { store(tag, hn::Sub(code, hn::Set(tag, std::uint8_t{1})), out.codes + i); });
}

}  // namespace
}  // namespace tare::codec::ggml::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#include "codecs/ggml/simd_expand_grids.hpp"

HWY_BEFORE_NAMESPACE();
namespace tare::codec::ggml::HWY_NAMESPACE {
namespace {

// How the kernels decode a type.
struct Shapes {
  Type type;
  std::size_t weights, bytes;  // per block
  std::size_t part;
  bool minimum;
  // Expands `count` blocks, up to 256 weights.
  void (*expand)(const std::byte* blocks, std::size_t count, Expanded& out);
};

constexpr Shapes shapes(Type type, std::size_t part, bool minimum,
                        void (*expand)(const std::byte* blocks, std::size_t count, Expanded& out)) {
  return {type, facts_of(type).weights, facts_of(type).bytes, part, minimum, expand};
}

HWY_INLINE const Shapes& shapes_of(Type type) {
  static constexpr Shapes kShapes[] = {
      shapes(Type::q4_0, 32, false, expand_nibbles<Type::q4_0, 2, 8, false>),
      shapes(Type::q4_1, 32, true, expand_nibbles<Type::q4_1, 4, 0, true>),
      shapes(Type::q5_0, 32, false, expand_fives<Type::q5_0, 2, 16, false>),
      shapes(Type::q5_1, 32, true, expand_fives<Type::q5_1, 4, 0, true>),
      shapes(Type::q8_0, 32, false, expand_bytes<Type::q8_0, 2>),
      shapes(Type::q8_1, 32, false, expand_bytes<Type::q8_1, 4>),
      shapes(Type::q2_k, 16, true, expand_q2_k),
      shapes(Type::q3_k, 16, false, expand_q3_k),
      shapes(Type::q4_k, 32, true, expand_q4_k),
      shapes(Type::q5_k, 32, true, expand_q5_k),
      shapes(Type::q6_k, 16, false, expand_q6_k),
      shapes(Type::q8_k, 32, false, expand_q8_k),
      shapes(Type::iq4_nl, 32, false, expand_iq4_nl),
      shapes(Type::iq4_xs, 32, false, expand_iq4_xs),
      shapes(Type::tq1_0, 32, false, expand_tq1_0),
      shapes(Type::tq2_0, 32, false, expand_tq2_0),
      shapes(Type::mxfp4, 32, false, expand_mxfp4),
      shapes(Type::nvfp4, 16, false, expand_nvfp4),
      shapes(Type::q1_0, 32, false, expand_q1_0),
      shapes(Type::q2_0, 32, false, expand_q2_0),
      shapes(Type::iq2_xxs, 32, false, expand_iq2_xxs),
      shapes(Type::iq2_xs, 16, false, expand_iq2_xs),
      shapes(Type::iq2_s, 16, false, expand_iq2_s),
      shapes(Type::iq3_xxs, 32, false, expand_iq3_xxs),
      shapes(Type::iq3_s, 32, false, expand_iq3_s),
      shapes(Type::iq1_s, 32, false, expand_iq1_s),
      shapes(Type::iq1_m, 16, false, expand_iq1_m),
  };
  static_assert(is_by_type(kShapes));
  return kShapes[static_cast<std::size_t>(type)];
}

// Calls work(expanded, first weight, number of weights) for up to 256 weights at a time.
template <class Work>
HWY_INLINE void for_chunks(const Shapes& shapes, const std::byte* blocks, std::size_t count, const Work& work) {
  const std::size_t most = kChunk / shapes.weights;
  Expanded expanded;
  for (std::size_t b = 0; b < count; b += most) {
    const std::size_t here = std::min(most, count - b);
    shapes.expand(blocks + b * shapes.bytes, here, expanded);
    work(expanded, b * shapes.weights, here * shapes.weights);
  }
}

}  // namespace
}  // namespace tare::codec::ggml::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
// NOLINTEND(misc-definitions-in-headers)

#endif
#endif
