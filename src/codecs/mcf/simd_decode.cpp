// Decoding to f32, and products of rows with a float vector, for every SIMD target.
//
// Codes of less than 8 bits are first expanded to bytes on the stack, 512 at a time, which stay in the L1 cache. From
// there (or directly from the payload) bytes are widened to f32 when they are loaded.
#include "base/simd_targets.hpp"
#include "codecs/mcf/kernels.hpp"
#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/mcf/simd_decode.cpp"
#include <hwy/foreach_target.h>

#include "codecs/mcf/simd_unpack.hpp"

HWY_BEFORE_NAMESPACE();
namespace tare::codec::mcf::HWY_NAMESPACE {
namespace {

#if TARE_MCF_HAS_SIMD

HWY_INLINE hn::Vec<FloatTag> load_code_floats(const std::int8_t* codes) {
  const hn::Rebind<std::int32_t, FloatTag> di;
  return hn::ConvertTo(FloatTag(), hn::PromoteTo(di, hn::LoadU(hn::Rebind<std::int8_t, FloatTag>(), codes)));
}

// out = scale * code for whole blocks.
HWY_INLINE void scale_blocks(const std::int8_t* codes, const float* scales, std::size_t blocks, float* out) {
  const FloatTag d;
  for (std::size_t b = 0; b < blocks; ++b) {
    const auto scale = hn::Set(d, scales[b]);
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < kBlock; i += hn::MaxLanes(d))
      hn::StoreU(hn::Mul(scale, load_code_floats(codes + b * kBlock + i)), d, out + b * kBlock + i);
  }
}

template <unsigned kBits, Family kFamily>
void decode_row(const RowSpan& row, float* out) {
  for_each_segment<kBits, kFamily>(
      row, [&](const SegmentBytes& at, std::size_t first, std::size_t blocks) TARE_MCF_LAMBDA {
        alignas(64) float scales[kSegmentBlocks];
        segment_scales<kFamily>(at.scales, at.sub_scales, scales);
        CodeBuffer buffer;
        const std::int8_t* const codes = spread<kBits>(at.codes, blocks * kBlock, buffer);
        const std::size_t begin = first * kBlock;
        const std::size_t columns = std::min<std::size_t>(blocks * kBlock, row.columns - begin);
        const std::size_t whole = columns / kBlock, left = columns % kBlock;
        scale_blocks(codes, scales, whole, out + begin);
        if (left == 0) return;
        alignas(64) float last[kBlock];
        scale_blocks(codes + whole * kBlock, scales + whole, 1, last);
        std::memcpy(out + begin + whole * kBlock, last, left * sizeof(float));
      });
}

template <unsigned kBits, Family kFamily>
void decode_all(const RowSpan& rows, float* out) {
  for (std::uint64_t r = 0; r < rows.rows; ++r) decode_row<kBits, kFamily>(row_of(rows, r), out + r * rows.columns);
}

void decode_raw(const RowSpan& run, float* out) {
  const FloatTag d;
  const auto scale = hn::Set(d, run.scale), zero = hn::Set(d, run.zero);
  for_each_raw(run, run.rows * run.columns,
               [&](const std::int8_t* codes, std::uint64_t first, std::size_t count) TARE_MCF_LAMBDA {
                 constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());
                 const std::size_t whole = count / kLanes * kLanes;
                 for (std::size_t i = 0; i < whole; i += kLanes)
                   hn::StoreU(hn::Mul(scale, hn::Sub(load_code_floats(codes + i), zero)), d, out + first + i);
                 if (whole == count) return;
                 alignas(64) float last[kLanes];
                 hn::Store(hn::Mul(scale, hn::Sub(load_code_floats(codes + whole), zero)), d, last);
                 std::memcpy(out + first + whole, last, (count - whole) * sizeof(float));
               });
}

template <unsigned kBits, Family kFamily>
void unpack_row(const RowSpan& row, std::int8_t* out) {
  for_each_segment<kBits, kFamily>(
      row, [&](const SegmentBytes& at, std::size_t first, std::size_t blocks) TARE_MCF_LAMBDA {
        CodeBuffer buffer;
        std::memcpy(out + first * kBlock, spread<kBits>(at.codes, blocks * kBlock, buffer), blocks * kBlock);
      });
}

// Adds the sum of scale * (codes times x) over whole blocks to two running sums.
HWY_INLINE void add_blocks(const std::int8_t* codes, const float* scales, const float* x, std::size_t blocks,
                           hn::Vec<FloatTag>& even, hn::Vec<FloatTag>& odd) {
  const FloatTag d;
  constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::int8_t* const c = codes + b * kBlock;
    const float* const v = x + b * kBlock;
    auto sum = hn::Mul(load_code_floats(c), hn::LoadU(d, v));
    HWY_UNROLL(8)
    for (std::size_t i = kLanes; i < kBlock; i += kLanes)
      sum = hn::MulAdd(load_code_floats(c + i), hn::LoadU(d, v + i), sum);
    (b % 2 == 0 ? even : odd) = hn::MulAdd(hn::Set(d, scales[b]), sum, b % 2 == 0 ? even : odd);
  }
}

// The columns of the last segment if it is not complete, padded with zeros.
struct PaddedTail {
  PaddedTail(std::span<const float> vector) {
    first = vector.size() / kSegmentColumns * kSegmentColumns;
    std::fill(std::copy(vector.begin() + static_cast<std::ptrdiff_t>(first), vector.end(), values),
              values + kSegmentColumns, 0.0f);
  }
  std::size_t first;
  alignas(64) float values[kSegmentColumns];
};

template <unsigned kBits, Family kFamily>
float dot_row(const RowSpan& row, const float* vector, const PaddedTail& tail) {
  const FloatTag d;
  auto even = hn::Zero(d), odd = hn::Zero(d);
  for_each_segment<kBits, kFamily>(
      row, [&](const SegmentBytes& at, std::size_t first, std::size_t blocks) TARE_MCF_LAMBDA {
        alignas(64) float scales[kSegmentBlocks];
        segment_scales<kFamily>(at.scales, at.sub_scales, scales);
        CodeBuffer buffer;
        const std::int8_t* const codes = spread<kBits>(at.codes, blocks * kBlock, buffer);
        const std::size_t begin = first * kBlock;
        add_blocks(codes, scales, begin == tail.first ? tail.values : vector + begin, blocks, even, odd);
      });
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

template <unsigned kBits, Family kFamily>
void dot_all(const RowSpan& rows, std::span<const float> vector, float* out) {
  const PaddedTail tail(vector);
  for (std::uint64_t r = 0; r < rows.rows; ++r) out[r] = dot_row<kBits, kFamily>(row_of(rows, r), vector.data(), tail);
}

void dot_raw(const RowSpan& rows, std::span<const float> vector, float* out) {
  const FloatTag d;
  const PaddedTail tail(vector);
  alignas(64) float ones[kSegmentBlocks];
  std::fill(std::begin(ones), std::end(ones), 1.0f);
  double total = 0;
  for (const float x : vector) total += x;
  for (std::uint64_t r = 0; r < rows.rows; ++r) {
    auto even = hn::Zero(d), odd = hn::Zero(d);
    for_each_raw(row_of(rows, r), rows.columns,
                 [&](const std::int8_t* codes, std::uint64_t first, std::size_t count) TARE_MCF_LAMBDA {
                   const auto begin = static_cast<std::size_t>(first);
                   const std::size_t blocks = (count + kBlock - 1) / kBlock;
                   add_blocks(codes, ones, begin == tail.first ? tail.values : vector.data() + begin, blocks, even,
                              odd);
                 });
    const double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
    out[r] = static_cast<float>(rows.scale * (sum - rows.zero * total));
  }
}

void decode(const RowSpan& rows, float* out) {
  if (rows.method->family == Family::raw) return decode_raw(rows, out);
  const bool block = rows.method->family == Family::block;
  switch (rows.method->bits) {
    case 8: return decode_all<8, Family::block>(rows, out);
    case 6: return decode_all<6, Family::super>(rows, out);
    case 4: return block ? decode_all<4, Family::block>(rows, out) : decode_all<4, Family::super>(rows, out);
    case 3: return decode_all<3, Family::super>(rows, out);
    default: return decode_all<2, Family::super>(rows, out);
  }
}

void unpack(const RowSpan& row, std::int8_t* out) {
  if (row.method->family == Family::raw)
    return for_each_raw(row, row.columns,
                        [&](const std::int8_t* codes, std::uint64_t first, std::size_t count)
                            TARE_MCF_LAMBDA { std::memcpy(out + first, codes, count); });
  const bool block = row.method->family == Family::block;
  switch (row.method->bits) {
    case 8: return unpack_row<8, Family::block>(row, out);
    case 6: return unpack_row<6, Family::super>(row, out);
    case 4: return block ? unpack_row<4, Family::block>(row, out) : unpack_row<4, Family::super>(row, out);
    case 3: return unpack_row<3, Family::super>(row, out);
    default: return unpack_row<2, Family::super>(row, out);
  }
}

void dot(const RowSpan& rows, std::span<const float> vector, float* out) {
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

void unpack(const RowSpan& row, std::int8_t* out) {
  const std::uint64_t count = row.method->family == Family::raw ? row.columns : row.blocks() * kBlock;
  for (std::uint64_t i = 0; i < count; ++i)
    out[i] = static_cast<std::int8_t>(code_at(row.method->bits, row.codes, i + (row.odd_start ? 1 : 0)));
}

void decode(const RowSpan& rows, float* out) { reference_decode(rows, {out, rows.rows * rows.columns}); }

void dot(const RowSpan& rows, std::span<const float> vector, float* out) {
  for (std::uint64_t r = 0; r < rows.rows; ++r) out[r] = static_cast<float>(reference_dot(row_of(rows, r), vector));
}

#endif

}  // namespace
}  // namespace tare::codec::mcf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare::codec::mcf {
namespace {

HWY_EXPORT(decode);
HWY_EXPORT(unpack);
HWY_EXPORT(dot);

}  // namespace

void decode_rows(const RowSpan& rows, float* out) {
  if (rows.rows == 0 || rows.columns == 0) return;
  HWY_DYNAMIC_DISPATCH(decode)(rows, out);
}

void unpack_row(const RowSpan& row, std::int8_t* out) {
  if (row.columns != 0) HWY_DYNAMIC_DISPATCH(unpack)(row, out);
}

void dot_rows(const RowSpan& rows, std::span<const float> vector, float* out) {
  if (rows.rows == 0) return;
  if (rows.columns == 0) return static_cast<void>(std::fill_n(out, rows.rows, 0.0f));
  HWY_DYNAMIC_DISPATCH(dot)(rows, vector, out);
}

}  // namespace tare::codec::mcf

#endif
