// Encodes 16 parts at a time for every SIMD target: chooses the scales, then the codes for them.
#include "base/simd_targets.hpp"
#include "codecs/ggml/encode.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/ggml/encode_simd.cpp"
#include <hwy/foreach_target.h>

#include "codecs/ggml/encode_simd_affine.hpp"
#include "codecs/ggml/encode_simd_search.hpp"

HWY_BEFORE_NAMESPACE();
namespace tare::codec::ggml::HWY_NAMESPACE {
namespace {

template <Grid kGrid>
void put_codes(const Spec& spec, const float* weights, const Chosen& chosen, std::uint8_t* codes) {
  const hn::RebindToUnsigned<FloatTag> d32;
  const hn::Rebind<std::uint8_t, FloatTag> d8;
  const V lowest = hn::Set(kFloat, spec.lowest), highest = hn::Set(kFloat, spec.highest);
  // Adding this to an integer puts it into the lowest bits of the float. Codes are stored unsigned, except Q8_0's.
  const V magic = hn::Set(kFloat, 0x1.8p23f + (spec.signed_codes ? 0 : -spec.lowest));
  alignas(64) float inverses[kParts];
  for (std::size_t l = 0; l < kParts; l += kLanes)
    hn::Store(inverse(hn::Load(kFloat, chosen.scale + l)), kFloat, inverses + l);
  for (std::size_t l = 0; l < kParts; ++l) {
    const V v = hn::Set(kFloat, inverses[l]);
    [[maybe_unused]] const V minimum = hn::Set(kFloat, kGrid == Grid::affine ? chosen.minimum[l] : 0.0f);
    for (std::size_t i = l * spec.part; i < (l + 1) * spec.part; i += kLanes) {
      V x = hn::LoadU(kFloat, weights + i);
      if constexpr (kGrid == Grid::affine) x = hn::Sub(x, minimum);
      const V q = nearest<kGrid, true>(hn::Mul(x, v), lowest, highest);
      hn::StoreU(hn::TruncateTo(d8, hn::BitCast(d32, hn::Add(q, magic))), d8, codes + i);
    }
  }
}

template <bool kWeighted, Grid kGrid>
void code(const Spec& spec, const Tile& tile, const Parts& in, CodedParts& out) {
  Chosen chosen;
  if constexpr (kGrid == Grid::affine) {
    Lines lines;
    find_ranges(spec, tile, lines);
    if (spec.super == 0)
      choose_lines<kWeighted>(spec, tile, in.fast, lines, chosen, out);
    else
      choose_super_lines<kWeighted>(spec, tile, in.fast, lines, chosen, out);
  } else {
    Fits fits;
    find_extremes(spec, tile, fits);
    if constexpr (kGrid == Grid::signs) {
      choose_joined_scales<kWeighted, kGrid>(spec, tile, in.fast, fits, chosen, out);
    } else if constexpr (kGrid == Grid::floats) {
      const auto choose = spec.super == 0 ? choose_exponents<kWeighted> : choose_small_floats<kWeighted>;
      choose(spec, tile, in.fast, fits, chosen, out);
    } else {
      auto choose = spec.super == 0 ? choose_scales<kWeighted, kGrid> : choose_super_scales<kWeighted, kGrid>;
      if constexpr (kGrid == Grid::linear)
        if (spec.joined) choose = choose_joined_scales<kWeighted, kGrid>;
      choose(spec, tile, in.fast, fits, chosen, out);
    }
  }
  if (out.fitting == kParts) put_codes<kGrid>(spec, in.weights, chosen, out.codes.data());
}

template <bool kWeighted>
void code_any(const Spec& spec, const Tile& tile, const Parts& in, CodedParts& out) {
  switch (spec.grid) {
    case Grid::linear: return code<kWeighted, Grid::linear>(spec, tile, in, out);
    case Grid::table: return code<kWeighted, Grid::table>(spec, tile, in, out);
    case Grid::floats: return code<kWeighted, Grid::floats>(spec, tile, in, out);
    case Grid::affine: return code<kWeighted, Grid::affine>(spec, tile, in, out);
    case Grid::signs: return code<kWeighted, Grid::signs>(spec, tile, in, out);
  }
}

// Fast path for blocks of 32 without a minimum, whose scales follow from the largest magnitudes.
template <Grid kGrid>
void code_fast(const Spec& spec, const Tile& none, const Parts& in, CodedParts& out) {
  Fits fits;
  Chosen chosen;
  find_extremes_at(spec, in.weights, fits);
  choose_scales<false, kGrid>(spec, none, true, fits, chosen, out);
  if (out.fitting == kParts) put_codes<kGrid>(spec, in.weights, chosen, out.codes.data());
}

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
using Eight = hn::CappedTag<float, 8>;

HWY_INLINE hn::Vec<Eight> largest_magnitudes(const float* weights) {
  const Eight d;
  auto most = hn::Abs(hn::LoadU(d, weights));
  for (std::size_t i = 8; i < 32; i += 8) most = hn::Max(most, hn::Abs(hn::LoadU(d, weights + i)));
  return most;
}

// The largest lane of each of eight vectors, in one vector: three rounds of interleaving neighbours and comparing them.
HWY_INLINE hn::Vec<Eight> largest_lanes(const hn::Vec<Eight>* v) {
  const Eight d;
  const hn::Repartition<double, Eight> wide;
  const auto of_two = [&](hn::Vec<Eight> a, hn::Vec<Eight> b)
                          HWY_ATTR { return hn::Max(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)); };
  const auto of_four = [&](hn::Vec<Eight> a, hn::Vec<Eight> b) HWY_ATTR {
    const auto x = hn::BitCast(wide, a), y = hn::BitCast(wide, b);
    return hn::Max(hn::BitCast(d, hn::InterleaveLower(wide, x, y)), hn::BitCast(d, hn::InterleaveUpper(wide, x, y)));
  };
  const auto low = of_four(of_two(v[0], v[1]), of_two(v[2], v[3]));
  const auto high = of_four(of_two(v[4], v[5]), of_two(v[6], v[7]));
  return hn::Max(hn::ConcatLowerLower(d, high, low), hn::ConcatUpperUpper(d, high, low));
}
#endif

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
using Whole = hn::Rebind<std::int32_t, FloatTag>;
using CodeBytes = hn::Repartition<std::int8_t, FloatTag>;

// Rounds to the nearest integer. Highway's own conversion also handles numbers beyond 32 bits, which do not occur here.
HWY_INLINE hn::Vec<Whole> to_whole(V v) {
#if HWY_TARGET <= HWY_AVX3
  return hn::Vec<Whole>{_mm512_cvtps_epi32(v.raw)};
#else
  return hn::Vec<Whole>{_mm256_cvtps_epi32(v.raw)};
#endif
}

// Narrows four vectors of codes to one, in order. The instructions put the first 128 bits of all four first, which the
// permutation undoes.
HWY_INLINE hn::Vec<CodeBytes> narrow(const hn::Vec<Whole> (&q)[4]) {
  constexpr Whole whole;
  const hn::Repartition<std::int16_t, Whole> words;
  constexpr std::size_t kGroups = kLanes / 4;
  alignas(64) static constexpr auto kOrder = [] {
    std::array<std::int32_t, kLanes> order{};
    for (std::size_t i = 0; i < kLanes; ++i) order[i] = static_cast<std::int32_t>(i % kGroups * 4 + i / kGroups);
    return order;
  }();
  const auto low = hn::ReorderDemote2To(words, q[0], q[1]), high = hn::ReorderDemote2To(words, q[2], q[3]);
#if HWY_TARGET <= HWY_AVX3
  const hn::Vec<CodeBytes> all{_mm512_packs_epi16(low.raw, high.raw)};
#else
  const hn::Vec<CodeBytes> all{_mm256_packs_epi16(low.raw, high.raw)};
#endif
  const auto order = hn::IndicesFromVec(whole, hn::Load(whole, kOrder.data()));
  return hn::BitCast(CodeBytes(), hn::TableLookupLanes(hn::BitCast(whole, all), order));
}
#endif

// Writes the blocks directly, eight at a time, with the same operations as above. Codes need no clamping: rounding a
// normal scale to f16 changes it by too little to turn 127 into 127.5.
std::size_t fast_bytes([[maybe_unused]] const float* weights, [[maybe_unused]] std::size_t count,
                       [[maybe_unused]] std::byte* blocks) {
  std::size_t made = 0;
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  const Eight eight;
  const hn::Rebind<hwy::float16_t, decltype(eight)> half;
  constexpr std::size_t kBlocks = 4 * kLanes / 32;  // blocks whose codes are made at once
  for (; made + 8 <= count; made += 8, weights += 8 * 32) {
    alignas(32) float inverses[8];
    alignas(16) hwy::float16_t scales[8];
    hn::Vec<Eight> most[8];
    for (std::size_t b = 0; b < 8; ++b) most[b] = largest_magnitudes(weights + 32 * b);
    const auto scale = hn::Div(largest_lanes(most), hn::Set(eight, 127.0f));
    const auto usual = hn::And(hn::Ge(scale, hn::Set(eight, 0x1p-14f)), hn::Le(scale, hn::Set(eight, kMostScale)));
    if (!hn::AllTrue(eight, usual)) break;
    const auto stored = hn::DemoteTo(half, scale);
    hn::Store(stored, half, scales);
    hn::Store(hn::Div(hn::Set(eight, 1.0f), hn::PromoteTo(eight, stored)), eight, inverses);
    for (std::size_t b = 0; b < 8; b += kBlocks) {
      hn::Vec<Whole> q[4];
      for (std::size_t k = 0; k < 4; ++k) {
        const V inverse = hn::Set(kFloat, inverses[b + k * kBlocks / 4]);
        q[k] = to_whole(hn::Mul(hn::LoadU(kFloat, weights + 32 * b + k * kLanes), inverse));
      }
      alignas(64) std::int8_t codes[32 * kBlocks];
      hn::Store(narrow(q), CodeBytes(), codes);
      for (std::size_t k = 0; k < kBlocks; ++k, blocks += 34) {
        std::memcpy(blocks, &scales[b + k], 2);
        std::memcpy(blocks + 2, codes + 32 * k, 32);
      }
    }
  }
#endif
  return made;
}

void code_sixteen(const Spec& spec, const Parts& in, CodedParts& out) {
  out.fitting = kParts;
  Tile tile;
  if (in.fast && spec.super == 0 && spec.grid == Grid::linear) return code_fast<Grid::linear>(spec, tile, in, out);
  if (in.fast && spec.super == 0 && spec.grid == Grid::table) return code_fast<Grid::table>(spec, tile, in, out);
  tile.part = spec.part;
  turn(in.weights, spec.part, tile.x);
  const bool weighted = in.importance != nullptr && !in.fast;
  if (weighted) turn(in.importance, spec.part, tile.p);
  (weighted ? code_any<true> : code_any<false>)(spec, tile, in, out);
}

}  // namespace
}  // namespace tare::codec::ggml::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare::codec::ggml {
namespace {

HWY_EXPORT(code_sixteen);
HWY_EXPORT(fast_bytes);

}  // namespace

std::size_t fast_q8_0(const float* weights, std::size_t count, std::byte* blocks) {
  return HWY_DYNAMIC_DISPATCH(fast_bytes)(weights, count, blocks);
}

void code_parts(const Spec& spec, const Parts& in, CodedParts& out) {
  HWY_DYNAMIC_DISPATCH(code_sixteen)(spec, in, out);
}

}  // namespace tare::codec::ggml

#endif
