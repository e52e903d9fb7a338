// The kernels of encode_kernels.hpp for every SIMD target: they choose the scales (encode_simd_scales.hpp, and
// encode_simd_search.hpp unless `fast`), then the codes for them.
#include "base/simd_targets.hpp"
#include "codecs/mcf/encode_kernels.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/mcf/encode_simd.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/endian.hpp"
#include "codecs/mcf/encode_simd_scales.hpp"
#include "codecs/mcf/encode_simd_search.hpp"

HWY_BEFORE_NAMESPACE();
namespace tare::codec::mcf::HWY_NAMESPACE {
namespace {

// --- codes

// Makes codes, one per byte. kCut clamps them; `fast` q* need no clamping, as their scale is so close to absmax / qmax.
template <bool kCut>
void put_bytes(const float* values, const Scales& s, std::size_t blocks, float qmax, std::uint8_t* codes) {
  const V most = hn::Set(kFloat, qmax), least = hn::Neg(most), magic = hn::Set(kFloat, 0x1.8p23f);
  const hn::RebindToUnsigned<FloatTag> d32;
  const hn::Rebind<std::uint8_t, FloatTag> d8;
  alignas(64) float inverse[kBatch];
  for (std::size_t b = 0; b < blocks; b += kLanes) {
    const V scale = hn::Load(kFloat, s.block + b);
    const V quotient = hn::Div(hn::Set(kFloat, 1), scale);
    hn::Store(hn::IfThenElseZero(hn::Gt(scale, hn::Zero(kFloat)), quotient), kFloat, inverse + b);
  }
  for (std::size_t b = 0; b < blocks; ++b) {
    const V v = hn::Set(kFloat, inverse[b]);
    for (std::size_t i = b * kBlock; i < (b + 1) * kBlock; i += kLanes) {
      V q = hn::Mul(hn::LoadU(kFloat, values + i), v);
      if constexpr (kCut) q = hn::Min(hn::Max(q, least), most);
      // The sum has the integer (ties to even) in its lowest bits.
      hn::StoreU(hn::TruncateTo(d8, hn::BitCast(d32, hn::Add(q, magic))), d8, codes + i);
    }
  }
}

// Joins the lower kBits of every two neighbouring fields of kWidth bits.
template <unsigned kWidth, unsigned kBits>
HWY_INLINE std::uint64_t join(std::uint64_t x) {
  constexpr std::uint64_t kPairs = std::numeric_limits<std::uint64_t>::max() >> (64 - 2 * kWidth);
  constexpr std::uint64_t kLow = std::numeric_limits<std::uint64_t>::max() / kPairs * ((std::uint64_t{1} << kBits) - 1);
  return (x & kLow) | ((x >> (kWidth - kBits)) & (kLow << kBits));
}

// Packs eight codes of one byte each into kBits bytes, the first code in the lowest bits. `count` is a multiple of 8.
template <unsigned kBits>
void pack(const std::uint8_t* codes, std::size_t count, std::byte* out) {
  for (std::size_t i = 0; i < count; i += 8) {
    std::uint64_t x = load_le<std::uint64_t>(codes + i);
    x = join<32, 4 * kBits>(join<16, 2 * kBits>(join<8, kBits>(x)));
    if constexpr (!kLittleEndianHost) x = byte_swapped(x);
    std::memcpy(out + i / 8 * kBits, &x, kBits);
  }
}

void pack_nibbles(const std::uint8_t* codes, std::size_t count, std::byte* out) {
  std::size_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kLittleEndianHost) {
    const hn::Repartition<std::uint8_t, FloatTag> bytes;
    const hn::Repartition<std::uint16_t, FloatTag> d16;
    const hn::Rebind<std::uint8_t, decltype(d16)> d8;
    constexpr std::size_t kStep = 4 * kLanes;
    for (; done + kStep <= count; done += kStep) {
      const auto x = hn::BitCast(d16, hn::LoadU(bytes, codes + done));
      const auto low = hn::And(x, hn::Set(d16, 0x0F)), high = hn::And(hn::ShiftRight<4>(x), hn::Set(d16, 0xF0));
      hn::StoreU(hn::TruncateTo(d8, hn::Or(low, high)), d8, reinterpret_cast<std::uint8_t*>(out + done / 2));
    }
  }
#endif
  pack<4>(codes + done, count - done, out + done / 2);
}

void put_codes(unsigned bits, const std::uint8_t* bytes, std::size_t count, std::byte* out) {
  switch (bits) {
    case 6: pack<6>(bytes, count, out); break;
    case 4: pack_nibbles(bytes, count, out); break;
    case 3: pack<3>(bytes, count, out); break;
    default: pack<2>(bytes, count, out); break;
  }
}

// --- losses

HWY_INLINE V load_bytes(const std::uint8_t* codes) {
  const hn::Rebind<std::int8_t, FloatTag> d8;
  return hn::ConvertTo(kFloat, hn::PromoteTo(kInt, hn::LoadU(d8, reinterpret_cast<const std::int8_t*>(codes))));
}

struct Sums {
  double squares = 0, errors = 0;
};

// Whether f32 was enough: no square that matters underflowed or overflowed.
bool is_accurate(float sum) { return sum >= 0x1p-100f && sum <= std::numeric_limits<float>::max(); }

// The sums of one block.
Sums sums_in_f64(const float* values, float scale, float zero, const std::uint8_t* codes) {
  Sums sums;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const double x = values[i], back = scale * (static_cast<float>(static_cast<std::int8_t>(codes[i])) - zero);
    sums.squares += x * x;
    sums.errors += (x - back) * (x - back);
  }
  return sums;
}

void measure(const float* values, const float* scales, float zero_number, const std::uint8_t* codes, std::size_t blocks,
             std::uint64_t first, Loss& loss) {
  const V zero = hn::Set(kFloat, zero_number);
  V max_error = hn::Zero(kFloat);
  for (std::size_t b = 0; b < blocks; ++b) {
    const V scale = hn::Set(kFloat, scales[b]);
    V squares = hn::Zero(kFloat), errors = hn::Zero(kFloat);
    for (std::size_t i = b * kBlock; i < (b + 1) * kBlock; i += kLanes) {
      const V x = hn::LoadU(kFloat, values + i);
      const V e = hn::Sub(x, hn::Mul(scale, hn::Sub(load_bytes(codes + i), zero)));
      squares = hn::MulAdd(x, x, squares);
      errors = hn::MulAdd(e, e, errors);
      max_error = hn::Max(max_error, hn::Abs(e));
    }
    const float squared_sum = hn::GetLane(hn::SumOfLanes(kFloat, squares));
    const float squared_error = hn::GetLane(hn::SumOfLanes(kFloat, errors));
    const std::size_t at = b * kBlock;
    const Sums sums = is_accurate(squared_sum) && is_accurate(squared_error)
                          ? Sums{squared_sum, squared_error}
                          : sums_in_f64(values + at, scales[b], zero_number, codes + at);
    loss.squared_sum += sums.squares;
    loss.squared_error += sums.errors;
    if (sums.errors > loss.worst_error) {
      loss.worst_error = sums.errors;
      loss.worst_block = first + b;
    }
  }
  loss.max_error = std::max(loss.max_error, hn::GetLane(hn::MaxOfLanes(kFloat, max_error)));
}

// --- all steps for some blocks

void choose_better(const Blocks& in, std::size_t first, std::size_t blocks, Scales& s) {
  const bool super = in.method->family == Family::super, weighted = in.importance != nullptr;
  const auto search = super ? (weighted ? search_supers<true> : search_supers<false>)
                            : (weighted ? search_blocks<true> : search_blocks<false>);
  for (std::size_t at = 0; at < blocks; at += kTile) search(in, first + at, std::min(kTile, blocks - at), at, s);
}

Encoded encode_blocks(const Blocks& in, const Coded& out, Loss* loss, std::uint64_t number) {
  const Method& method = *in.method;
  const bool super = method.family == Family::super;
  const auto qmax = static_cast<float>(method.qmax);
  Encoded result;
  const bool cut = super || !in.fast;
  Scales s{};
  alignas(64) std::uint8_t buffer[kBatch * kBlock];
  for (std::size_t first = 0; first < in.count; first += kBatch) {
    const std::size_t blocks = std::min(kBatch, in.count - first);
    const float* const values = in.values + first * kBlock;
    const float most = block_absmax(values, blocks, s.absmax);
    if (!(most <= std::numeric_limits<float>::max())) {
      std::size_t bad = 0;
      while (s.absmax[bad] <= std::numeric_limits<float>::max()) ++bad;
      return {Encoded::Status::not_finite, first + bad, result.absmax};
    }
    result.absmax = std::max(result.absmax, most);
    const std::size_t fitting = super ? fast_supers(qmax, blocks, s) : fast_blocks(qmax, blocks, s);
    if (fitting != blocks) return {Encoded::Status::overflow, first + fitting, result.absmax};
    if (!in.fast) choose_better(in, first, blocks, s);

    const std::size_t scales = super ? blocks / kBlocksInSuper : blocks;
    std::byte* const to = out.scales + 2 * (super ? first / kBlocksInSuper : first);
    if constexpr (kLittleEndianHost)
      std::memcpy(to, s.bits, 2 * scales);
    else
      for (std::size_t i = 0; i < scales; ++i) store_le<std::uint16_t>(to + 2 * i, s.bits[i]);
    if (super) std::memcpy(out.sub_scales + first, s.sub, blocks);
    std::byte* const to_codes = out.codes + first * method.block_bytes();
    std::uint8_t* const codes = method.bits == 8 ? reinterpret_cast<std::uint8_t*>(to_codes) : buffer;
    (cut ? put_bytes<true> : put_bytes<false>)(values, s, blocks, qmax, codes);
    if (method.bits != 8) put_codes(method.bits, codes, blocks * kBlock, to_codes);
    if (loss == nullptr) continue;
    measure(in.source + first * kBlock, s.block, 0, codes, blocks, number + first, *loss);
    loss->scales += scales;
    loss->subnormal += static_cast<std::uint64_t>(
        std::count_if(s.bits, s.bits + scales, [](std::uint16_t bits) { return bits != 0 && !is_normal_f16(bits); }));
  }
  return result;
}

// Returns the values, or a copy of them that is padded with zeros to a whole block.
const float* padded(const float* values, std::size_t count, float* copy) {
  if (count % kBlock == 0) return values;
  std::copy_n(values, count, copy);
  std::fill_n(copy + count, kBlock - count % kBlock, 0.0f);
  return copy;
}

void encode_raw(const Raw& in, std::byte* out, Loss* loss, std::uint64_t number) {
  const Method& method = *in.method;
  const ScaleZero& parameters = in.parameters;
  const int lowest = in.domain == Domain::weights ? -method.qmax : -method.qmax - 1;
  const V most = hn::Set(kFloat, static_cast<float>(method.qmax)), least = hn::Set(kFloat, static_cast<float>(lowest));
  const V scale = hn::Set(kFloat, parameters.scale), zero = hn::Set(kFloat, parameters.zero);
  const hn::RebindToUnsigned<FloatTag> d32;
  const hn::Rebind<std::uint8_t, FloatTag> d8;
  const V magic = hn::Set(kFloat, 0x1.8p23f);
  alignas(64) std::uint8_t codes[kBatch * kBlock];
  alignas(64) float last[kBatch * kBlock], last_source[kBatch * kBlock];
  alignas(64) float scales[kBatch];
  std::fill_n(scales, kBatch, parameters.scale);
  for (std::size_t first = 0; first < in.count; first += kBatch * kBlock) {
    const std::size_t here = std::min(kBatch * kBlock, in.count - first);
    const std::size_t blocks = (here + kBlock - 1) / kBlock;
    const float* const from = padded(in.values + first, here, last);
    for (std::size_t i = 0; i < blocks * kBlock; i += kLanes) {
      if (parameters.scale == 0) {
        hn::StoreU(hn::Zero(d8), d8, codes + i);
        continue;
      }
      const V q = hn::Add(round(hn::Div(hn::LoadU(kFloat, from + i), scale)), zero);
      const V whole = hn::Min(hn::Max(q, least), most);
      hn::StoreU(hn::TruncateTo(d8, hn::BitCast(d32, hn::Add(whole, magic))), d8, codes + i);
    }
    if (loss != nullptr)
      measure(padded(in.source + first, here, last_source), scales, parameters.zero, codes, blocks,
              number + first / kBlock, *loss);
    if (method.bits == 8) {
      std::memcpy(out + first, codes, here);
    } else {
      std::byte packed[kBatch * kBlock / 2];
      std::fill(codes + here, codes + blocks * kBlock, std::uint8_t{0});
      pack_nibbles(codes, blocks * kBlock, packed);
      std::memcpy(out + first / 2, packed, (here + 1) / 2);
    }
  }
}

Range range(const float* values, std::size_t count) {
  const auto mask = hn::Set(kInt, 0x7FFFFFFF);
  V low = hn::Zero(kFloat), high = hn::Zero(kFloat);
  auto most = hn::Zero(kInt);
  std::size_t i = 0;
  if (count >= kLanes) low = high = hn::LoadU(kFloat, values);
  for (; i + kLanes <= count; i += kLanes) {
    const V x = hn::LoadU(kFloat, values + i);
    most = hn::Max(most, hn::And(hn::BitCast(kInt, x), mask));
    low = hn::Min(low, x);
    high = hn::Max(high, x);
  }
  Range result{values[0], values[0], hn::GetLane(hn::MaxOfLanes(kInt, most)) < 0x7F800000};
  if (i > 0) {
    result.min = hn::GetLane(hn::MinOfLanes(kFloat, low));
    result.max = hn::GetLane(hn::MaxOfLanes(kFloat, high));
  }
  for (; i < count; ++i) {
    result.min = std::min(result.min, values[i]);
    result.max = std::max(result.max, values[i]);
    result.finite = result.finite && std::isfinite(values[i]);
  }
  return result;
}

}  // namespace
}  // namespace tare::codec::mcf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare::codec::mcf {
namespace {

HWY_EXPORT(encode_blocks);
HWY_EXPORT(encode_raw);
HWY_EXPORT(range);

}  // namespace

Encoded encode_blocks(const Blocks& blocks, const Coded& out, Loss* loss, std::uint64_t first) {
  return HWY_DYNAMIC_DISPATCH(encode_blocks)(blocks, out, loss, first);
}

void encode_raw(const Raw& in, std::byte* codes, Loss* loss, std::uint64_t first_block) {
  HWY_DYNAMIC_DISPATCH(encode_raw)(in, codes, loss, first_block);
}

Range range_of(const float* values, std::size_t count) {
  return count == 0 ? Range() : HWY_DYNAMIC_DISPATCH(range)(values, count);
}

}  // namespace tare::codec::mcf

#endif
