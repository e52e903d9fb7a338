// The loops of nibbles.hpp for every SIMD target.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "base/simd_targets.hpp"
#include "codecs/packs/nibbles.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/packs/simd_nibbles.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tare::codec::packs::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#undef TARE_NIBBLES_SIMD
#if HWY_TARGET != HWY_SCALAR && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TARE_NIBBLES_SIMD 1
#else
#define TARE_NIBBLES_SIMD 0
#endif

// Processors do not prefetch lines that are far apart, each in its own page.
constexpr std::size_t kAhead = 24;

HWY_INLINE void prefetch(const Lines& lines, std::size_t line) {
  if (line + kAhead < lines.count + lines.more) __builtin_prefetch(lines.first + (line + kAhead) * lines.pitch);
}

using Halves = std::array<std::uint16_t, 16>;

constexpr std::uint32_t kLargest = 0x7F7F7FFF;  // the largest float that rounds to a finite bf16

HWY_INLINE unsigned code_at(NibbleOrder order, const std::byte* codes, std::size_t i) {
  const bool single = order == NibbleOrder::low_only || order == NibbleOrder::high_only;
  const auto byte = std::to_integer<unsigned>(codes[single ? i : i / 2]);
  const bool high = single ? order == NibbleOrder::high_only : (i % 2 != 0) == (order == NibbleOrder::low_first);
  return high ? byte >> 4 : byte & 15u;
}

void look_up_rest(NibbleOrder order, const std::byte* codes, std::size_t first, std::size_t count, const Halves& halves,
                  std::byte* out) {
  for (std::size_t i = first; i < count; ++i) store_le<std::uint16_t>(out + 2 * i, halves[code_at(order, codes, i)]);
}

template <typename Element>
void turn_part(const Lines& lines, std::size_t line, std::size_t lines_end, std::size_t column, std::size_t columns,
               Element* out, std::size_t stride) {
  for (std::size_t l = line; l < lines_end; ++l)
    for (std::size_t c = column; c < columns; ++c)
      std::memcpy(out + c * stride + l, lines.first + l * lines.pitch + c * sizeof(Element), sizeof(Element));
}

#if TARE_NIBBLES_SIMD

using ByteTag = hn::Full128<std::uint8_t>;
using PairTag = hn::Full128<std::uint16_t>;
using WordTag = hn::Full128<std::uint32_t>;
using LongTag = hn::Full128<std::uint64_t>;
using ByteVec = hn::Vec<ByteTag>;

const std::uint8_t* as_bytes_at(const std::byte* from) { return reinterpret_cast<const std::uint8_t*>(from); }

HWY_INLINE ByteVec high_nibbles(ByteVec bytes) {
  return hn::And(hn::BitCast(ByteTag(), hn::ShiftRight<4>(hn::BitCast(PairTag(), bytes))), hn::Set(ByteTag(), 15));
}

// The next sixteen codes, one per byte.
template <NibbleOrder kOrder>
HWY_INLINE ByteVec sixteen_codes(const std::byte* codes) {
  const ByteTag tag;
  if constexpr (kOrder == NibbleOrder::low_only) return hn::And(hn::LoadU(tag, as_bytes_at(codes)), hn::Set(tag, 15));
  if constexpr (kOrder == NibbleOrder::high_only) return high_nibbles(hn::LoadU(tag, as_bytes_at(codes)));
  const auto both = hn::BitCast(tag, hn::Set(LongTag(), load_le<std::uint64_t>(codes)));
  const auto low = hn::And(both, hn::Set(tag, 15)), high = high_nibbles(both);
  return kOrder == NibbleOrder::low_first ? hn::InterleaveLower(tag, low, high) : hn::InterleaveLower(tag, high, low);
}

using PairVec = hn::Vec<PairTag>;

// Rounds the sixteen values to bf16. They stay in registers, because a load after stores of another width waits for all
// earlier stores. Returns false if one is NaN or too large for bf16.
HWY_INLINE bool round_values(const NibbleValues& values, PairVec& first, PairVec& second) {
  const hn::Full128<float> floats;
  const WordTag words;
  const hn::Half<PairTag> four;
  const auto zero = hn::Set(floats, values.zero), scale = hn::Set(floats, values.scale);
  auto largest = hn::Zero(words);
  const auto quad = [&](std::size_t at) HWY_ATTR {
    const auto value = hn::Mul(scale, hn::Sub(hn::LoadU(floats, values.of.data() + at), zero));
    const auto bits = hn::BitCast(words, value);
    largest = hn::Max(largest, hn::And(bits, hn::Set(words, 0x7FFFFFFF)));
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(words, 1));
    return hn::TruncateTo(four, hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(words, 0x7FFF)), odd)));
  };
  const auto a = quad(0), b = quad(4), c = quad(8), d = quad(12);
  first = hn::Combine(PairTag(), b, a);
  second = hn::Combine(PairTag(), d, c);
  const hn::RebindToSigned<WordTag> whole;
  return hn::AllFalse(whole, hn::Gt(hn::BitCast(whole, largest), hn::Set(whole, kLargest)));
}

// Splits the sixteen 16-bit values into low bytes and high bytes: one lookup handles a byte of sixteen codes.
template <NibbleOrder kOrder>
HWY_INLINE void look_up(const std::byte* codes, std::size_t count, PairVec first, PairVec second, std::byte* out) {
  const ByteTag tag;
  const PairTag pairs;
  const hn::Half<ByteTag> eight;
  const hn::RebindToSigned<PairTag> whole;
  const auto low_bytes = [&](auto of) HWY_ATTR {
    return hn::DemoteTo(eight, hn::BitCast(whole, hn::And(of, hn::Set(pairs, 0xFF))));
  };
  const auto high_bytes = [&](auto of)
                              HWY_ATTR { return hn::DemoteTo(eight, hn::BitCast(whole, hn::ShiftRight<8>(of))); };
  const auto low = hn::Combine(tag, low_bytes(second), low_bytes(first));
  const auto high = hn::Combine(tag, high_bytes(second), high_bytes(first));
  constexpr bool kSingle = kOrder == NibbleOrder::low_only || kOrder == NibbleOrder::high_only;
  auto* const to = reinterpret_cast<std::uint8_t*>(out);
  std::size_t at = 0;
  for (; at + 16 <= count; at += 16) {
    const auto code = sixteen_codes<kOrder>(codes + (kSingle ? at : at / 2));
    const auto l = hn::TableLookupBytes(low, code), h = hn::TableLookupBytes(high, code);
    hn::StoreU(hn::InterleaveLower(tag, l, h), tag, to + 2 * at);
    hn::StoreU(hn::InterleaveUpper(tag, l, h), tag, to + 2 * at + 16);
  }
  if (at == count) return;
  Halves halves;
  hn::StoreU(first, pairs, halves.data());
  hn::StoreU(second, pairs, halves.data() + 8);
  look_up_rest(kOrder, codes, at, count, halves, out);
}

bool narrowed_nibbles(NibbleOrder order, const std::byte* codes, std::size_t count, const NibbleValues& values,
                      std::byte* out) {
  PairVec first = hn::Zero(PairTag()), second = first;
  if (!round_values(values, first, second)) return false;
  switch (order) {
    case NibbleOrder::low_first: look_up<NibbleOrder::low_first>(codes, count, first, second, out); break;
    case NibbleOrder::high_first: look_up<NibbleOrder::high_first>(codes, count, first, second, out); break;
    case NibbleOrder::low_only: look_up<NibbleOrder::low_only>(codes, count, first, second, out); break;
    case NibbleOrder::high_only: look_up<NibbleOrder::high_only>(codes, count, first, second, out); break;
  }
  return true;
}

void turned_words(const Lines& lines, std::size_t columns, std::uint32_t* out, std::size_t stride) {
  const WordTag words;
  const LongTag longs;
  std::size_t line = 0;
  for (; line + 4 <= lines.count; line += 4) {
    for (std::size_t k = 0; k < 4; ++k) prefetch(lines, line + k);
    std::size_t column = 0;
    for (; column + 4 <= columns; column += 4) {
      const auto row = [&](std::size_t k) HWY_ATTR {
        return hn::BitCast(words,
                           hn::LoadU(ByteTag(), as_bytes_at(lines.first + (line + k) * lines.pitch + column * 4)));
      };
      const auto r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
      const auto a = hn::BitCast(longs, hn::InterleaveLower(words, r0, r1));
      const auto b = hn::BitCast(longs, hn::InterleaveLower(words, r2, r3));
      const auto c = hn::BitCast(longs, hn::InterleaveUpper(words, r0, r1));
      const auto d = hn::BitCast(longs, hn::InterleaveUpper(words, r2, r3));
      const auto put = [&](std::size_t k, auto made) HWY_ATTR {
        hn::StoreU(hn::BitCast(words, made), words, out + (column + k) * stride + line);
      };
      put(0, hn::InterleaveLower(longs, a, b));
      put(1, hn::InterleaveUpper(longs, a, b));
      put(2, hn::InterleaveLower(longs, c, d));
      put(3, hn::InterleaveUpper(longs, c, d));
    }
    turn_part(lines, line, line + 4, column, columns, out, stride);
  }
  turn_part(lines, line, lines.count, 0, columns, out, stride);
}

// Transposes sixteen lines of sixteen bytes: interleaves the first half with the second, four times.
HWY_INLINE void turn_square(const std::byte* from, std::size_t pitch, std::byte* out, std::size_t stride) {
  const ByteTag tag;
  ByteVec a[16], b[16];
  for (std::size_t i = 0; i < 16; ++i) a[i] = hn::LoadU(tag, as_bytes_at(from + i * pitch));
  const auto interleave = [&](const ByteVec* x, ByteVec* y) HWY_ATTR {
    for (std::size_t i = 0; i < 8; ++i) {
      y[2 * i] = hn::InterleaveLower(tag, x[i], x[i + 8]);
      y[2 * i + 1] = hn::InterleaveUpper(tag, x[i], x[i + 8]);
    }
  };
  interleave(a, b);
  interleave(b, a);
  interleave(a, b);
  interleave(b, a);
  for (std::size_t i = 0; i < 16; ++i) hn::StoreU(a[i], tag, reinterpret_cast<std::uint8_t*>(out + i * stride));
}

void turned_bytes(const Lines& lines, std::size_t columns, std::byte* out, std::size_t stride) {
  std::size_t line = 0;
  for (; line + 16 <= lines.count; line += 16) {
    for (std::size_t k = 0; k < 16; ++k) prefetch(lines, line + k);
    std::size_t column = 0;
    for (; column + 16 <= columns; column += 16)
      turn_square(lines.first + line * lines.pitch + column, lines.pitch, out + column * stride + line, stride);
    turn_part(lines, line, line + 16, column, columns, out, stride);
  }
  turn_part(lines, line, lines.count, 0, columns, out, stride);
}

#else

// Returns false if a value is NaN or too large for bf16.
bool round_values(const NibbleValues& values, Halves& halves) {
  bool fit = true;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values.scale * (values.of[i] - values.zero));
    fit = fit && (bits & 0x7FFFFFFFu) <= kLargest;
    halves[i] = static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
  }
  return fit;
}

bool narrowed_nibbles(NibbleOrder order, const std::byte* codes, std::size_t count, const NibbleValues& values,
                      std::byte* out) {
  Halves halves;
  if (!round_values(values, halves)) return false;
  look_up_rest(order, codes, 0, count, halves, out);
  return true;
}

void turned_words(const Lines& lines, std::size_t columns, std::uint32_t* out, std::size_t stride) {
  turn_part(lines, 0, lines.count, 0, columns, out, stride);
}

void turned_bytes(const Lines& lines, std::size_t columns, std::byte* out, std::size_t stride) {
  turn_part(lines, 0, lines.count, 0, columns, out, stride);
}

#endif

}  // namespace
}  // namespace tare::codec::packs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare::codec::packs {

constinit const std::array<float, 16> kWholeNibbles = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

namespace {

HWY_EXPORT(narrowed_nibbles);
HWY_EXPORT(turned_words);
HWY_EXPORT(turned_bytes);

}  // namespace

bool nibbles_to_bf16(NibbleOrder order, const std::byte* codes, std::size_t count, const NibbleValues& values,
                     std::byte* out) {
  return HWY_DYNAMIC_DISPATCH(narrowed_nibbles)(order, codes, count, values, out);
}

void turn_words(const Lines& lines, std::size_t columns, std::uint32_t* out, std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(turned_words)(lines, columns, out, stride);
}

void turn_bytes(const Lines& lines, std::size_t columns, std::byte* out, std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(turned_bytes)(lines, columns, out, stride);
}

}  // namespace tare::codec::packs

#endif
