// Products of rows with vectors of 8-bit codes, for every SIMD target, 256 weights at a time.
//
// The products of a part (16 or 32 weights that share a scale) are summed as integers, four neighbours per lane, then
// multiplied by the scales of both sides and added in f32. The codes of the most common types are used directly; those
// of all others are first expanded to bytes. x86 multiplies unsigned by signed bytes, so codes are used as code + n,
// and the sums start at -n times the sum of the vector's codes; the vector holds these for n = 128.
#include <array>
#include <vector>

#include "base/simd_targets.hpp"
#include "codecs/ggml/kernels.hpp"
#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/ggml/simd_dot8.cpp"
#include <hwy/foreach_target.h>

#include "codecs/simd_quads.hpp"
// This header comes after the definitions of targets.
#include "codecs/ggml/simd_expand.hpp"

HWY_BEFORE_NAMESPACE();
namespace tare::codec::ggml::HWY_NAMESPACE {
namespace {

using Vector = QuantizedVector::Data;

#if TARE_GGML_HAS_SIMD

namespace quad = tare::codec::HWY_NAMESPACE;

using Codes = quad::QuadCodes;
using Signed = quad::QuadSigned;
using Sums = quad::QuadSums;
using Floats = hn::Rebind<float, Sums>;
inline constexpr std::size_t kBytes = hn::MaxLanes(Codes()), kQuads = kBytes / 4;

// Multiplies codes from 0 to 127, each stored plus (128 >> kShift). `start`: -128 times the sums of the vector's codes.
template <unsigned kShift>
HWY_INLINE hn::Vec<Sums> multiply_small(hn::Vec<Codes> q, const std::int8_t* x, const std::int32_t* start) {
  const auto codes = hn::Load(Signed(), x);
  auto sums = hn::Zero(Sums());
  if constexpr (kShift < 8) sums = hn::ShiftRight<kShift>(hn::Load(Sums(), start));
#if HWY_TARGET == HWY_AVX3_DL
  return hn::Vec<Sums>{_mm512_dpbusd_epi32(sums.raw, q.raw, codes.raw)};
#elif TARE_HAS_MADDUBS
  return hn::Add(sums, quad::add_pairs(quad::multiply_pairs(q, codes)));
#else
  return hn::Add(sums, quad::multiply_quads(hn::BitCast(Signed(), q), codes));
#endif
}

HWY_INLINE hn::Vec<Sums> multiply_signed(hn::Vec<Signed> q, const std::int8_t* x, const std::int32_t* start) {
  const auto codes = hn::Load(Signed(), x);
#if HWY_TARGET == HWY_AVX3_DL
  const auto shifted = hn::Xor(hn::BitCast(Codes(), q), hn::Set(Codes(), std::uint8_t{0x80}));
  return hn::Vec<Sums>{_mm512_dpbusd_epi32(hn::Load(Sums(), start).raw, shifted.raw, codes.raw)};
#elif TARE_HAS_MADDUBS
  // Multiplies the magnitude of q by x with q's sign, so that sums of two fit 16 bits. The magnitude of -128 is 128 as
  // an unsigned byte.
  (void)start;
  const auto zero = hn::Zero(Signed());
  const auto negative = hn::Lt(q, zero);
  const auto magnitude = hn::IfThenElse(negative, hn::Sub(zero, q), q);
  const auto turned = hn::IfThenElse(negative, hn::Sub(zero, codes), codes);
  return quad::add_pairs(quad::multiply_pairs(hn::BitCast(Codes(), magnitude), turned));
#else
  (void)start;
  return quad::multiply_quads(q, codes);
#endif
}

// The scale of every lane, for the codes from weight `i` on.
template <std::size_t kPart>
HWY_INLINE hn::Vec<Floats> scales_at(const float* scales, std::size_t i) {
  const Floats d;
  constexpr std::size_t kLanes = kPart / 4;
  if constexpr (kLanes >= kQuads) {
    return hn::Set(d, scales[i / kPart]);
  } else {
    // For each quad of a chunk, the index of its scale in the vector of scales that is loaded.
    alignas(64) static constexpr auto kIndex = [] {
      std::array<std::int32_t, kChunk / 4> index{};
      for (std::size_t quad = 0; quad < index.size(); ++quad)
        index[quad] = static_cast<std::int32_t>(quad / kLanes % kQuads);
      return index;
    }();
    const auto scale = hn::Load(d, scales + i / kPart / kQuads * kQuads);
    return hn::TableLookupLanes(scale, hn::IndicesFromVec(d, hn::Load(Sums(), kIndex.data() + i / 4)));
  }
}

// The low (kShift 0) or high (kShift 4) halves of bytes.
template <unsigned kShift, class D>
HWY_INLINE hn::Vec<D> nibbles(D d, const std::byte* at) {
  return field<kShift, 4>(d, hn::LoadU(d, bytes_at(at)));
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
// Loads 32 bytes into both halves of a register; bits_of_halves are the numbers of bits to shift each half by.
HWY_INLINE __m512i twice(const std::byte* at) {
  return _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}
template <short kLow, short kHigh>
HWY_INLINE __m512i bits_of_halves() {
  return _mm512_inserti64x4(_mm512_set1_epi16(kLow), _mm256_set1_epi16(kHigh), 1);
}
#endif

// The codes from weight i on. If a vector is wider than the contiguous codes, its halves are loaded separately.
template <class Where, class D>
HWY_INLINE hn::Vec<D> codes_at(D d, const std::byte* block, std::size_t i) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  if constexpr (Where::kWide && hn::MaxLanes(D()) == 64) return Where::wide_codes(block, i);
#endif
  if constexpr (hn::MaxLanes(D()) > Where::kTogether) {
    const hn::Half<D> half;
    return hn::Combine(d, codes_at<Where>(half, block, i + hn::MaxLanes(half)), codes_at<Where>(half, block, i));
  } else {
    return Where::codes(d, block, i);
  }
}

// ---- per type: the scales of a chunk, its codes from weight i on, and a product that subtracts the codes' offset

struct Q8_0 {
  static constexpr std::size_t kPart = 32, kTogether = 32;
  static constexpr bool kMinimum = false;
  [[maybe_unused]] static constexpr bool kWide = false;
  static HWY_INLINE void scales(const std::byte* block, Expanded& out) { halves(block, 34, 8, out.scale); }
  template <class D>
  static HWY_INLINE hn::Vec<D> codes(D d, const std::byte* block, std::size_t i) {
    return hn::LoadU(d, bytes_at(block + 34 * (i / 32) + 2 + i % 32));
  }
  static HWY_INLINE hn::Vec<Sums> multiply(hn::Vec<Codes> q, const std::int8_t* x, const std::int32_t* start) {
    return multiply_signed(hn::BitCast(Signed(), q), x, start);
  }
};

struct Q4_0 {
  static constexpr std::size_t kPart = 32, kTogether = 16;
  static constexpr bool kMinimum = false;
  [[maybe_unused]] static constexpr bool kWide = true;
  static HWY_INLINE void scales(const std::byte* block, Expanded& out) { halves(block, 18, 8, out.scale); }
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  static HWY_INLINE hn::Vec<Codes> wide_codes(const std::byte* block, std::size_t i) {
    const auto* const at = reinterpret_cast<const __m128i*>(block + 18 * (i / 32) + 2);
    const auto* const next = reinterpret_cast<const __m128i*>(block + 18 * (i / 32) + 20);
    const __m256i two = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(at)), _mm_loadu_si128(next), 1);
    const __m512i four =
        _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 1, 0, 1, 2, 3, 2, 3), _mm512_castsi256_si512(two));
    constexpr std::int64_t kFours = 0x0004000400040004;
    const __m512i shifted = _mm512_srlv_epi16(four, _mm512_setr_epi64(0, 0, kFours, kFours, 0, 0, kFours, kFours));
    return hn::Vec<Codes>{_mm512_and_si512(shifted, _mm512_set1_epi8(15))};
  }
#endif
  template <class D>
  static HWY_INLINE hn::Vec<D> codes(D d, const std::byte* block, std::size_t i) {
    const std::byte* const at = block + 18 * (i / 32) + 2;
    return i % 32 < 16 ? nibbles<0>(d, at) : nibbles<4>(d, at);
  }
  static HWY_INLINE hn::Vec<Sums> multiply(hn::Vec<Codes> q, const std::int8_t* x, const std::int32_t* start) {
    return multiply_small<4>(q, x, start);  // stored plus 8
  }
};

struct Q4K {
  static constexpr std::size_t kPart = 32, kTogether = 32;
  static constexpr bool kMinimum = true;
  [[maybe_unused]] static constexpr bool kWide = true;
  static HWY_INLINE void scales(const std::byte* block, Expanded& out) { expand_k_scales(block, out); }
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  static HWY_INLINE hn::Vec<Codes> wide_codes(const std::byte* block, std::size_t i) {
    const __m512i both = _mm512_srlv_epi16(twice(block + 16 + i / 2), bits_of_halves<0, 4>());
    return hn::Vec<Codes>{_mm512_and_si512(both, _mm512_set1_epi8(15))};
  }
#endif
  template <class D>
  static HWY_INLINE hn::Vec<D> codes(D d, const std::byte* block, std::size_t i) {
    const std::byte* const at = block + 16 + 32 * (i / 64) + i % 32;
    return i % 64 < 32 ? nibbles<0>(d, at) : nibbles<4>(d, at);
  }
  static HWY_INLINE hn::Vec<Sums> multiply(hn::Vec<Codes> q, const std::int8_t* x, const std::int32_t* start) {
    return multiply_small<8>(q, x, start);  // stored as they are
  }
};

struct Q6K {
  static constexpr std::size_t kPart = 16, kTogether = 32;
  static constexpr bool kMinimum = false;
  [[maybe_unused]] static constexpr bool kWide = true;
  static HWY_INLINE void scales(const std::byte* block, Expanded& out) { expand_q6_scales(block, out); }
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  static HWY_INLINE hn::Vec<Codes> wide_codes(const std::byte* block, std::size_t i) {
    const std::size_t half = i / 128;
    const bool lower = i % 128 == 0;
    const __m512i halves = _mm512_loadu_si512(block + 64 * half), bits = twice(block + 128 + 32 * half);
    const __m512i low = lower ? halves : _mm512_srli_epi16(halves, 4);
    const __m512i high =
        lower ? _mm512_sllv_epi16(bits, bits_of_halves<4, 2>()) : _mm512_srlv_epi16(bits, bits_of_halves<0, 2>());
    return hn::Vec<Codes>{
        _mm512_or_si512(_mm512_and_si512(low, _mm512_set1_epi8(15)), _mm512_and_si512(high, _mm512_set1_epi8(0x30)))};
  }
#endif
  template <class D>
  static HWY_INLINE hn::Vec<D> codes(D d, const std::byte* block, std::size_t i) {
    const hn::Repartition<std::uint16_t, D> wide;
    const std::size_t quarter = i % 128 / 32;
    const std::byte* const low = block + 64 * (i / 128) + 32 * (quarter % 2) + i % 32;
    const auto bits = hn::BitCast(wide, hn::LoadU(d, bytes_at(block + 128 + 32 * (i / 128) + i % 32)));
    // Moves the two bits to bits 4 and 5.
    const auto high = quarter == 0   ? hn::ShiftLeft<4>(bits)
                      : quarter == 1 ? hn::ShiftLeft<2>(bits)
                      : quarter == 2 ? bits
                                     : hn::ShiftRight<2>(bits);
    return hn::Or(quarter < 2 ? nibbles<0>(d, low) : nibbles<4>(d, low),
                  hn::And(hn::BitCast(d, high), hn::Set(d, std::uint8_t{0x30})));
  }
  static HWY_INLINE hn::Vec<Sums> multiply(hn::Vec<Codes> q, const std::int8_t* x, const std::int32_t* start) {
    return multiply_small<2>(q, x, start);  // by 32
  }
};

// ---- rows

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
// Adds one block, with all its scales and minimums in one register: the eight scales in the lower lanes, the eight
// minimums in the upper ones. The upper lanes of `minimums` get the minimums times the vector's sums.
HWY_INLINE void add_q4_k(const std::byte* block, const Vector& vector, std::size_t first, hn::Vec<Floats>& even,
                         hn::Vec<Floats>& odd, __m512& minimums) {
  // d and dmin as f16, then the three words a, b, c of k_scale. For every byte:
  //   scales    a & 63 and (c & 15 | a >> 6 << 4)
  //   minimums  b & 63 and (c >> 4 | b >> 6 << 4)
  const __m128i head = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block));
  const __m128i low = _mm_srlv_epi32(_mm_shuffle_epi32(head, _MM_SHUFFLE(3, 2, 3, 1)), _mm_setr_epi32(0, 0, 0, 4));
  const __m128i high = _mm_srli_epi32(_mm_shuffle_epi32(head, _MM_SHUFFLE(2, 2, 1, 1)), 2);
  const __m128i both = _mm_or_si128(_mm_and_si128(low, _mm_setr_epi32(0x3F3F3F3F, 0x0F0F0F0F, 0x3F3F3F3F, 0x0F0F0F0F)),
                                    _mm_and_si128(high, _mm_setr_epi32(0, 0x30303030, 0, 0x30303030)));
  const __m512i factor = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
  const __m512 halves = _mm512_permutexvar_ps(factor, _mm512_castps128_ps512(_mm_cvtph_ps(head)));
  const __m512 of_block = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(both)), halves);
  const __m256 scales = _mm256_loadu_ps(vector.scales.data() + first / 32);
  const __m256 sums = _mm256_loadu_ps(vector.sums.data() + first / 32);
  const __m512 of_vector = _mm512_insertf32x8(_mm512_castps256_ps512(scales), sums, 1);
  const __m512 all = _mm512_mul_ps(of_block, of_vector);
  minimums = _mm512_add_ps(minimums, all);
  const std::int8_t* const x = vector.codes.data() + first;
  const auto add = [&](std::size_t i, hn::Vec<Floats>& total) HWY_ATTR {
    const auto sum = multiply_small<8>(Q4K::wide_codes(block, i), x + i, nullptr);
    const int part = static_cast<int>(i / 32);
    const __m512i parts = _mm512_inserti64x4(_mm512_set1_epi32(part), _mm256_set1_epi32(part + 1), 1);
    total = hn::MulAdd(hn::ConvertTo(Floats(), sum), hn::Vec<Floats>{_mm512_permutexvar_ps(parts, all)}, total);
  };
  add(0, even);
  add(64, odd);
  add(128, even);
  add(192, odd);
}
#endif

using Minimums = hn::CappedTag<float, 8>;

struct Totals {
  hn::Vec<Floats> even, odd;
  hn::Vec<Minimums> minimums;
};
HWY_INLINE Totals nothing() { return {hn::Zero(Floats()), hn::Zero(Floats()), hn::Zero(Minimums())}; }

// Multiplies the scales of both sides for the parts from weight `first` on, and adds the minimums' share. Stores and
// later loads of the scales use the same vector size, because others would prevent store forwarding.
template <std::size_t kPart, bool kMinimum>
HWY_INLINE void meet_scales(Expanded& chunk, const Vector& vector, std::size_t first, Totals& totals) {
  constexpr std::size_t kParts = kChunk / kPart;
  const hn::CappedTag<float, kParts> d;
  const float* const scales = (kPart == 32 ? vector.scales : vector.half_scales).data() + first / kPart;
  for (std::size_t k = 0; k < kParts; k += hn::MaxLanes(d)) {
    const auto both = hn::Mul(hn::LoadU(d, chunk.scale + k), hn::LoadU(d, scales + k));
    if constexpr (kParts < kQuads)
      hn::Store(hn::ZeroExtendVector(Floats(), both), Floats(), chunk.scale);
    else
      hn::Store(both, d, chunk.scale + k);
  }
  if constexpr (kMinimum) {
    const Minimums m;
    const float* const sums = (kPart == 32 ? vector.sums : vector.half_sums).data() + first / kPart;
    for (std::size_t k = 0; k < kParts; k += hn::MaxLanes(m))
      totals.minimums = hn::MulAdd(hn::LoadU(m, chunk.minimum + k), hn::LoadU(m, sums + k), totals.minimums);
  }
}

template <std::size_t kPart, class Multiply>
HWY_INLINE void add_chunk(const Expanded& chunk, Totals& totals, const Multiply& multiply) {
  const Floats d;
  HWY_UNROLL(16)
  for (std::size_t i = 0; i < kChunk; i += 2 * kBytes) {
    totals.even = hn::MulAdd(hn::ConvertTo(d, multiply(i)), scales_at<kPart>(chunk.scale, i), totals.even);
    totals.odd =
        hn::MulAdd(hn::ConvertTo(d, multiply(i + kBytes)), scales_at<kPart>(chunk.scale, i + kBytes), totals.odd);
  }
}

// Adds blocks that are expanded to bytes first.
template <std::size_t kPart, bool kMinimum>
HWY_INLINE void add_expanded(const Shapes& shapes, const std::byte* blocks, std::size_t count, const Vector& vector,
                             std::size_t first, Totals& totals) {
  Expanded chunk;
  const std::size_t weights = count * shapes.weights;
  if (weights < kChunk) std::fill_n(chunk.codes, kChunk, std::int8_t{0});
  shapes.expand(blocks, count, chunk);
  for (std::size_t k = weights / kPart; k < kChunk / kPart; ++k) chunk.scale[k] = chunk.minimum[k] = 0;
  meet_scales<kPart, kMinimum>(chunk, vector, first, totals);
  add_chunk<kPart>(chunk, totals, [&](std::size_t i) HWY_ATTR {
    return multiply_signed(hn::Load(Signed(), chunk.codes + i), vector.codes.data() + first + i,
                           vector.ones.offsets.data() + (first + i) / 4);
  });
}

HWY_INLINE float sum_of(const Totals& totals) {
  return hn::GetLane(hn::SumOfLanes(Floats(), hn::Add(totals.even, totals.odd))) +
         hn::GetLane(hn::SumOfLanes(Minimums(), totals.minimums));
}

template <std::size_t kPart, bool kMinimum>
void dot_expanded(const Shapes& shapes, const std::byte* blocks, std::size_t rows, std::size_t count,
                  const Vector& vector, float* out) {
  const std::size_t most = kChunk / shapes.weights;
  for (std::size_t r = 0; r < rows; ++r, blocks += count * shapes.bytes) {
    Totals totals = nothing();
    for (std::size_t b = 0; b < count; b += most)
      add_expanded<kPart, kMinimum>(shapes, blocks + b * shapes.bytes, std::min(most, count - b), vector,
                                    b * shapes.weights, totals);
    out[r] = sum_of(totals);
  }
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
void dot_q4_k(const std::byte* blocks, std::size_t rows, std::size_t count, const Vector& vector, float* out) {
  for (std::size_t r = 0; r < rows; ++r) {
    auto even = hn::Zero(Floats()), odd = even;
    __m512 minimums = _mm512_setzero_ps();
    for (std::size_t b = 0; b < count; ++b, blocks += 144) add_q4_k(blocks, vector, kChunk * b, even, odd, minimums);
    out[r] = hn::GetLane(hn::SumOfLanes(Floats(), hn::Add(even, odd))) - _mm512_mask_reduce_add_ps(0xFF00, minimums);
  }
}
#endif

template <class Where>
void dot_where(const Shapes& shapes, const std::byte* blocks, std::size_t rows, std::size_t count, const Vector& vector,
               float* out) {
  constexpr std::size_t kPart = Where::kPart;
  const std::size_t most = kChunk / shapes.weights, whole = count / most * most;
  for (std::size_t r = 0; r < rows; ++r, blocks += count * shapes.bytes) {
    Totals totals = nothing();
    for (std::size_t b = 0; b < whole; b += most) {
      const std::byte* const at = blocks + b * shapes.bytes;
      const std::size_t first = b * shapes.weights;
      Expanded chunk;
      Where::scales(at, chunk);
      meet_scales<kPart, Where::kMinimum>(chunk, vector, first, totals);
      add_chunk<kPart>(chunk, totals, [&](std::size_t i) HWY_ATTR {
        return Where::multiply(codes_at<Where>(Codes(), at, i), vector.codes.data() + first + i,
                               vector.ones.offsets.data() + (first + i) / 4);
      });
    }
    if (whole < count)
      add_expanded<kPart, Where::kMinimum>(shapes, blocks + whole * shapes.bytes, count - whole, vector,
                                           whole * shapes.weights, totals);
    out[r] = sum_of(totals);
  }
}

void dot_codes(Type type, const std::byte* blocks, std::size_t rows, std::size_t count, const Vector& vector,
               float* out) {
  const Shapes& shapes = shapes_of(type);
  switch (type) {
    case Type::q8_0: return dot_where<Q8_0>(shapes, blocks, rows, count, vector, out);
    case Type::q4_0: return dot_where<Q4_0>(shapes, blocks, rows, count, vector, out);
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    case Type::q4_k: return dot_q4_k(blocks, rows, count, vector, out);
#else
    case Type::q4_k: return dot_where<Q4K>(shapes, blocks, rows, count, vector, out);
#endif
    case Type::q6_k: return dot_where<Q6K>(shapes, blocks, rows, count, vector, out);
    default: break;
  }
  const auto dot = shapes.part == 16 ? (shapes.minimum ? dot_expanded<16, true> : dot_expanded<16, false>)
                                     : (shapes.minimum ? dot_expanded<32, true> : dot_expanded<32, false>);
  dot(shapes, blocks, rows, count, vector, out);
}

#else

void dot_codes(Type type, const std::byte* blocks, std::size_t rows, std::size_t count, const Vector& vector,
               float* out) {
  const TypeFacts& facts = facts_of(type);
  std::vector<float> row(count * facts.weights);
  for (std::size_t r = 0; r < rows; ++r) {
    reference_decode(type, blocks + r * count * facts.bytes, count, row.data());
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
      sum += static_cast<double>(row[i]) * vector.codes[i] * static_cast<double>(vector.scales[i / Vector::kBlock]);
    out[r] = static_cast<float>(sum);
  }
}

#endif

}  // namespace
}  // namespace tare::codec::ggml::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare::codec::ggml {
namespace {

HWY_EXPORT(dot_codes);

}  // namespace

void dot(Type type, const std::byte* blocks, std::size_t rows, std::size_t count, const QuantizedVector::Data& vector,
         float* out) {
  HWY_DYNAMIC_DISPATCH(dot_codes)(type, blocks, rows, count, vector, out);
}

}  // namespace tare::codec::ggml

#endif
