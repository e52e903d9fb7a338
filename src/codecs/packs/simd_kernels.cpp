// The loops of kernels.hpp for every SIMD target.
#include <algorithm>
#include <cstring>

#include "base/endian.hpp"
#include "base/simd_targets.hpp"
#include "codecs/packs/kernels.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/packs/simd_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tare::codec::packs::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Without vectors, or on big-endian machines (the bytes of lanes are in another order), the scalar functions are used.
#undef TARE_PACKS_SIMD
#if HWY_TARGET != HWY_SCALAR && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TARE_PACKS_SIMD 1
#else
#define TARE_PACKS_SIMD 0
#endif

std::uint64_t load_up_to_8(const std::byte* from, std::size_t bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes; ++i) word |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  return word;
}

// Eight codes take as many bytes as a code has bits.
void expand_any(unsigned bits, const std::byte* stream, std::size_t count, std::uint8_t* codes) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  for (std::size_t at = 0; at < count; at += 8, stream += bits) {
    const std::size_t part = std::min<std::size_t>(8, count - at);
    std::uint64_t word = load_up_to_8(stream, (part * bits + 7) / 8);
    for (std::size_t i = 0; i < part; ++i, word >>= bits) codes[at + i] = static_cast<std::uint8_t>(word & mask);
  }
}

#if TARE_PACKS_SIMD

using FloatTag = hn::CappedTag<float, 16>;
using WholeTag = hn::Rebind<std::int32_t, FloatTag>;
using CodeTag = hn::Rebind<std::uint8_t, FloatTag>;
using ByteTag = hn::Full128<std::uint8_t>;
using PairTag = hn::Full128<std::uint16_t>;
using WordTag = hn::Full128<std::uint32_t>;
using QuadTag = hn::Full128<float>;
constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());

HWY_INLINE hn::Vec<FloatTag> load_codes(const std::uint8_t* codes) {
  return hn::ConvertTo(FloatTag(), hn::PromoteTo(WholeTag(), hn::LoadU(CodeTag(), codes)));
}

void expand_codes(unsigned bits, const std::byte* stream, std::size_t count, std::uint8_t* codes) {
  if (bits == 8) {
    std::memcpy(codes, stream, count);
    return;
  }
  if (bits != 4) return expand_any(bits, stream, count, codes);
  const ByteTag tag;
  const auto mask = hn::Set(tag, 15);
  std::size_t at = 0;
  for (; at + 32 <= count; at += 32, stream += 16) {
    const auto both = hn::LoadU(tag, reinterpret_cast<const std::uint8_t*>(stream));
    const auto low = hn::And(both, mask);
    const auto high = hn::And(hn::BitCast(tag, hn::ShiftRight<4>(hn::BitCast(PairTag(), both))), mask);
    hn::StoreU(hn::InterleaveLower(tag, low, high), tag, codes + at);
    hn::StoreU(hn::InterleaveUpper(tag, low, high), tag, codes + at + 16);
  }
  expand_any(bits, stream, count - at, codes + at);
}

void scaled_codes(const std::uint8_t* codes, std::size_t count, float scale, float zero, float* out) {
  const FloatTag tag;
  const auto by = hn::Set(tag, scale), less = hn::Set(tag, zero);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) hn::StoreU(hn::Mul(by, hn::Sub(load_codes(codes + i), less)), tag, out + i);
  for (; i < count; ++i) out[i] = scale * (static_cast<float>(codes[i]) - zero);
}

void scaled_and_added(const std::uint8_t* codes, std::size_t count, float scale, float bias, float* out) {
  const FloatTag tag;
  const auto by = hn::Set(tag, scale), more = hn::Set(tag, bias);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) hn::StoreU(hn::Add(hn::Mul(by, load_codes(codes + i)), more), tag, out + i);
  for (; i < count; ++i) out[i] = scale * static_cast<float>(codes[i]) + bias;
}

// Converts f8_e4m3fn by its bits, because a lookup per byte would take most of the time. Subnormal numbers are made
// from integers, because arithmetic with f32's subnormal numbers is slow.
HWY_INLINE hn::Vec<FloatTag> e4m3fn_values(const std::uint8_t* bytes) {
  const FloatTag tag;
  const WholeTag whole;
  const auto code = hn::PromoteTo(whole, hn::LoadU(CodeTag(), bytes));
  const auto size = hn::And(code, hn::Set(whole, 0x7F));
  const auto sign = hn::ShiftLeft<24>(hn::And(code, hn::Set(whole, 0x80)));
  const auto normal = hn::BitCast(tag, hn::Add(hn::ShiftLeft<20>(size), hn::Set(whole, 120 << 23)));
  const auto small = hn::Mul(hn::ConvertTo(tag, size), hn::Set(tag, 0x1p-9f));
  auto value = hn::IfThenElse(hn::RebindMask(tag, hn::Lt(size, hn::Set(whole, 8))), small, normal);
  const auto not_a_number = hn::BitCast(tag, hn::Set(whole, 0x7FC00000));
  value = hn::IfThenElse(hn::RebindMask(tag, hn::Eq(size, hn::Set(whole, 0x7F))), not_a_number, value);
  return hn::Or(value, hn::BitCast(tag, sign));
}

void scaled_bytes(const ByteTable& table, const std::byte* bytes, std::size_t count, float scale, float* out) {
  std::size_t i = 0;
  if (table.e4m3fn) {
    const FloatTag tag;
    const auto by = hn::Set(tag, scale);
    for (; i + kLanes <= count; i += kLanes)
      hn::StoreU(hn::Mul(e4m3fn_values(reinterpret_cast<const std::uint8_t*>(bytes) + i), by), tag, out + i);
  }
  for (; i < count; ++i) out[i] = table.values[std::to_integer<std::uint8_t>(bytes[i])] * scale;
}

// Sixteen floats at a time, byte by byte: one lookup handles a byte of sixteen values.
void scaled_nibbles(const NibbleTable& table, const std::byte* bytes, std::size_t count, bool high_first, float scale,
                    float* out) {
  const ByteTag tag;
  const PairTag pairs;
  const WordTag words;
  const QuadTag floats;
  const auto mask = hn::Set(tag, 15);
  const auto by = hn::Set(floats, scale);
  const auto table0 = hn::Load(tag, table.bytes[0].data()), table1 = hn::Load(tag, table.bytes[1].data());
  const auto table2 = hn::Load(tag, table.bytes[2].data()), table3 = hn::Load(tag, table.bytes[3].data());
  std::size_t at = 0;
  for (; at + 16 <= count; at += 16) {
    const auto both = hn::BitCast(tag, hn::Set(hn::Full128<std::uint64_t>(), load_le<std::uint64_t>(bytes + at / 2)));
    const auto low = hn::And(both, mask);
    const auto high = hn::And(hn::BitCast(tag, hn::ShiftRight<4>(hn::BitCast(pairs, both))), mask);
    const auto codes = high_first ? hn::InterleaveLower(tag, high, low) : hn::InterleaveLower(tag, low, high);
    const auto b0 = hn::TableLookupBytes(table0, codes), b1 = hn::TableLookupBytes(table1, codes);
    const auto b2 = hn::TableLookupBytes(table2, codes), b3 = hn::TableLookupBytes(table3, codes);
    const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(tag, b0, b1));
    const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(tag, b0, b1));
    const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(tag, b2, b3));
    const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(tag, b2, b3));
    const auto put = [&](auto made, std::size_t place) HWY_ATTR {
      hn::StoreU(hn::Mul(hn::BitCast(floats, hn::BitCast(words, made)), by), floats, out + at + place);
    };
    put(hn::InterleaveLower(pairs, low01, low23), 0);
    put(hn::InterleaveUpper(pairs, low01, low23), 4);
    put(hn::InterleaveLower(pairs, high01, high23), 8);
    put(hn::InterleaveUpper(pairs, high01, high23), 12);
  }
  const unsigned even = high_first ? 4 : 0;
  for (; at < count; ++at) {
    const auto byte = std::to_integer<unsigned>(bytes[at / 2]);
    out[at] = table.values[byte >> (at % 2 == 0 ? even : 4 - even) & 15] * scale;
  }
}

#else

void expand_codes(unsigned bits, const std::byte* stream, std::size_t count, std::uint8_t* codes) {
  expand_any(bits, stream, count, codes);
}

void scaled_codes(const std::uint8_t* codes, std::size_t count, float scale, float zero, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = scale * (static_cast<float>(codes[i]) - zero);
}

void scaled_and_added(const std::uint8_t* codes, std::size_t count, float scale, float bias, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = scale * static_cast<float>(codes[i]) + bias;
}

void scaled_bytes(const ByteTable& table, const std::byte* bytes, std::size_t count, float scale, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = table.values[std::to_integer<std::uint8_t>(bytes[i])] * scale;
}

void scaled_nibbles(const NibbleTable& table, const std::byte* bytes, std::size_t count, bool high_first, float scale,
                    float* out) {
  const unsigned even = high_first ? 4 : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto byte = std::to_integer<unsigned>(bytes[i / 2]);
    out[i] = table.values[byte >> (i % 2 == 0 ? even : 4 - even) & 15] * scale;
  }
}

#endif

}  // namespace
}  // namespace tare::codec::packs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare::codec::packs {
namespace {

HWY_EXPORT(expand_codes);
HWY_EXPORT(scaled_codes);
HWY_EXPORT(scaled_and_added);
HWY_EXPORT(scaled_bytes);
HWY_EXPORT(scaled_nibbles);

}  // namespace

void expand(unsigned bits, const std::byte* stream, std::size_t count, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(expand_codes)(bits, stream, count, codes);
}

void scale_codes(const std::uint8_t* codes, std::size_t count, float scale, float zero, float* out) {
  HWY_DYNAMIC_DISPATCH(scaled_codes)(codes, count, scale, zero, out);
}

void scale_and_add(const std::uint8_t* codes, std::size_t count, float scale, float bias, float* out) {
  HWY_DYNAMIC_DISPATCH(scaled_and_added)(codes, count, scale, bias, out);
}

void scale_bytes(const ByteTable& table, const std::byte* bytes, std::size_t count, float scale, float* out) {
  HWY_DYNAMIC_DISPATCH(scaled_bytes)(table, bytes, count, scale, out);
}

void scale_nibbles(const NibbleTable& table, const std::byte* bytes, std::size_t count, bool high_first, float scale,
                   float* out) {
  HWY_DYNAMIC_DISPATCH(scaled_nibbles)(table, bytes, count, high_first, scale, out);
}

}  // namespace tare::codec::packs

#endif
