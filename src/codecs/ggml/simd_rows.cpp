// Decoding and products with floats (kernels.hpp) for every SIMD target. Blocks are expanded to bytes, 256 weights at a
// time, which stay in the L1 cache; from there one kernel serves all types.
#include <vector>

#include "base/simd_targets.hpp"
#include "codecs/ggml/kernels.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/ggml/simd_rows.cpp"
#include <hwy/foreach_target.h>

#include "codecs/ggml/simd_expand.hpp"

HWY_BEFORE_NAMESPACE();
namespace tare::codec::ggml::HWY_NAMESPACE {
namespace {

#if TARE_GGML_HAS_SIMD

using FloatTag = hn::CappedTag<float, 16>;
using V = hn::Vec<FloatTag>;
constexpr FloatTag kFloat;
constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());

HWY_INLINE V load_codes(const std::int8_t* codes) {
  const hn::Rebind<std::int32_t, FloatTag> whole;
  return hn::ConvertTo(kFloat, hn::PromoteTo(whole, hn::LoadU(hn::Rebind<std::int8_t, FloatTag>(), codes)));
}

template <std::size_t kPart, bool kMinimum>
void decode_all(const Shapes& shapes, const std::byte* blocks, std::size_t count, float* out) {
  for_chunks(shapes, blocks, count, [&](const Expanded& from, std::size_t first, std::size_t weights) HWY_ATTR {
    for (std::size_t k = 0; k < weights / kPart; ++k) {
      const V scale = hn::Set(kFloat, from.scale[k]);
      [[maybe_unused]] const V minimum = hn::Set(kFloat, kMinimum ? from.minimum[k] : 0.0f);
      // GCC unrolls loops from 0 to a constant, and no others.
      const std::int8_t* const codes = from.codes + k * kPart;
      float* const to = out + first + k * kPart;
      HWY_UNROLL(8)
      for (std::size_t i = 0; i < kPart; i += kLanes) {
        V weight = hn::Mul(scale, load_codes(codes + i));
        if constexpr (kMinimum) weight = hn::Add(weight, minimum);
        hn::StoreU(weight, kFloat, to + i);
      }
    }
  });
}

template <std::size_t kPart, bool kMinimum>
float dot_row(const Shapes& shapes, const std::byte* blocks, std::size_t count, const float* vector) {
  V even = hn::Zero(kFloat), odd = hn::Zero(kFloat);
  for_chunks(shapes, blocks, count, [&](const Expanded& from, std::size_t first, std::size_t weights) HWY_ATTR {
    for (std::size_t k = 0; k < weights / kPart; ++k) {
      const V scale = hn::Set(kFloat, from.scale[k]);
      [[maybe_unused]] const V minimum = hn::Set(kFloat, kMinimum ? from.minimum[k] : 0.0f);
      V sum = hn::Zero(kFloat);
      const std::int8_t* const codes = from.codes + k * kPart;
      const float* const part = vector + first + k * kPart;
      HWY_UNROLL(8)
      for (std::size_t i = 0; i < kPart; i += kLanes) {
        const V x = hn::LoadU(kFloat, part + i);
        // With a minimum, each weight is computed first: separate sums of scales and minimums would nearly cancel out.
        const V code = load_codes(codes + i);
        sum = hn::MulAdd(kMinimum ? hn::MulAdd(scale, code, minimum) : code, x, sum);
      }
      V& total = k % 2 == 0 ? even : odd;
      total = kMinimum ? hn::Add(total, sum) : hn::MulAdd(scale, sum, total);
    }
  });
  return hn::GetLane(hn::SumOfLanes(kFloat, hn::Add(even, odd)));
}

// Codes that are bytes already are read in place.
void decode_q8(const std::byte* blocks, std::size_t count, float* out) {
  for (std::size_t b = 0; b < count; ++b, blocks += 34, out += 32) {
    const V scale = hn::Set(kFloat, half_of(blocks));
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < 32; i += kLanes)
      hn::StoreU(hn::Mul(scale, load_codes(reinterpret_cast<const std::int8_t*>(blocks) + 2 + i)), kFloat, out + i);
  }
}

void decode_blocks(Type type, const std::byte* blocks, std::size_t count, float* out) {
  const Shapes& shapes = shapes_of(type);
  if (type == Type::q8_0) return decode_q8(blocks, count, out);
  if (shapes.part == 16)
    return (shapes.minimum ? decode_all<16, true> : decode_all<16, false>)(shapes, blocks, count, out);
  (shapes.minimum ? decode_all<32, true> : decode_all<32, false>)(shapes, blocks, count, out);
}

void dot_floats(Type type, const std::byte* blocks, std::size_t rows, std::size_t count, const float* vector,
                float* out) {
  const Shapes& shapes = shapes_of(type);
  const auto row = shapes.part == 16 ? (shapes.minimum ? dot_row<16, true> : dot_row<16, false>)
                                     : (shapes.minimum ? dot_row<32, true> : dot_row<32, false>);
  for (std::size_t r = 0; r < rows; ++r) out[r] = row(shapes, blocks + r * count * shapes.bytes, count, vector);
}

#else

void decode_blocks(Type type, const std::byte* blocks, std::size_t count, float* out) {
  reference_decode(type, blocks, count, out);
}

void dot_floats(Type type, const std::byte* blocks, std::size_t rows, std::size_t count, const float* vector,
                float* out) {
  const TypeFacts& facts = facts_of(type);
  std::vector<float> row(count * facts.weights);
  for (std::size_t r = 0; r < rows; ++r) {
    reference_decode(type, blocks + r * count * facts.bytes, count, row.data());
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i) sum += static_cast<double>(row[i]) * static_cast<double>(vector[i]);
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

HWY_EXPORT(decode_blocks);
HWY_EXPORT(dot_floats);

}  // namespace

void decode(Type type, const std::byte* blocks, std::size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(decode_blocks)(type, blocks, count, out);
}

void dot(Type type, const std::byte* blocks, std::size_t rows, std::size_t count, const float* vector, float* out) {
  HWY_DYNAMIC_DISPATCH(dot_floats)(type, blocks, rows, count, vector, out);
}

}  // namespace tare::codec::ggml

#endif
