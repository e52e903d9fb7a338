// Products of rows with a vector of 8-bit codes, for every SIMD target.
//
// The products of a block are summed as integers: exactly, and with the same result on every target. x86 multiplies
// unsigned by signed bytes, so a row's codes q are used as q + 2^(bits-1), which is one XOR for packed codes, and the
// sum starts at -2^(bits-1) times the sum of the vector's codes to compensate. The vector holds these sums. Codes that
// share a byte (4 and 2 bits) are not reordered: they are masked out in place, and the vector has a copy of its codes
// in the same order. All that is computed once for all rows. Then each block's sum is multiplied by one f32 scale.
#include <array>
#include <limits>

#include "base/simd_targets.hpp"
#include "codecs/mcf/kernels.hpp"
#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/mcf/simd_dot8.cpp"
#include <hwy/foreach_target.h>

#include "codecs/mcf/simd_unpack.hpp"

HWY_BEFORE_NAMESPACE();
namespace tare::codec::mcf::HWY_NAMESPACE {
namespace {

#if TARE_MCF_HAS_SIMD

namespace quad = tare::codec::HWY_NAMESPACE;

using SignedTag = hn::RebindToSigned<CodeTag>;
using SumTag = hn::Repartition<std::int32_t, CodeTag>;
using SumVec = hn::Vec<SumTag>;

inline constexpr std::size_t kVector = hn::MaxLanes(CodeTag());

// Codes per byte, for widths whose codes are used without reordering.
template <unsigned kBits>
inline constexpr std::size_t kPlanes = kBits == 4   ? 2
                                       : kBits == 2 ? 4
                                                    : 1;

// Number of 32-bit lanes that hold the sums of a block, in a vector that is wide enough.
template <unsigned kBits>
inline constexpr std::size_t kLanesOfBlock = kBlock / kPlanes<kBits> / 4;

template <unsigned kBits>
HWY_INLINE const Vector::Planes& planes_of(const Vector& vector) {
  if constexpr (kPlanes<kBits> == 4)
    return vector.fours;
  else if constexpr (kPlanes<kBits> == 2)
    return vector.twos;
  else
    return vector.ones;
}

// Plane `kPlane` of a vector of row bytes: codes plus 2^(bits-1).
template <unsigned kBits, std::size_t kPlane>
HWY_INLINE hn::Vec<CodeTag> plane_of(hn::Vec<CodeTag> shifted) {
  const CodeTag d;
  if constexpr (kPlanes<kBits> == 1) {
    return shifted;
  } else {
    const hn::Repartition<std::uint16_t, CodeTag> wide;
    const auto mask = hn::Set(d, std::uint8_t{(1 << kBits) - 1});
    if constexpr (kPlane == 0)
      return hn::And(shifted, mask);
    else
      return hn::And(hn::BitCast(d, hn::ShiftRight<kPlane * kBits>(hn::BitCast(wide, shifted))), mask);
  }
}

// A vector of row bytes (3 and 6 bits: of codes expanded to bytes), each code plus 2^(bits-1).
template <unsigned kBits>
HWY_INLINE hn::Vec<CodeTag> shifted_codes(const std::uint8_t* from) {
  const CodeTag d;
  constexpr unsigned kSign = kBits == 4 ? 0x88 : kBits == 2 ? 0xAA : 1u << (kBits - 1);
  if constexpr (kPlanes<kBits> == 1)
    return hn::Xor(raw_codes<kBits>(d, from), hn::Set(d, std::uint8_t{kSign}));
  else
    return hn::Xor(hn::LoadU(d, from), hn::Set(d, std::uint8_t{kSign}));
}

// Sums of products of the row bytes at `codes`, which begin at `column` of the row, with the vector's codes. Each
// 32-bit lane has the sum for 4 bytes of the row.
template <unsigned kBits>
HWY_INLINE SumVec products(const std::uint8_t* codes, const Vector& vector, std::size_t column) {
  [[maybe_unused]] const CodeTag d;
  [[maybe_unused]] const SumTag d32;
  const Vector::Planes& planes = planes_of<kBits>(vector);
  const std::size_t at = column / kPlanes<kBits>;
  // The vector's codes of one plane.
  const auto x = [&](std::size_t plane) TARE_MCF_LAMBDA {
    return hn::Load(SignedTag(), (kPlanes<kBits> == 1 ? vector.codes.data() : planes.codes[plane].data()) + at);
  };
  [[maybe_unused]] const auto start = [&]() TARE_MCF_LAMBDA {
    const auto offsets = hn::Load(d32, planes.offsets.data() + at / 4);
    if constexpr (kBits == 3 || kBits == 6)
      return hn::ShiftRight<8 - kBits>(offsets);
    else
      return offsets;
  };
#if HWY_TARGET == HWY_AVX3_DL
  const auto q = shifted_codes<kBits>(codes);
  __m512i sum = _mm512_dpbusd_epi32(start().raw, plane_of<kBits, 0>(q).raw, x(0).raw);
  if constexpr (kPlanes < kBits >> 1) sum = _mm512_dpbusd_epi32(sum, plane_of<kBits, 1>(q).raw, x(1).raw);
  if constexpr (kPlanes < kBits >> 2) {
    sum = _mm512_dpbusd_epi32(sum, plane_of<kBits, 2>(q).raw, x(2).raw);
    sum = _mm512_dpbusd_epi32(sum, plane_of<kBits, 3>(q).raw, x(3).raw);
  }
  return SumVec{sum};
#elif TARE_HAS_MADDUBS
  if constexpr (kBits == 8) {
    // Multiplies |q| by x with q's sign: sums of two fit 16 bits (2 * 128 * 127), which 2 * 255 * 127 would not. The
    // magnitude of -128 is 128 as an unsigned byte.
    const auto q = hn::BitCast(SignedTag(), hn::LoadU(d, codes));
    const auto zero = hn::Zero(SignedTag());
    const auto negative = hn::Lt(q, zero);
    const auto signed_x = hn::IfThenElse(negative, hn::Sub(zero, x(0)), x(0));
    const auto magnitude = hn::IfThenElse(negative, hn::Sub(zero, q), q);
    return quad::add_pairs(quad::multiply_pairs(hn::BitCast(d, magnitude), signed_x));
  } else {
    // At most 63 * 127 * 2 for one plane, 15 * 127 * 2 * 2 for two.
    const auto q = shifted_codes<kBits>(codes);
    auto pairs = quad::multiply_pairs(plane_of<kBits, 0>(q), x(0));
    if constexpr (kPlanes < kBits >> 1) pairs = hn::Add(pairs, quad::multiply_pairs(plane_of<kBits, 1>(q), x(1)));
    if constexpr (kPlanes < kBits >> 2) {
      pairs = hn::Add(pairs, quad::multiply_pairs(plane_of<kBits, 2>(q), x(2)));
      pairs = hn::Add(pairs, quad::multiply_pairs(plane_of<kBits, 3>(q), x(3)));
    }
    return hn::Add(start(), quad::add_pairs(pairs));
  }
#else
  const auto q = shifted_codes<kBits>(codes);
  SumVec sum = hn::Zero(d32);
  const auto add_plane = [&](hn::Vec<CodeTag> plane, std::size_t j) TARE_MCF_LAMBDA {
    // Unsigned, so it may wrap.
    const auto s = hn::Sub(plane, hn::Set(CodeTag(), static_cast<std::uint8_t>(1 << (kBits - 1))));
    sum = hn::Add(sum, quad::multiply_quads(hn::BitCast(SignedTag(), s), x(j)));
  };
  add_plane(plane_of<kBits, 0>(q), 0);
  if constexpr (kPlanes < kBits >> 1) add_plane(plane_of<kBits, 1>(q), 1);
  if constexpr (kPlanes < kBits >> 2) {
    add_plane(plane_of<kBits, 2>(q), 2);
    add_plane(plane_of<kBits, 3>(q), 3);
  }
  return sum;
#endif
}

using FloatVec = hn::Vec<FloatTag>;
inline constexpr std::size_t kFloats = hn::MaxLanes(FloatTag());

// Lane i has the value i / kLanes.
template <std::size_t kLanes>
HWY_INLINE SumVec lane_blocks() {
  alignas(64) static constexpr auto kTable = [] {
    std::array<std::int32_t, kFloats> table{};
    for (std::size_t i = 0; i < kFloats; ++i) table[i] = static_cast<std::int32_t>(i / kLanes);
    return table;
  }();
  return hn::Load(SumTag(), kTable.data());
}

// Adds scale * products for the first `blocks` blocks of a segment that begins at `column` of the row. `scales` has the
// products of both scales, for 16 blocks.
template <unsigned kBits>
HWY_INLINE void add_segment(const std::uint8_t* codes, const Vector& vector, std::size_t column, const float* scales,
                            std::size_t blocks, FloatVec& even, FloatVec& odd) {
  const FloatTag d;
  constexpr std::size_t kBlockBytes = kBlock * kBits / 8;
  if constexpr (kLanesOfBlock<kBits> < kFloats) {
    // A vector holds several blocks: their scales are distributed over its lanes.
    constexpr std::size_t kStep = kFloats / kLanesOfBlock<kBits>;  // blocks per vector
    const auto lanes = lane_blocks<kLanesOfBlock<kBits>>();
    const auto add = [&](std::size_t b, FloatVec& sum) TARE_MCF_LAMBDA {
      const std::size_t base = b / kFloats * kFloats;
      const auto index = hn::IndicesFromVec(d, hn::Add(lanes, hn::Set(SumTag(), static_cast<std::int32_t>(b - base))));
      const auto exact = products<kBits>(codes + b * kBlockBytes, vector, column + b * kBlock);
      sum = hn::MulAdd(hn::ConvertTo(d, exact), hn::TableLookupLanes(hn::Load(d, scales + base), index), sum);
    };
    if (blocks == kSegmentBlocks) {
      HWY_UNROLL(8)
      for (std::size_t b = 0; b < kSegmentBlocks; b += 2 * kStep) {
        add(b, even);
        add(b + kStep, odd);
      }
    } else {
      for (std::size_t b = 0; b < blocks; b += kStep) add(b, even);
    }
  } else {
    for (std::size_t b = 0; b < blocks; ++b) {
      auto exact = products<kBits>(codes + b * kBlockBytes, vector, column + b * kBlock);
      for (std::size_t i = kVector; i < kBlock / kPlanes<kBits>; i += kVector)
        exact = hn::Add(exact, products<kBits>(codes + b * kBlockBytes + i * kPlanes<kBits> * kBits / 8, vector,
                                               column + b * kBlock + i * kPlanes<kBits>));
      auto& sum = b % 2 == 0 ? even : odd;
      sum = hn::MulAdd(hn::ConvertTo(d, exact), hn::Set(d, scales[b]), sum);
    }
  }
}

// scales[i] *= of_vector[i] for 16 blocks.
HWY_INLINE void multiply_scales(const float* of_vector, float* HWY_RESTRICT scales) {
  const FloatTag d;
  for (std::size_t i = 0; i < kSegmentBlocks; i += hn::MaxLanes(d))
    hn::Store(hn::Mul(hn::Load(d, scales + i), hn::Load(d, of_vector + i)), d, scales + i);
}

template <unsigned kBits, Family kFamily>
float dot_row(const RowSpan& row, const Vector& vector) {
  const FloatTag d;
  auto even = hn::Zero(d), odd = hn::Zero(d);
  for_each_segment<kBits, kFamily>(row,
                                   [&](const SegmentBytes& at, std::size_t first, std::size_t blocks) TARE_MCF_LAMBDA {
                                     alignas(64) float scales[kSegmentBlocks];
                                     segment_scales<kFamily>(at.scales, at.sub_scales, scales);
                                     multiply_scales(vector.scales.data() + first, scales);
                                     add_segment<kBits>(at.codes, vector, first * kBlock, scales, blocks, even, odd);
                                   });
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

template <unsigned kBits, Family kFamily>
void dot_all(const RowSpan& rows, const Vector& vector, float* out) {
  for (std::uint64_t r = 0; r < rows.rows; ++r) out[r] = dot_row<kBits, kFamily>(row_of(rows, r), vector);
}

// int*: a row's codes, expanded to bytes if they are nibbles, with the vector's scales only.
void dot_raw(const RowSpan& rows, const Vector& vector, float* out) {
  const FloatTag d;
  for (std::uint64_t r = 0; r < rows.rows; ++r) {
    auto even = hn::Zero(d), odd = hn::Zero(d);
    for_each_raw(row_of(rows, r), rows.columns,
                 [&](const std::int8_t* codes, std::uint64_t first, std::size_t count) TARE_MCF_LAMBDA {
                   const auto column = static_cast<std::size_t>(first);
                   add_segment<8>(reinterpret_cast<const std::uint8_t*>(codes), vector, column,
                                  vector.scales.data() + column / kBlock, (count + kBlock - 1) / kBlock, even, odd);
                 });
    const double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
    out[r] = static_cast<float>(rows.scale * (sum - rows.zero * vector.total));
  }
}

void dot8(const RowSpan& rows, const Vector& vector, float* out) {
  if (rows.method->family == Family::raw) return dot_raw(rows, vector, out);
  const bool block = rows.method->family == Family::block;
  switch (rows.method->bits) {
    case 8: return dot_all<8, Family::block>(rows, vector, out);
    case 6: return dot_all<6, Family::super>(rows, vector, out);
    case 4: return block ? dot_all<4, Family::block>(rows, vector, out) : dot_all<4, Family::super>(rows, vector, out);
    case 3: return dot_all<3, Family::super>(rows, vector, out);
    default: return dot_all<2, Family::super>(rows, vector, out);
  }
}

#else

void dot8(const RowSpan& rows, const Vector& vector, float* out) {
  for (std::uint64_t r = 0; r < rows.rows; ++r) out[r] = static_cast<float>(reference_dot(row_of(rows, r), vector));
}

#endif

}  // namespace
}  // namespace tare::codec::mcf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare::codec::mcf {
namespace {

HWY_EXPORT(dot8);

}  // namespace

void dot_rows(const RowSpan& rows, const Vector& vector, float* out) {
  if (rows.rows == 0) return;
  if (rows.columns == 0) return static_cast<void>(std::fill_n(out, rows.rows, 0.0f));
  HWY_DYNAMIC_DISPATCH(dot8)(rows, vector, out);
}

}  // namespace tare::codec::mcf

#endif
