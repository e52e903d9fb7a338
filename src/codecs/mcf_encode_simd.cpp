// The kernels of mcf_encode_kernels.hpp for every SIMD target.
//
// The search takes 16 blocks at a time and turns them by 90 degrees: lane l of a vector belongs to block l, and the loops
// over the 32 values of a block run over vectors. So each lane does what the scalar reference does, in its order, however
// many lanes a vector has. Where a super-scale is chosen, the lanes are the candidates for it.
#include "codecs/mcf_encode_kernels.hpp"

// Vectors of unknown length (SVE, RVV) are left out: the tiles are laid out by hand.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/mcf_encode_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "codecs/mcf_encode_search.hpp"

HWY_BEFORE_NAMESPACE();
namespace tare::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// At most 16 lanes: half a block, or as many blocks as a tile has.
using FloatTag = hn::CappedTag<float, 16>;
using V = hn::Vec<FloatTag>;
constexpr FloatTag kFloat;
constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());

constexpr std::size_t kTile = 16;   // blocks turned together; two super-blocks
constexpr std::size_t kBatch = 64;  // blocks that pass through the steps together: 8 KiB of values

HWY_INLINE float to_f16(float scale, std::uint16_t& bits) {
  bits = f32_to_f16(scale);
  bits = static_cast<std::uint16_t>(bits + static_cast<unsigned>((scale < 0x1p-14f) & (f16_to_f32(bits) < scale)));
  return f16_to_f32(bits);
}

// rint of numbers below 2^22, ties to even, without the two steps that the instruction takes.
HWY_INLINE V round(V v) {
  const V magic = hn::Set(kFloat, 0x1.8p23f);
  return hn::Sub(hn::Add(v, magic), magic);
}

// --- largest magnitudes

// As bits, among which NaN and infinities are the largest.
void block_absmax(const float* values, std::size_t blocks, float* absmax) {
  const hn::RebindToSigned<FloatTag> di;
  const auto mask = hn::Set(di, 0x7FFFFFFF);
  for (std::size_t b = 0; b < blocks; ++b) {
    auto most = hn::Zero(di);
    for (std::size_t i = 0; i < kMcfBlock; i += kLanes)
      most = hn::Max(most, hn::And(hn::BitCast(di, hn::LoadU(kFloat, values + b * kMcfBlock + i)), mask));
    absmax[b] = std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(di, most)));
  }
}

// --- `fast` scales

struct Scales {
  alignas(64) float absmax[kBatch];
  alignas(64) float block[kBatch];  // S, or S * (u / 32)
  alignas(64) float super[kBatch / kMcfBlocksInSuper];
  std::uint16_t bits[kBatch];  // of each block or super-block
  std::uint8_t sub[kBatch];
};

// Returns the first block (of a super-block) whose scale overflows, or `blocks`.
std::size_t fast_blocks(float qmax, std::size_t blocks, Scales& s) {
  for (std::size_t b = 0; b < blocks; ++b) s.block[b] = to_f16(s.absmax[b] / qmax, s.bits[b]);
  for (std::size_t b = 0; b < blocks; ++b)
    if (s.block[b] > kMcfLargestScale) return b;
  return blocks;
}

std::size_t fast_supers(float qmax, std::size_t blocks, Scales& s) {
  for (std::size_t first = 0; first < blocks; first += kMcfBlocksInSuper) {
    const float largest = *std::max_element(s.absmax + first, s.absmax + first + kMcfBlocksInSuper);
    const float super = to_f16(largest / qmax, s.bits[first / kMcfBlocksInSuper]);
    if (super > kMcfLargestScale) return first;
    s.super[first / kMcfBlocksInSuper] = super;
    for (std::size_t b = first; b < first + kMcfBlocksInSuper; ++b) {
      const float scale = s.absmax[b] / qmax;
      const float u = scale == 0 ? 0 : std::rint(std::clamp((32 * scale) / super, 1.0f, 63.0f));
      s.sub[b] = static_cast<std::uint8_t>(u);
      s.block[b] = super * (u / 32);
    }
  }
  return blocks;
}

// --- the search

// 16 blocks, turned: value i of block l at [(l / kLanes * 32 + i) * kLanes + l % kLanes].
struct Tile {
  alignas(64) float a[kTile * kMcfBlock];   // magnitudes
  alignas(64) float pa[kTile * kMcfBlock];  // times importance
  alignas(64) float p[kTile * kMcfBlock];   // importance
};

template <bool kMagnitude>
HWY_INLINE void turn_block(const float* block, std::size_t lane, float* out) {
  float* const to = out + lane / kLanes * kLanes * kMcfBlock + lane % kLanes;
  for (std::size_t i = 0; i < kMcfBlock; ++i) to[i * kLanes] = kMagnitude ? std::fabs(block[i]) : block[i];
}

template <bool kWeighted>
void turn(const McfBlocks& in, std::size_t first, std::size_t blocks, Tile& tile) {
  static constexpr float kZeros[kMcfBlock] = {};
  for (std::size_t l = 0; l < kTile; ++l) {
    const std::size_t b = first + l;
    turn_block<true>(l < blocks ? in.values + b * kMcfBlock : kZeros, l, tile.a);
    if constexpr (kWeighted)
      turn_block<false>(l < blocks ? in.importance + (in.phase + b) % in.period * kMcfBlock : kZeros, l, tile.p);
  }
  if constexpr (kWeighted)
    for (std::size_t i = 0; i < kTile * kMcfBlock; ++i) tile.pa[i] = tile.p[i] * tile.a[i];
}

struct Fits {
  alignas(64) float scale[kTile];
  alignas(64) float a[kTile];
  alignas(64) float b[kTile];
};

// Lanes [l, l + kLanes) of the fits.
template <bool kWeighted>
HWY_INLINE void best_fits(const Tile& tile, std::size_t l, const float* absmax, float qmax_number,
                          const McfSearch& search, Fits& fits) {
  constexpr unsigned kAtOnce = kLanes == 16 ? 4 : 2;  // as many as there are registers for
  const V qmax = hn::Set(kFloat, qmax_number);
  const V most_abs = hn::LoadU(kFloat, absmax + l);
  const V inverse = hn::Div(qmax, hn::Max(most_abs, hn::Set(kFloat, kMcfLeastAbsmax)));
  V most = hn::Zero(kFloat), scale = hn::Div(most_abs, qmax), a = hn::Zero(kFloat), b = hn::Zero(kFloat);
  const float* const values = tile.a + l * kMcfBlock;
  const float* const weighted = (kWeighted ? tile.pa : tile.a) + l * kMcfBlock;
  const float* const weights = tile.p + l * kMcfBlock;
  for (unsigned c = 0; c < search.count; c += kAtOnce) {
    V v[kAtOnce], sum_a[kAtOnce], sum_b[kAtOnce];
    for (unsigned k = 0; k < kAtOnce; ++k) {
      v[k] = hn::Mul(inverse, hn::Set(kFloat, search.first + static_cast<float>(c + k) * search.step));
      sum_a[k] = sum_b[k] = hn::Zero(kFloat);
    }
    for (std::size_t i = 0; i < kMcfBlock; ++i) {
      const V x = hn::Load(kFloat, values + i * kLanes);
      const V px = kWeighted ? hn::Load(kFloat, weighted + i * kLanes) : x;
      for (unsigned k = 0; k < kAtOnce; ++k) {
        const V q = round(hn::Min(hn::Mul(x, v[k]), qmax));
        const V qq = hn::Mul(q, q);
        sum_a[k] = hn::Add(sum_a[k], hn::Mul(px, q));
        sum_b[k] = hn::Add(sum_b[k], kWeighted ? hn::Mul(hn::Load(kFloat, weights + i * kLanes), qq) : qq);
      }
    }
    for (unsigned k = 0; k < kAtOnce; ++k) {
      const V fitted = hn::Div(sum_a[k], sum_b[k]);
      const V saved = hn::Mul(sum_a[k], fitted);
      const auto better = hn::Gt(saved, most);
      most = hn::IfThenElse(better, saved, most);
      scale = hn::IfThenElse(better, hn::Min(fitted, hn::Set(kFloat, kMcfLargestScale)), scale);
      a = hn::IfThenElse(better, sum_a[k], a);
      b = hn::IfThenElse(better, sum_b[k], b);
    }
  }
  hn::Store(scale, kFloat, fits.scale + l);
  hn::Store(a, kFloat, fits.a + l);
  hn::Store(b, kFloat, fits.b + l);
}

// The losses of blocks [l, l + kLanes) under kCount scales each.
template <bool kWeighted, std::size_t kCount>
HWY_INLINE void losses(const Tile& tile, std::size_t l, float qmax_number, const V (&scale)[kCount], V (&sum)[kCount]) {
  const V qmax = hn::Set(kFloat, qmax_number), zero = hn::Zero(kFloat), one = hn::Set(kFloat, 1);
  const float* const values = tile.a + l * kMcfBlock;
  const float* const weights = tile.p + l * kMcfBlock;
  V v[kCount];
  for (std::size_t k = 0; k < kCount; ++k) {
    v[k] = hn::IfThenElse(hn::Gt(scale[k], zero), hn::Div(one, scale[k]), zero);
    sum[k] = zero;
  }
  for (std::size_t i = 0; i < kMcfBlock; ++i) {
    const V x = hn::Load(kFloat, values + i * kLanes);
    for (std::size_t k = 0; k < kCount; ++k) {
      const V e = hn::Sub(x, hn::Mul(scale[k], round(hn::Min(hn::Mul(x, v[k]), qmax))));
      const V ee = hn::Mul(e, e);
      sum[k] = hn::Add(sum[k], kWeighted ? hn::Mul(hn::Load(kFloat, weights + i * kLanes), ee) : ee);
    }
  }
}

template <bool kWeighted>
void search_blocks(const McfBlocks& in, std::size_t first, std::size_t blocks, std::size_t at, Scales& s) {
  const auto qmax = static_cast<float>(in.method->qmax);
  const McfSearch search = mcf_search(*in.method);
  Tile tile;
  turn<kWeighted>(in, first, blocks, tile);
  Fits fits;
  alignas(64) float searched[kTile];
  alignas(64) float better[kTile];
  std::uint16_t bits[kTile];
  for (std::size_t l = 0; l < kTile; l += kLanes) best_fits<kWeighted>(tile, l, s.absmax + at, qmax, search, fits);
  for (std::size_t l = 0; l < kTile; ++l) searched[l] = to_f16(fits.scale[l], bits[l]);
  for (std::size_t l = 0; l < kTile; l += kLanes) {
    const V scale[2] = {hn::LoadU(kFloat, s.block + at + l), hn::Load(kFloat, searched + l)};
    V loss[2];
    losses<kWeighted>(tile, l, qmax, scale, loss);
    const auto mask = hn::Lt(loss[1], hn::Mul(hn::Set(kFloat, kMcfBetter), loss[0]));
    hn::Store(hn::IfThenElse(mask, hn::Set(kFloat, 1), hn::Zero(kFloat)), kFloat, better + l);
  }
  for (std::size_t l = 0; l < blocks; ++l) {
    if (better[l] == 0) continue;
    s.block[at + l] = searched[l];
    s.bits[at + l] = bits[l];
  }
}

HWY_INLINE V sub_scale(V s, V per_step) {
  return round(hn::Min(hn::Max(hn::Mul(s, per_step), hn::Set(kFloat, 1)), hn::Set(kFloat, 63)));
}

// For the 8 blocks from `b`.
HWY_INLINE float best_super_scale(const Fits& fits, std::size_t b, std::uint16_t& best_bits) {
  const float largest = *std::max_element(fits.scale + b, fits.scale + b + kMcfBlocksInSuper);
  alignas(64) float scales[kMcfSuperTries];
  alignas(64) float saved[kMcfSuperTries];
  std::uint16_t bits[kMcfSuperTries];
  for (unsigned j = 0; j < kMcfSuperTries; ++j)
    scales[j] = to_f16((32 * largest) / static_cast<float>(63 - static_cast<int>(j)), bits[j]);
  for (std::size_t j = 0; j < kMcfSuperTries; j += kLanes) {
    const V super = hn::Load(kFloat, scales + j);
    const V per_step = hn::Div(hn::Set(kFloat, 32), super);
    V sum = hn::Zero(kFloat);
    for (std::size_t k = b; k < b + kMcfBlocksInSuper; ++k) {
      const V u = sub_scale(hn::Set(kFloat, fits.scale[k]), per_step);
      const V t = hn::Mul(super, hn::Mul(u, hn::Set(kFloat, 1.0f / 32)));
      const V fit = hn::Sub(hn::Set(kFloat, fits.a[k] + fits.a[k]), hn::Mul(t, hn::Set(kFloat, fits.b[k])));
      sum = hn::Add(sum, hn::Max(hn::Mul(t, fit), hn::Zero(kFloat)));
    }
    hn::Store(sum, kFloat, saved + j);
  }
  std::size_t best = 0;
  float most = -1;
  for (std::size_t j = 0; j < kMcfSuperTries; ++j) {
    if (saved[j] > most) {
      most = saved[j];
      best = j;
    }
  }
  best_bits = bits[best];
  return scales[best];
}

template <bool kWeighted>
void search_supers(const McfBlocks& in, std::size_t first, std::size_t blocks, std::size_t at, Scales& s) {
  const auto qmax = static_cast<float>(in.method->qmax);
  const McfSearch search = mcf_search(*in.method);
  Tile tile;
  turn<kWeighted>(in, first, blocks, tile);
  Fits fits;
  for (std::size_t l = 0; l < kTile; l += kLanes) best_fits<kWeighted>(tile, l, s.absmax + at, qmax, search, fits);

  constexpr std::size_t kSupers = kTile / kMcfBlocksInSuper;
  std::uint16_t bits[kSupers] = {};
  alignas(64) float super[kTile] = {};  // of each block
  for (std::size_t i = 0; i * kMcfBlocksInSuper < blocks; ++i) {
    const float scale = best_super_scale(fits, i * kMcfBlocksInSuper, bits[i]);
    std::fill_n(super + i * kMcfBlocksInSuper, kMcfBlocksInSuper, scale);
  }

  alignas(64) float chosen[kTile], loss[kTile], fast_loss[kTile];
  for (std::size_t l = 0; l < kTile; l += kLanes) {
    const V one = hn::Set(kFloat, 1), step = hn::Mul(hn::Load(kFloat, super + l), hn::Set(kFloat, 1.0f / 32));
    const V u = sub_scale(hn::Load(kFloat, fits.scale + l), hn::Div(one, step));
    const V below = hn::Max(hn::Sub(u, one), one), above = hn::Min(hn::Add(u, one), hn::Set(kFloat, 63));
    const V scale[4] = {hn::LoadU(kFloat, s.block + at + l), hn::Mul(step, u), hn::Mul(step, below),
                        hn::Mul(step, above)};
    V found[4];
    losses<kWeighted>(tile, l, qmax, scale, found);
    V best = u, least = found[1];
    auto better = hn::Lt(found[2], least);
    best = hn::IfThenElse(better, below, best);
    least = hn::IfThenElse(better, found[2], least);
    better = hn::Lt(found[3], least);
    best = hn::IfThenElse(better, above, best);
    least = hn::IfThenElse(better, found[3], least);
    const auto is_zero = hn::Eq(hn::LoadU(kFloat, s.absmax + at + l), hn::Zero(kFloat));
    hn::Store(hn::IfThenZeroElse(is_zero, best), kFloat, chosen + l);
    hn::Store(hn::IfThenZeroElse(is_zero, least), kFloat, loss + l);
    hn::Store(found[0], kFloat, fast_loss + l);
  }
  for (std::size_t b = 0; b < blocks; b += kMcfBlocksInSuper) {
    float searched = 0, fast = 0;
    for (std::size_t l = b; l < b + kMcfBlocksInSuper; ++l) {
      searched += loss[l];
      fast += fast_loss[l];
    }
    if (!(searched < kMcfBetter * fast)) continue;
    s.bits[(at + b) / kMcfBlocksInSuper] = bits[b / kMcfBlocksInSuper];
    for (std::size_t l = b; l < b + kMcfBlocksInSuper; ++l) {
      s.sub[at + l] = static_cast<std::uint8_t>(chosen[l]);
      s.block[at + l] = super[l] * (chosen[l] / 32);
    }
  }
}

// --- codes

void put_bytes(const float* values, const float* scales, std::size_t blocks, float qmax_number, std::int8_t* codes) {
  const V most = hn::Set(kFloat, qmax_number), least = hn::Neg(most);
  const hn::Rebind<std::int8_t, FloatTag> d8;
  for (std::size_t b = 0; b < blocks; ++b) {
    const V v = hn::Set(kFloat, scales[b] > 0 ? 1 / scales[b] : 0);
    for (std::size_t i = 0; i < kMcfBlock; i += kLanes) {
      const V x = hn::Mul(hn::LoadU(kFloat, values + b * kMcfBlock + i), v);
      const auto q = hn::NearestInt(hn::Min(hn::Max(x, least), most));
      hn::StoreU(hn::DemoteTo(d8, q), d8, codes + b * kMcfBlock + i);
    }
  }
}

// Joins the lower kBits of every two neighbours of kWidth bits.
template <unsigned kWidth, unsigned kBits>
HWY_INLINE std::uint64_t join(std::uint64_t x) {
  constexpr std::uint64_t kPairs = std::numeric_limits<std::uint64_t>::max() >> (64 - 2 * kWidth);
  constexpr std::uint64_t kLow = std::numeric_limits<std::uint64_t>::max() / kPairs * ((std::uint64_t{1} << kBits) - 1);
  return (x & kLow) | ((x >> (kWidth - kBits)) & (kLow << kBits));
}

// Eight codes of a byte each become kBits bytes, the first code in the lowest bits.
template <unsigned kBits>
void pack(const std::int8_t* codes, std::size_t count, std::byte* out) {
  for (std::size_t i = 0; i < count; i += 8) {
    std::uint64_t x = load_le<std::uint64_t>(codes + i);
    x = join<32, 4 * kBits>(join<16, 2 * kBits>(join<8, kBits>(x)));
    if constexpr (!kLittleEndianHost) x = byte_swapped(x);
    std::memcpy(out + i / 8 * kBits, &x, kBits);
  }
}

void put_codes(unsigned bits, const std::int8_t* bytes, std::size_t count, std::byte* out) {
  switch (bits) {
    case 8: std::memcpy(out, bytes, count); break;
    case 6: pack<6>(bytes, count, out); break;
    case 4: pack<4>(bytes, count, out); break;
    case 3: pack<3>(bytes, count, out); break;
    default: pack<2>(bytes, count, out); break;
  }
}

// --- losses

HWY_INLINE V load_bytes(const std::int8_t* codes) {
  const hn::Rebind<std::int8_t, FloatTag> d8;
  const hn::RebindToSigned<FloatTag> di;
  return hn::ConvertTo(kFloat, hn::PromoteTo(di, hn::LoadU(d8, codes)));
}

void measure(const float* values, const float* scales, float zero_number, const std::int8_t* codes, std::size_t blocks,
             std::uint64_t first, McfLoss& loss) {
  const V zero = hn::Set(kFloat, zero_number);
  V max_error = hn::Zero(kFloat);
  for (std::size_t b = 0; b < blocks; ++b) {
    const V scale = hn::Set(kFloat, scales[b]);
    V squares = hn::Zero(kFloat), errors = hn::Zero(kFloat);
    for (std::size_t i = b * kMcfBlock; i < (b + 1) * kMcfBlock; i += kLanes) {
      const V x = hn::LoadU(kFloat, values + i);
      const V e = hn::Sub(x, hn::Mul(scale, hn::Sub(load_bytes(codes + i), zero)));
      squares = hn::MulAdd(x, x, squares);
      errors = hn::MulAdd(e, e, errors);
      max_error = hn::Max(max_error, hn::Abs(e));
    }
    const float error = hn::GetLane(hn::SumOfLanes(kFloat, errors));
    loss.squared_sum += hn::GetLane(hn::SumOfLanes(kFloat, squares));
    loss.squared_error += error;
    if (error > loss.worst_error) {
      loss.worst_error = error;
      loss.worst_block = first + b;
    }
  }
  loss.max_error = std::max(loss.max_error, hn::GetLane(hn::MaxOfLanes(kFloat, max_error)));
}

// --- everything for some blocks

void choose_better(const McfBlocks& in, std::size_t first, std::size_t blocks, Scales& s) {
  const bool super = in.method->family == McfFamily::super, weighted = in.importance != nullptr;
  const auto search = super ? (weighted ? search_supers<true> : search_supers<false>)
                            : (weighted ? search_blocks<true> : search_blocks<false>);
  for (std::size_t at = 0; at < blocks; at += kTile) search(in, first + at, std::min(kTile, blocks - at), at, s);
}

McfEncoded encode_blocks(const McfBlocks& in, const McfCoded& out, McfLoss* loss, std::uint64_t number) {
  const McfMethod& method = *in.method;
  const bool super = method.family == McfFamily::super;
  const auto qmax = static_cast<float>(method.qmax);
  McfEncoded result;
  Scales s{};
  alignas(64) std::int8_t codes[kBatch * kMcfBlock];
  for (std::size_t first = 0; first < in.count; first += kBatch) {
    const std::size_t blocks = std::min(kBatch, in.count - first);
    const float* const values = in.values + first * kMcfBlock;
    block_absmax(values, blocks, s.absmax);
    for (std::size_t b = 0; b < blocks; ++b) {
      if (!(s.absmax[b] <= std::numeric_limits<float>::max()))
        return {McfEncoded::Status::not_finite, first + b, result.absmax};
      result.absmax = std::max(result.absmax, s.absmax[b]);
    }
    const std::size_t fitting = super ? fast_supers(qmax, blocks, s) : fast_blocks(qmax, blocks, s);
    if (fitting != blocks) return {McfEncoded::Status::overflow, first + fitting, result.absmax};
    if (!in.fast) choose_better(in, first, blocks, s);

    const std::size_t scales = super ? blocks / kMcfBlocksInSuper : blocks;
    std::byte* const to = out.scales + 2 * (super ? first / kMcfBlocksInSuper : first);
    for (std::size_t i = 0; i < scales; ++i) store_le<std::uint16_t>(to + 2 * i, s.bits[i]);
    if (super) std::memcpy(out.sub_scales + first, s.sub, blocks);
    put_bytes(values, s.block, blocks, qmax, codes);
    put_codes(method.bits, codes, blocks * kMcfBlock, out.codes + first * method.block_bytes());
    if (loss != nullptr) measure(values, s.block, 0, codes, blocks, number + first, *loss);
  }
  return result;
}

void encode_raw(const McfMethod& method, McfDomain domain, const McfScaleZero& parameters, const float* values,
                std::size_t count, std::byte* out, McfLoss* loss, std::uint64_t number) {
  const int lowest = domain == McfDomain::weights ? -method.qmax : -method.qmax - 1;
  const V most = hn::Set(kFloat, static_cast<float>(method.qmax)), least = hn::Set(kFloat, static_cast<float>(lowest));
  const V scale = hn::Set(kFloat, parameters.scale), zero = hn::Set(kFloat, parameters.zero);
  const hn::Rebind<std::int8_t, FloatTag> d8;
  alignas(64) std::int8_t codes[kBatch * kMcfBlock];
  alignas(64) float last[kBatch * kMcfBlock];
  alignas(64) float scales[kBatch];
  std::fill_n(scales, kBatch, parameters.scale);
  for (std::size_t first = 0; first < count; first += kBatch * kMcfBlock) {
    const std::size_t here = std::min(kBatch * kMcfBlock, count - first);
    const std::size_t blocks = (here + kMcfBlock - 1) / kMcfBlock;
    const float* from = values + first;
    if (here % kMcfBlock != 0) {
      std::copy_n(from, here, last);
      std::fill(last + here, last + blocks * kMcfBlock, 0.0f);
      from = last;
    }
    for (std::size_t i = 0; i < blocks * kMcfBlock; i += kLanes) {
      if (parameters.scale == 0) {
        hn::StoreU(hn::Zero(d8), d8, codes + i);
        continue;
      }
      const V q = hn::Add(round(hn::Div(hn::LoadU(kFloat, from + i), scale)), zero);
      hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(hn::Min(hn::Max(q, least), most))), d8, codes + i);
    }
    if (loss != nullptr) measure(from, scales, parameters.zero, codes, blocks, number + first / kMcfBlock, *loss);
    if (method.bits == 8) {
      std::memcpy(out + first, codes, here);
    } else {
      std::byte packed[kBatch * kMcfBlock / 2];
      std::fill(codes + here, codes + blocks * kMcfBlock, std::int8_t{0});
      pack<4>(codes, blocks * kMcfBlock, packed);
      std::memcpy(out + first / 2, packed, (here + 1) / 2);
    }
  }
}

McfRange range(const float* values, std::size_t count) {
  const hn::RebindToSigned<FloatTag> di;
  const auto mask = hn::Set(di, 0x7FFFFFFF);
  V low = hn::Zero(kFloat), high = hn::Zero(kFloat);
  auto most = hn::Zero(di);
  std::size_t i = 0;
  if (count >= kLanes) low = high = hn::LoadU(kFloat, values);
  for (; i + kLanes <= count; i += kLanes) {
    const V x = hn::LoadU(kFloat, values + i);
    most = hn::Max(most, hn::And(hn::BitCast(di, x), mask));
    low = hn::Min(low, x);
    high = hn::Max(high, x);
  }
  McfRange result{values[0], values[0], hn::GetLane(hn::MaxOfLanes(di, most)) < 0x7F800000};
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
}  // namespace tare::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare {
namespace {

HWY_EXPORT(encode_blocks);
HWY_EXPORT(encode_raw);
HWY_EXPORT(range);

}  // namespace

McfEncoded mcf_encode_blocks(const McfBlocks& blocks, const McfCoded& out, McfLoss* loss, std::uint64_t first) {
  return HWY_DYNAMIC_DISPATCH(encode_blocks)(blocks, out, loss, first);
}

void mcf_encode_raw(const McfMethod& method, McfDomain domain, const McfScaleZero& parameters, const float* values,
                    std::size_t count, std::byte* codes, McfLoss* loss, std::uint64_t first_block) {
  HWY_DYNAMIC_DISPATCH(encode_raw)(method, domain, parameters, values, count, codes, loss, first_block);
}

McfRange mcf_range(const float* values, std::size_t count) {
  return count == 0 ? McfRange() : HWY_DYNAMIC_DISPATCH(range)(values, count);
}

}  // namespace tare

#endif
