// Encoding to ggml's types of codewords: IQ1, IQ2 and IQ3. Every machine produces the same bytes.
//
// As in encode.hpp, a part is the 16 or 32 weights that share a scale, 16 parts are coded together, lane l holds part l, and all
// arithmetic is IEEE f32, rounded to nearest even after each operation, never fused. A group is eight weights: it has one
// codeword (IQ3: two), and the signs of a group may have to be even in number.
//
// A weight becomes t v, v an entry of its codeword with its sign (IQ1: in eighths, 8 g + delta). x_i are the weights, p_i their
// importance (1 if none is given, at least 2^-20). Compared to zeros, a codeword saves t S with
//
//   S = sum of v (y - (t v) p),   y = 2 p |x|  (IQ1: 2 p x)
//
// Every weight has its natural sign, except that in a group with an odd number of minus signs, where the format allows only
// even numbers, the one whose change costs least, 2 v y, has the other.
//
//   codes of a scale   the codewords (IQ1: with the better delta) that save most, the first of equals, out of all codewords.
//                      That is cheap because S is the sum over the two halves of a codeword, and a half is one of 81 (IQ3: 64)
//                      patterns: the sums of all patterns are made first, each from two sums of two weights (IQ3: two weights),
//                      and for each higher half, the best of the lower halves that go with it. What several higher halves have
//                      in common is compared once (`joins`). If signs must be even, a pattern has a second sum, with its
//                      cheapest sign changed, and one half takes that.
//   fit of a part      tries t = rms * step for each of `steps`; rms is the root of the weighted mean of x x. The one that saves
//                      most wins, the first of equals. For its codes, with A = sum of p |x| v and B = sum of p (v v), t = A / B is
//                      best. In IQ1_S, all codes but the last have the delta with the sign of the sum of p x.
//   block              t = D m, m = (2 u + 1) unit, u from 0 to `top`. Sixteen D are tried: f16(t / (divisor unit)) for the largest
//                      t of the fits. A part saves t (2 A - t B) with m nearest to t / D. The D that saves most wins. Then each part takes
//                      the u, u - 1 or u + 1 that saves most, with codes for that scale. For these, D is fitted again:
//                      the sum of m A divided by the sum of m m B. f16 of that replaces D if it saves more, and the codes
//                      are chosen again.
//   fast               t = extreme * fast for each part, extreme the largest magnitude, D = f16(largest t / (most unit)), m nearest, then the codes.
//
// A block that would save nothing has the scale 0. A block is refused if `fast` needs a scale above 65504.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codecs/ggml/encode.hpp"

namespace tare::codec::ggml {

inline constexpr std::size_t kMostSteps = 16;

// How codewords divide into patterns: the levels of half a codeword as digits, the first one lowest.
struct OfEight {
  static constexpr std::size_t kWeights = 8, kHalf = 4, kLevels = 3, kPatterns = 81, kMostJoins = 208;
};
struct OfFour {
  static constexpr std::size_t kWeights = 4, kHalf = 2, kLevels = 8, kPatterns = 64, kMostJoins = 96;
};

// The codewords of a type, as numbers of patterns of their halves. Those with the same higher half follow each other.
struct WordLists {
  std::size_t highs = 0;                               // patterns that occur as a higher half
  std::array<std::uint8_t, 81> high = {};              // those patterns
  std::array<std::uint16_t, 81> first = {}, end = {};  // the codewords with that higher half
  std::array<std::uint8_t, 2048> low = {};             // the lower half of each codeword
  // Sums of patterns are followed by joins. Each is the larger one of two earlier sums, as offsets of vectors.
  std::size_t joined = 0;
  std::array<std::array<std::uint16_t, 2>, OfEight::kMostJoins> joins = {};
  // Whose largest is that of the lower halves that go with each higher half, one after the other, as offsets of vectors. Their
  // number is even: the last is repeated. The higher halves are in the order of that number, so that loops of the same length
  // follow each other.
  std::array<std::uint8_t, 81> paired = {};
  std::array<std::uint16_t, 2048 + 81> pairs = {};
};

// The grid, and with it whether the number of minus signs of a group must be even.
enum class Words : std::uint8_t { iq1, iq2_xxs, iq2_xs, iq2_s, iq3_xxs, iq3_s };

struct WordSpec {
  Words words = Words::iq1;
  std::array<float, 8> levels = {};  // values of a codeword, in ascending order
  float delta = 0;                   // not 0: added to or subtracted from all values of a part (`shared`) or a group
  bool shared = false;
  std::size_t part = 32;
  float unit = 1, top = 15;
  std::span<const float> steps = {};
  float fast = 0;
  std::array<float, kDivisors> divisors = {};
};

struct CodedWords {
  std::array<std::uint16_t, kParts * 8> word;  // 1, 2, 4 or 8 for each part, one part after the other
  std::array<std::uint8_t, kParts * 4>
      signs;  // 2 or 4 for each part; a set bit is a minus. IQ1: 1 if delta is subtracted
  std::array<std::uint8_t, kParts> sub_scale;
  std::array<std::uint16_t, kParts> scale;  // the f16 of each block
  std::size_t fitting = kParts;             // parts before the first whose scale does not fit f16
};

// `lanes`: of a vector.
WordLists lists_of(Words words, std::size_t lanes);

// Uses the best SIMD of the processor.
void code_words(const WordSpec& spec, const Parts& in, CodedWords& out);

// Encodes blocks of a type of codewords; see BlockCodec.
std::size_t encode_words(Type type, const BlockWeights& in, std::byte* blocks);

}  // namespace tare::codec::ggml
