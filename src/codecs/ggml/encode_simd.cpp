// 16 parts at a time for every SIMD target: scales first, then codes against them.
#include "codecs/ggml/encode.hpp"

// Vectors of unknown length (SVE, RVV) are omitted: a tile has 16 lanes.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
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
  // Added to a whole number, its bits are the lowest ones. Codes are stored without a sign, but for Q8_0's.
  const V magic = hn::Set(kFloat, 0x1.8p23f + (spec.magnitude ? 0 : -spec.lowest));
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
    if constexpr (kGrid == Grid::floats)
      choose_exponents<kWeighted>(spec, tile, in.fast, fits, chosen, out);
    else if (spec.super == 0)
      choose_scales<kWeighted, kGrid>(spec, tile, in.fast, fits, chosen, out);
    else
      choose_super_scales<kWeighted, kGrid>(spec, tile, in.fast, fits, chosen, out);
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
  }
}

void code_sixteen(const Spec& spec, const Parts& in, CodedParts& out) {
  out.fitting = kParts;
  Tile tile;
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

}  // namespace

void code_parts(const Spec& spec, const Parts& in, CodedParts& out) {
  HWY_DYNAMIC_DISPATCH(code_sixteen)(spec, in, out);
}

}  // namespace tare::codec::ggml

#endif
