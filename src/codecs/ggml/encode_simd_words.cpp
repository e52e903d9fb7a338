// Encodes 16 parts of codewords at a time for every SIMD target: chooses the scales, then the codewords for them.
#include <bit>
#include <span>

#include "base/simd_targets.hpp"
#include "codecs/ggml/encode_words.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/ggml/encode_simd_words.cpp"
#include <hwy/foreach_target.h>

#include "codecs/ggml/encode_simd_tile.hpp"
#include "codecs/ggml/grids.hpp"

HWY_BEFORE_NAMESPACE();
namespace tare::codec::ggml::HWY_NAMESPACE {
namespace {

enum class Signs : std::uint8_t { free, even, inside };  // inside: the codewords have them

constexpr float kLeastImportance = 0x1p-20F;

using Mask = hn::Mask<FloatTag>;

// The sums of the patterns of half a codeword; of lower halves also the joins.
template <class Of>
struct Patterns {
  alignas(64) float value[(Of::kPatterns + Of::kMostJoins) * kLanes];

  HWY_INLINE V at(std::size_t pattern) const { return hn::Load(kFloat, value + pattern * kLanes); }
  // The same by `kLanes` times the number of the pattern.
  HWY_INLINE V from(std::size_t place) const { return hn::Load(kFloat, value + place); }
  HWY_INLINE void put(std::size_t pattern, V sum) { hn::Store(sum, kFloat, value + pattern * kLanes); }
};

// Calls put(pattern, together(value of its weights)) for each pattern; of_weight[j][k] is the value of weight j with level k.
template <class Of, class Together, class Put>
HWY_INLINE void for_patterns(const V (&of_weight)[Of::kHalf][Of::kLevels], const Together& together, const Put& put) {
  constexpr std::size_t kLevels = Of::kLevels;
  if constexpr (Of::kHalf == 2) {
    for (std::size_t k = 0; k < kLevels; ++k)
      for (std::size_t i = 0; i < kLevels; ++i) put(k * kLevels + i, together(of_weight[0][i], of_weight[1][k]));
  } else {
    V low[kLevels * kLevels];
    for (std::size_t k = 0; k < kLevels; ++k)
      for (std::size_t i = 0; i < kLevels; ++i) low[k * kLevels + i] = together(of_weight[0][i], of_weight[1][k]);
    for (std::size_t k = 0; k < kLevels; ++k)
      for (std::size_t i = 0; i < kLevels; ++i) {
        const V high = together(of_weight[2][i], of_weight[3][k]);
        for (std::size_t j = 0; j < kLevels * kLevels; ++j)
          put((k * kLevels + i) * kLevels * kLevels + j, together(low[j], high));
      }
  }
}

// What half a codeword saves with the scale t, for each pattern. y and p are those of its weights.
template <class Of>
HWY_INLINE void find_sums(const V* levels, V t, const V* y, const V* p, Patterns<Of>& sums) {
  V of_weight[Of::kHalf][Of::kLevels];
  for (std::size_t j = 0; j < Of::kHalf; ++j) {
    const V tp = hn::Mul(t, p[j]);
    for (std::size_t k = 0; k < Of::kLevels; ++k) {
      of_weight[j][k] = hn::Mul(levels[k], hn::Sub(y[j], hn::Mul(levels[k], tp)));
    }
  }
  for_patterns<Of>(
      of_weight, [](V a, V b) HWY_ATTR { return hn::Add(a, b); },
      [&](std::size_t pattern, V sum) HWY_ATTR { sums.put(pattern, sum); });
}

// What the cheapest change of a sign costs, for each pattern; 0 where nothing has to change.
template <class Of>
HWY_INLINE void find_flips(const V* levels, Mask odd, const V* y, Patterns<Of>& flips) {
  V of_weight[Of::kHalf][Of::kLevels];
  for (std::size_t j = 0; j < Of::kHalf; ++j)
    for (std::size_t k = 0; k < Of::kLevels; ++k)
      of_weight[j][k] = hn::IfThenElseZero(odd, hn::Mul(hn::Add(levels[k], levels[k]), y[j]));
  for_patterns<Of>(
      of_weight, [](V a, V b) HWY_ATTR { return hn::Min(a, b); },
      [&](std::size_t pattern, V least) HWY_ATTR { flips.put(pattern, least); });
}

template <class Of>
HWY_INLINE void join(const WordLists& lists, Patterns<Of>& sums) {
  float* to = sums.value + Of::kPatterns * kLanes;
  for (std::size_t i = 0; i < lists.joined; ++i, to += kLanes) {
    const auto& [a, b] = lists.joins[i];
    hn::Store(hn::Max(sums.from(a), sums.from(b)), kFloat, to);
  }
}

template <class Of>
HWY_INLINE void flip(const Patterns<Of>& sums, const Patterns<Of>& flips, Patterns<Of>& flipped) {
  for (std::size_t i = 0; i < Of::kPatterns; ++i) flipped.put(i, hn::Sub(sums.at(i), flips.at(i)));
}

// The best sum of each lane, the number of the higher half that has it, and the sum of the lower half.
struct Best {
  V sum, high, low;

  template <bool kNumbered>
  HWY_INLINE void offer(V other, std::size_t number, V of_low) {
    if constexpr (kNumbered) {
      const auto better = hn::Gt(other, sum);
      high = hn::IfThenElse(better, hn::Set(kFloat, static_cast<float>(number)), high);
      low = hn::IfThenElse(better, of_low, low);
    }
    sum = hn::Max(sum, other);
  }
};

HWY_INLINE Best none_yet() { return {hn::Set(kFloat, -3e38F), hn::Zero(kFloat), hn::Zero(kFloat)}; }

// Calls use(h, most) for each higher half, with the most that one of its lower halves saves.
template <class Of, class Use>
HWY_INLINE void for_highs(const WordLists& lists, const Patterns<Of>& low, const Use& use) {
  const std::uint16_t* pair = lists.pairs.data();
  for (std::size_t h = 0; h < lists.highs; ++h) {
    V a = low.from(pair[0]), b = low.from(pair[1]);
    const std::uint16_t* const end = pair + lists.paired[h];
    for (pair += 2; pair != end; pair += 2) {
      a = hn::Max(a, low.from(pair[0]));
      b = hn::Max(b, low.from(pair[1]));
    }
    use(h, hn::Max(a, b));
  }
}

template <class Of, bool kNumbered = false>
HWY_INLINE Best best_of(const WordLists& lists, const Patterns<Of>& low, const Patterns<Of>& high) {
  Best best = none_yet();
  for_highs<Of>(lists, low, [&](std::size_t h, V most) HWY_ATTR {
    best.template offer<kNumbered>(hn::Add(high.at(lists.high[h]), most), h, most);
  });
  return best;
}

// As above, and the best with a changed sign in either half.
template <class Of, bool kNumbered = false>
HWY_INLINE void best_of_both(const WordLists& lists, const Patterns<Of>& low, const Patterns<Of>& high,
                             const Patterns<Of>& flipped_low, const Patterns<Of>& flipped_high, Best& plain,
                             Best& changed) {
  const std::uint16_t* pair = lists.pairs.data();
  for (std::size_t h = 0; h < lists.highs; ++h) {
    V a = low.from(pair[0]), b = low.from(pair[1]), c = flipped_low.from(pair[0]), d = flipped_low.from(pair[1]);
    const std::uint16_t* const end = pair + lists.paired[h];
    for (pair += 2; pair != end; pair += 2) {
      a = hn::Max(a, low.from(pair[0]));
      b = hn::Max(b, low.from(pair[1]));
      c = hn::Max(c, flipped_low.from(pair[0]));
      d = hn::Max(d, flipped_low.from(pair[1]));
    }
    a = hn::Max(a, b);
    const V rest = high.at(lists.high[h]);
    plain.template offer<kNumbered>(hn::Add(rest, a), h, a);
    changed.template offer<kNumbered>(hn::Max(hn::Add(rest, hn::Max(c, d)), hn::Add(flipped_high.at(lists.high[h]), a)),
                                      h, a);
  }
}

// One group of the parts in kLanes lanes.
struct Group {
  V y[8], p[8];
  Mask odd;
};

template <Signs kSigns>
HWY_INLINE Group group_of(const Tile& tile, std::size_t l, std::size_t first) {
  Group group;
  V negative = hn::Zero(kFloat);
  for (std::size_t j = 0; j < 8; ++j) {
    const V x = hn::Load(kFloat, tile.values(l) + (first + j) * kLanes);
    group.p[j] = hn::Load(kFloat, tile.weights(l) + (first + j) * kLanes);
    const V px = hn::Mul(group.p[j], kSigns == Signs::inside ? x : hn::Abs(x));
    group.y[j] = hn::Add(px, px);
    if constexpr (kSigns == Signs::even)
      negative = hn::Xor(negative, hn::IfThenElseZero(hn::Lt(x, hn::Zero(kFloat)), hn::Set(kFloat, 1)));
  }
  group.odd = hn::Gt(negative, hn::Zero(kFloat));
  return group;
}

// The first codeword of one lane with this higher half whose lower half has the sum `most`. `low`: the sums of lower halves for
// that lane.
HWY_INLINE std::uint16_t plain_word(const WordLists& lists, const float* low, float most, std::size_t high) {
  std::size_t n = lists.first[high];
  while (n + 1 < lists.end[high] && low[lists.low[n] * kLanes] != most) ++n;
  return static_cast<std::uint16_t>(n);
}

// The same with a changed sign in either half: the first whose sum is `most`. `rest` and `flipped_rest` are the sums of the higher
// half.
HWY_INLINE std::uint16_t changed_word(const WordLists& lists, const float* low, const float* flipped_low, float rest,
                                      float flipped_rest, float most, std::size_t high) {
  std::size_t n = lists.first[high];
  const auto sum = [&](std::size_t at) { return std::max(rest + flipped_low[at], flipped_rest + low[at]); };
  while (n + 1 < lists.end[high] && sum(lists.low[n] * kLanes) != most) ++n;
  return static_cast<std::uint16_t>(n);
}

// The sums of a group for one scale and one set of levels.
template <class Of, Signs kSigns>
struct Search {
  static constexpr std::size_t kHalves = 8 / Of::kHalf;

  Patterns<Of> sums[kHalves];
  Patterns<Of> flips[kSigns == Signs::even ? kHalves : 1], flipped[kSigns == Signs::even ? kHalves : 1];

  HWY_INLINE void begin(const V* levels, const Group& group) {
    if constexpr (kSigns == Signs::even)
      for (std::size_t i = 0; i < kHalves; ++i) find_flips<Of>(levels, group.odd, group.y + i * Of::kHalf, flips[i]);
  }

  HWY_INLINE void use(const WordLists& lists, const V* levels, const Group& group, V t) {
    for (std::size_t i = 0; i < kHalves; ++i) {
      find_sums<Of>(levels, t, group.y + i * Of::kHalf, group.p + i * Of::kHalf, sums[i]);
      if constexpr (kSigns == Signs::even) flip(sums[i], flips[i], flipped[i]);
      if (i % 2 != 0) continue;
      join(lists, sums[i]);
      if constexpr (kSigns == Signs::even) join(lists, flipped[i]);
    }
  }

  // The most that a group can save.
  HWY_INLINE V most(const WordLists& lists) const {
    if constexpr (kSigns != Signs::even) {
      V sum = best_of<Of>(lists, sums[0], sums[1]).sum;
      for (std::size_t i = 2; i < kHalves; i += 2) sum = hn::Add(sum, best_of<Of>(lists, sums[i], sums[i + 1]).sum);
      return sum;
    } else {
      Best plain[kHalves / 2], changed[kHalves / 2];
      for (std::size_t i = 0; i < kHalves; i += 2) {
        plain[i / 2] = changed[i / 2] = none_yet();
        best_of_both<Of>(lists, sums[i], sums[i + 1], flipped[i], flipped[i + 1], plain[i / 2], changed[i / 2]);
      }
      if constexpr (kHalves == 2) return changed[0].sum;
      return hn::Max(hn::Add(changed[0].sum, plain[kHalves / 2 - 1].sum),
                     hn::Add(plain[0].sum, changed[kHalves / 2 - 1].sum));
    }
  }

  // The codewords that save it: words[lane * kHalves / 2 + number in the group].
  HWY_INLINE V best(const WordLists& lists, std::uint16_t* words) const {
    constexpr std::size_t kWords = kHalves / 2;
    alignas(64) float highs[kWords][kLanes];
    alignas(64) float mosts[kWords][kLanes];
    if constexpr (kSigns != Signs::even) {
      V sum = hn::Zero(kFloat);
      for (std::size_t w = 0; w < kWords; ++w) {
        const Best found = best_of<Of, true>(lists, sums[2 * w], sums[2 * w + 1]);
        sum = w == 0 ? found.sum : hn::Add(sum, found.sum);
        hn::Store(found.high, kFloat, highs[w]);
        hn::Store(found.low, kFloat, mosts[w]);
        for (std::size_t i = 0; i < kLanes; ++i)
          words[i * kWords + w] =
              plain_word(lists, sums[2 * w].value + i, mosts[w][i], static_cast<std::size_t>(highs[w][i]));
      }
      return sum;
    } else {
      Best plain[kWords], changed[kWords];
      for (std::size_t w = 0; w < kWords; ++w) {
        plain[w] = changed[w] = none_yet();
        best_of_both<Of, true>(lists, sums[2 * w], sums[2 * w + 1], flipped[2 * w], flipped[2 * w + 1], plain[w],
                               changed[w]);
      }
      alignas(64) float is_changed[kLanes];
      V sum = changed[0].sum;
      if constexpr (kWords == 2) {
        const V first = hn::Add(changed[0].sum, plain[1].sum), second = hn::Add(plain[0].sum, changed[1].sum);
        const auto is_first = hn::Ge(first, second);
        hn::Store(hn::IfThenElseZero(is_first, hn::Set(kFloat, 1)), kFloat, is_changed);
        hn::Store(hn::IfThenElse(is_first, changed[0].high, plain[0].high), kFloat, highs[0]);
        hn::Store(hn::IfThenElse(is_first, plain[1].high, changed[1].high), kFloat, highs[1]);
        hn::Store(hn::IfThenElse(is_first, changed[0].sum, plain[0].low), kFloat, mosts[0]);
        hn::Store(hn::IfThenElse(is_first, plain[1].low, changed[1].sum), kFloat, mosts[1]);
        sum = hn::Max(first, second);
      } else {
        hn::Store(hn::Set(kFloat, 1), kFloat, is_changed);
        hn::Store(changed[0].high, kFloat, highs[0]);
        hn::Store(changed[0].sum, kFloat, mosts[0]);
      }
      for (std::size_t i = 0; i < kLanes; ++i)
        for (std::size_t w = 0; w < kWords; ++w) {
          const auto high = static_cast<std::size_t>(highs[w][i]);
          const float* const low = sums[2 * w].value + i;
          const std::size_t at = lists.high[high] * kLanes + i;
          words[i * kWords + w] = (w == 0) == (is_changed[i] != 0)
                                      ? changed_word(lists, low, flipped[2 * w].value + i, sums[2 * w + 1].value[at],
                                                     flipped[2 * w + 1].value[at], mosts[w][i], high)
                                      : plain_word(lists, low, mosts[w][i], high);
        }
      return sum;
    }
  }
};

// The levels of codewords with `delta` added.
struct Levels {
  V value[8];

  Levels(const WordSpec& spec, V delta) {
    for (std::size_t k = 0; k < 8; ++k) value[k] = hn::Add(hn::Set(kFloat, spec.levels[k]), delta);
  }
};

// The delta that is probably better for a part: that with the sign of the weighted sum.
HWY_INLINE V guessed_delta(const WordSpec& spec, const Tile& tile, std::size_t l) {
  V sum = hn::Zero(kFloat);
  for (std::size_t i = 0; i < spec.part; ++i) {
    const V x = hn::Load(kFloat, tile.values(l) + i * kLanes);
    sum = hn::Add(sum, hn::Mul(hn::Load(kFloat, tile.weights(l) + i * kLanes), x));
  }
  return hn::IfThenElse(hn::Lt(sum, hn::Zero(kFloat)), hn::Set(kFloat, -spec.delta), hn::Set(kFloat, spec.delta));
}

// What parts [l, l + kLanes) save with each of `count` scales (IQ1_S: with the deltas that are probably better).
template <class Of, Signs kSigns>
void find_savings(const WordSpec& spec, const WordLists& lists, const Tile& tile, std::size_t l, const V* scales,
                  std::size_t count, V* saved) {
  Search<Of, kSigns> search;
  const bool either = kSigns == Signs::inside && !spec.shared;
  const Levels levels(spec, spec.shared ? guessed_delta(spec, tile, l) : hn::Set(kFloat, spec.delta));
  const Levels others(spec, hn::Set(kFloat, -spec.delta));
  for (std::size_t c = 0; c < count; ++c) saved[c] = hn::Zero(kFloat);
  for (std::size_t first = 0; first < spec.part; first += 8) {
    const Group group = group_of<kSigns>(tile, l, first);
    search.begin(levels.value, group);
    for (std::size_t c = 0; c < count; ++c) {
      search.use(lists, levels.value, group, scales[c]);
      V most = search.most(lists);
      if (either) {
        search.use(lists, others.value, group, scales[c]);
        most = hn::Max(most, search.most(lists));
      }
      saved[c] = hn::Add(saved[c], most);
    }
  }
  for (std::size_t c = 0; c < count; ++c) saved[c] = hn::Mul(scales[c], saved[c]);
}

// The codewords (and deltas) of parts [l, l + kLanes) for one scale each. Not `last`: their A and B are wanted, so IQ1_S has the
// deltas that are probably better.
template <class Of, Signs kSigns>
void find_words(const WordSpec& spec, const WordLists& lists, const Tile& tile, std::size_t l, V t, bool last,
                CodedWords& out) {
  constexpr std::size_t kWords = 8 / Of::kWeights;
  const bool guess = spec.shared && !last;
  const V delta = guess ? guessed_delta(spec, tile, l) : hn::Set(kFloat, spec.delta);
  const std::size_t groups = spec.part / 8, deltas = spec.delta == 0 || guess ? 1 : 2;
  const Levels levels[2] = {Levels(spec, delta), Levels(spec, hn::Set(kFloat, -spec.delta))};
  Search<Of, kSigns> search;
  std::uint16_t words[2][4][kWords * kLanes];
  V sums[2][4];
  for (std::size_t g = 0; g < groups; ++g) {
    const Group group = group_of<kSigns>(tile, l, 8 * g);
    search.begin(levels[0].value, group);
    for (std::size_t k = 0; k < deltas; ++k) {
      search.use(lists, levels[k].value, group, t);
      sums[k][g] = search.best(lists, words[k][g]);
    }
  }
  if (spec.shared && deltas == 2)
    for (std::size_t k = 0; k < 2; ++k) {
      for (std::size_t g = 1; g < groups; ++g) sums[k][0] = hn::Add(sums[k][0], sums[k][g]);
      for (std::size_t g = 1; g < groups; ++g) sums[k][g] = sums[k][0];
    }
  alignas(64) float less[kLanes];
  hn::Store(hn::IfThenElseZero(hn::Lt(delta, hn::Zero(kFloat)), hn::Set(kFloat, 1)), kFloat, less);
  for (std::size_t g = 0; g < groups; ++g) {
    if (deltas == 2) hn::Store(hn::IfThenElseZero(hn::Gt(sums[1][g], sums[0][g]), hn::Set(kFloat, 1)), kFloat, less);
    for (std::size_t i = 0; i < kLanes; ++i) {
      const std::size_t k = deltas == 2 && less[i] != 0 ? 1 : 0, at = (l + i) * groups + g;
      out.signs[at] = less[i] != 0 ? 1 : 0;
      for (std::size_t w = 0; w < kWords; ++w) out.word[at * kWords + w] = words[k][g][i * kWords + w];
    }
  }
}

HWY_INLINE std::uint64_t word_of_eight(Words words, std::size_t number) {
  switch (words) {
    case Words::iq2_xxs: return kIq2XxsGrid[number];
    case Words::iq2_xs: return kIq2XsGrid[number];
    case Words::iq2_s: return kIq2SGrid[number];
    default: return kIq1Grid[number];
  }
}

// A and B of each part for its codes.
struct WordFits {
  alignas(64) float scale[kParts];
  alignas(64) float a[kParts];
  alignas(64) float b[kParts];
};

// Finds the signs that go with the codewords of each part, and A and B.
template <class Of, Signs kSigns>
void find_fits(const WordSpec& spec, const Parts& in, CodedWords& out, WordFits& fits) {
  const std::size_t groups = spec.part / 8;
  for (std::size_t l = 0; l < kParts; ++l) {
    float a = 0, b = 0;
    for (std::size_t g = 0; g < groups; ++g) {
      const std::size_t at = l * groups + g;
      float x[8], p[8], v[8];
      for (std::size_t j = 0; j < 8; ++j) {
        x[j] = in.weights[8 * at + j];
        p[j] = in.importance == nullptr ? 1 : std::max(in.importance[8 * at + j], kLeastImportance);
      }
      if constexpr (Of::kWeights == 8) {
        const std::uint64_t word = word_of_eight(spec.words, out.word[at]);
        for (std::size_t j = 0; j < 8; ++j) v[j] = static_cast<float>(static_cast<std::int8_t>(word >> (8 * j) & 255));
      } else {
        for (std::size_t w = 0; w < 2; ++w) {
          const std::uint32_t word =
              spec.words == Words::iq3_s ? kIq3SGrid[out.word[2 * at + w]] : kIq3XxsGrid[out.word[2 * at + w]];
          for (std::size_t j = 0; j < 4; ++j) v[4 * w + j] = static_cast<float>(word >> (8 * j) & 255);
        }
      }
      if constexpr (kSigns == Signs::inside) {
        for (std::size_t j = 0; j < 8; ++j) v[j] += out.signs[at] != 0 ? -spec.delta : spec.delta;
      } else {
        unsigned signs = 0;
        for (unsigned j = 0; j < 8; ++j) signs |= static_cast<unsigned>(x[j] < 0) << j;
        if (kSigns == Signs::even && std::popcount(signs) % 2 != 0) {
          unsigned cheapest = 0;
          float least = p[0] * std::fabs(x[0]) * v[0];
          for (unsigned j = 1; j < 8; ++j) {
            const float cost = p[j] * std::fabs(x[j]) * v[j];
            if (cost < least) {
              least = cost;
              cheapest = j;
            }
          }
          signs ^= 1U << cheapest;
        }
        out.signs[at] = static_cast<std::uint8_t>(signs);
        for (unsigned j = 0; j < 8; ++j)
          if ((signs >> j & 1) != 0) v[j] = -v[j];
      }
      for (std::size_t j = 0; j < 8; ++j) {
        const float px = p[j] * x[j], vv = v[j] * v[j];
        a += px * v[j];
        b += p[j] * vv;
      }
    }
    fits.a[l] = a;
    fits.b[l] = b;
  }
}

HWY_INLINE V nearest_sub(const WordSpec& spec, V scale, V per_step) {
  const V half = hn::Set(kFloat, 0.5F);
  const V u =
      round(clamp(hn::Sub(hn::Mul(hn::Mul(scale, per_step), half), half), hn::Zero(kFloat), hn::Set(kFloat, spec.top)));
  return u;
}
HWY_INLINE V multiple(const WordSpec& spec, V u) {
  return hn::Mul(hn::Add(hn::Add(u, u), hn::Set(kFloat, 1)), hn::Set(kFloat, spec.unit));
}

// The index of the D that saves most for the parts from `first` on. Each lane tries one D.
HWY_INLINE std::size_t best_try(const WordSpec& spec, const WordFits& fits, std::size_t first, const float* tries) {
  alignas(64) float saved[kDivisors];
  for (std::size_t j = 0; j < kDivisors; j += kLanes) {
    const V d = hn::Load(kFloat, tries + j);
    const V per_step = inverse(hn::Mul(d, hn::Set(kFloat, spec.unit)));
    V sum = hn::Zero(kFloat);
    for (std::size_t l = first; l < first + 256 / spec.part; ++l) {
      const V t = hn::Mul(d, multiple(spec, nearest_sub(spec, hn::Set(kFloat, fits.scale[l]), per_step)));
      const V rest = hn::Sub(hn::Set(kFloat, fits.a[l] + fits.a[l]), hn::Mul(t, hn::Set(kFloat, fits.b[l])));
      sum = hn::Add(sum, hn::Mul(t, rest));
    }
    hn::Store(sum, kFloat, saved + j);
  }
  return index_of_most(saved);
}

// The root of the weighted mean of the squares.
HWY_INLINE V weighted_rms(const Tile& tile, std::size_t l) {
  V squares = hn::Zero(kFloat), sum = hn::Zero(kFloat);
  for (std::size_t i = 0; i < tile.part; ++i) {
    const V x = hn::Load(kFloat, tile.values(l) + i * kLanes), p = hn::Load(kFloat, tile.weights(l) + i * kLanes);
    squares = hn::Add(squares, hn::Mul(p, hn::Mul(x, x)));
    sum = hn::Add(sum, p);
  }
  return hn::Sqrt(hn::Div(squares, sum));
}

template <class Of, Signs kSigns>
void code(const WordSpec& spec, const WordLists& lists, const Tile& tile, const Parts& in, CodedWords& out) {
  const std::size_t super = 256 / spec.part;
  const float most = spec.unit * (2 * spec.top + 1);
  WordFits fits;
  alignas(64) float extreme[kParts];
  alignas(64) float supers[kParts];
  alignas(64) float tries[kDivisors];
  alignas(64) float subs[kParts];
  std::array<std::uint16_t, kDivisors> bits;
  for (std::size_t l = 0; l < kParts; l += kLanes) {
    V largest = hn::Zero(kFloat);
    for (std::size_t i = 0; i < tile.part; ++i)
      largest = hn::Max(largest, hn::Abs(hn::Load(kFloat, tile.values(l) + i * kLanes)));
    hn::Store(largest, kFloat, extreme + l);
  }
  // The scales of `fast`.
  for (std::size_t first = 0; first < kParts; first += super) {
    const float largest = *std::max_element(extreme + first, extreme + first + super);
    std::fill_n(tries, kDivisors, largest * spec.fast / most);
    to_halves(tries, Rounding::nearest, tries, bits.data());
    if (is_infinite(bits[0])) {
      out.fitting = first;
      return;
    }
    std::fill_n(supers + first, super, tries[0]);
    out.scale[first / super] = bits[0];
  }
  if (in.fast) {
    for (std::size_t l = 0; l < kParts; l += kLanes) {
      const V d = hn::Load(kFloat, supers + l);
      const V u = nearest_sub(spec, hn::Mul(hn::Load(kFloat, extreme + l), hn::Set(kFloat, spec.fast)),
                              inverse(hn::Mul(d, hn::Set(kFloat, spec.unit))));
      hn::Store(u, kFloat, subs + l);
      find_words<Of, kSigns>(spec, lists, tile, l, hn::Mul(d, multiple(spec, u)), true, out);
    }
    find_fits<Of, kSigns>(spec, in, out, fits);
  } else {
    for (std::size_t l = 0; l < kParts; l += kLanes) {
      const auto large = hn::Ge(hn::Load(kFloat, extreme + l), hn::Set(kFloat, kLeastExtreme));
      const V rms = hn::IfThenElseZero(large, weighted_rms(tile, l));
      V scales[kMostSteps], saved[kMostSteps];
      for (std::size_t c = 0; c < spec.steps.size(); ++c) scales[c] = hn::Mul(rms, hn::Set(kFloat, spec.steps[c]));
      find_savings<Of, kSigns>(spec, lists, tile, l, scales, spec.steps.size(), saved);
      V best = hn::Zero(kFloat), scale = hn::Zero(kFloat);
      for (std::size_t c = 0; c < spec.steps.size(); ++c) {
        const auto better = hn::Gt(saved[c], best);
        best = hn::IfThenElse(better, saved[c], best);
        scale = hn::IfThenElse(better, scales[c], scale);
      }
      hn::Store(scale, kFloat, fits.scale + l);
      find_words<Of, kSigns>(spec, lists, tile, l, scale, false, out);
    }
    find_fits<Of, kSigns>(spec, in, out, fits);
    for (std::size_t l = 0; l < kParts; ++l) {
      if (fits.scale[l] == 0) fits.a[l] = fits.b[l] = 0;
      if (fits.b[l] > 0) fits.scale[l] = std::max(fits.a[l] / fits.b[l], 0.0F);
    }
    for (std::size_t first = 0; first < kParts; first += super) {
      const float largest = *std::max_element(fits.scale + first, fits.scale + first + super);
      for (std::size_t j = 0; j < kDivisors; ++j) tries[j] = largest / (spec.divisors[j] * spec.unit);
      clamp_scales(tries);
      to_halves(tries, Rounding::nearest, tries, bits.data());
      const std::size_t best = best_try(spec, fits, first, tries);
      std::fill_n(supers + first, super, tries[best]);
      out.scale[first / super] = bits[best];
    }
    for (std::size_t l = 0; l < kParts; l += kLanes) {
      const V d = hn::Load(kFloat, supers + l);
      const V u = nearest_sub(spec, hn::Load(kFloat, fits.scale + l), inverse(hn::Mul(d, hn::Set(kFloat, spec.unit))));
      const V lowest = hn::Zero(kFloat), highest = hn::Set(kFloat, spec.top), one = hn::Set(kFloat, 1);
      V choices[3] = {u, clamp(hn::Sub(u, one), lowest, highest), clamp(hn::Add(u, one), lowest, highest)};
      V scales[3], saved[3];
      for (std::size_t k = 0; k < 3; ++k) scales[k] = hn::Mul(d, multiple(spec, choices[k]));
      find_savings<Of, kSigns>(spec, lists, tile, l, scales, 3, saved);
      V best = choices[0], gain = saved[0];
      for (std::size_t k = 1; k < 3; ++k) {
        const auto better = hn::Gt(saved[k], gain);
        best = hn::IfThenElse(better, choices[k], best);
        gain = hn::IfThenElse(better, saved[k], gain);
      }
      hn::Store(best, kFloat, subs + l);
      find_words<Of, kSigns>(spec, lists, tile, l, hn::Mul(d, multiple(spec, best)), false, out);
    }
    find_fits<Of, kSigns>(spec, in, out, fits);
    for (std::size_t first = 0; first < kParts; first += super) {
      float a = 0, b = 0;
      for (std::size_t l = first; l < first + super; ++l) {
        const float m = (2 * subs[l] + 1) * spec.unit, mm = m * m;
        a += m * fits.a[l];
        b += mm * fits.b[l];
      }
      const auto saved = [&](float d) { return d * ((a + a) - d * b); };
      std::fill_n(tries, kDivisors, b > 0 ? std::max(a / b, 0.0F) : 0.0F);
      clamp_scales(tries);
      to_halves(tries, Rounding::nearest, tries, bits.data());
      if (saved(tries[0]) > saved(supers[first])) {
        std::fill_n(supers + first, super, tries[0]);
        out.scale[first / super] = bits[0];
      }
      if (!(saved(supers[first]) > 0)) {
        std::fill_n(supers + first, super, 0.0F);
        out.scale[first / super] = 0;
      }
    }
    for (std::size_t l = 0; l < kParts; l += kLanes)
      find_words<Of, kSigns>(spec, lists, tile, l,
                             hn::Mul(hn::Load(kFloat, supers + l), multiple(spec, hn::Load(kFloat, subs + l))), true,
                             out);
    find_fits<Of, kSigns>(spec, in, out, fits);
  }
  for (std::size_t l = 0; l < kParts; ++l) out.sub_scale[l] = static_cast<std::uint8_t>(static_cast<int>(subs[l]));
}

template <Words kWords>
const WordLists& lists_for() {
  static const WordLists kLists = lists_of(kWords, kLanes);
  return kLists;
}

void code_sixteen_words(const WordSpec& spec, const Parts& in, CodedWords& out) {
  out.fitting = kParts;
  Tile tile;
  tile.part = spec.part;
  turn(in.weights, spec.part, tile.x);
  if (in.importance == nullptr) {
    std::fill_n(tile.p, kParts * spec.part, 1.0F);
  } else {
    turn(in.importance, spec.part, tile.p);
    for (std::size_t i = 0; i < kParts * spec.part; ++i) tile.p[i] = std::max(tile.p[i], kLeastImportance);
  }
  switch (spec.words) {
    case Words::iq1: return code<OfEight, Signs::inside>(spec, lists_for<Words::iq1>(), tile, in, out);
    case Words::iq2_xxs: return code<OfEight, Signs::even>(spec, lists_for<Words::iq2_xxs>(), tile, in, out);
    case Words::iq2_xs: return code<OfEight, Signs::even>(spec, lists_for<Words::iq2_xs>(), tile, in, out);
    case Words::iq2_s: return code<OfEight, Signs::free>(spec, lists_for<Words::iq2_s>(), tile, in, out);
    case Words::iq3_xxs: return code<OfFour, Signs::even>(spec, lists_for<Words::iq3_xxs>(), tile, in, out);
    case Words::iq3_s: return code<OfFour, Signs::free>(spec, lists_for<Words::iq3_s>(), tile, in, out);
  }
}

}  // namespace
}  // namespace tare::codec::ggml::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare::codec::ggml {
namespace {

HWY_EXPORT(code_sixteen_words);

}  // namespace

void code_words(const WordSpec& spec, const Parts& in, CodedWords& out) {
  HWY_DYNAMIC_DISPATCH(code_sixteen_words)(spec, in, out);
}

}  // namespace tare::codec::ggml

#endif
