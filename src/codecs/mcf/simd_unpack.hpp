// Shared by the SIMD kernels: unpacking of codes, and the scales of 16 blocks. Included once per SIMD target.
//
// The kernels process a row in segments of 16 blocks (512 columns). A whole segment is read in place. The rest of a row
// is first copied into a Segment and padded with zeros, because for 3 and 6 bits vector loads may read beyond the codes
// that they need, by less than a block and at most 16 bytes.
#if defined(TARE_MCF_SIMD_UNPACK_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TARE_MCF_SIMD_UNPACK_HPP
#undef TARE_MCF_SIMD_UNPACK_HPP
#else
#define TARE_MCF_SIMD_UNPACK_HPP
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "codecs/mcf/reference.hpp"
#include "codecs/simd_quads.hpp"

// Without vectors, or on big-endian machines (where the bytes of lanes are in another order), the reference is used.
#undef TARE_MCF_HAS_SIMD
#if HWY_TARGET != HWY_SCALAR && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TARE_MCF_HAS_SIMD 1
#else
#define TARE_MCF_HAS_SIMD 0
#endif

// Goes after a lambda's parameters: compiles it for the current target and always inlines it, so that sums to which it
// refers stay in registers.
#undef TARE_MCF_LAMBDA
#define TARE_MCF_LAMBDA HWY_ATTR __attribute__((always_inline))

#if TARE_MCF_HAS_SIMD

HWY_BEFORE_NAMESPACE();
namespace tare::codec::mcf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of at most 64 bytes: two blocks, one block or half a block of codes.
using CodeTag = hn::CappedTag<std::uint8_t, 64>;
using FloatTag = hn::Repartition<float, CodeTag>;

inline constexpr std::size_t kSegmentBlocks = 16;
inline constexpr std::size_t kSegmentColumns = kSegmentBlocks * kBlock;
inline constexpr std::size_t kOverread = 16;
// Codes are prefetched this many bytes ahead: a page, because hardware prefetching stops at the end of one.
inline constexpr std::size_t kAhead = 4096;

inline const std::uint8_t* bytes_of(const std::byte* at) { return reinterpret_cast<const std::uint8_t*>(at); }

#if HWY_TARGET == HWY_AVX3_DL
// 64 codes of 3 or 6 bits: moves 8 codes (3 or 6 bytes) to each 64-bit lane, then each code to a byte of it.
template <unsigned kBits, class D>
HWY_INLINE hn::Vec<D> unpack_stream(D d, const std::uint8_t* from) {
  static_assert(hn::MaxLanes(D()) == 64);
  alignas(64) static constexpr auto kPlaces = [] {
    std::array<std::uint8_t, 64> places{};
    for (std::size_t i = 0; i < 64; ++i) places[i] = static_cast<std::uint8_t>(i / 8 * kBits + i % 8 % kBits);
    return places;
  }();
  alignas(64) static constexpr auto kShifts = [] {
    std::array<std::uint8_t, 64> shifts{};
    for (std::size_t i = 0; i < 64; ++i) shifts[i] = static_cast<std::uint8_t>(i % 8 * kBits);
    return shifts;
  }();
  // 24 or 48 bytes are needed; the load reads less than a block more.
  const auto packed = [&]() TARE_MCF_LAMBDA {
    if constexpr (kBits == 3)
      return hn::ZeroExtendVector(d, hn::LoadU(hn::Half<D>(), from));
    else
      return hn::LoadU(d, from);
  };
  const auto lanes = _mm512_permutexvar_epi8(hn::Load(d, kPlaces.data()).raw, packed().raw);
  const auto bytes = _mm512_multishift_epi64_epi8(hn::Load(d, kShifts.data()).raw, lanes);
  return hn::And(hn::Vec<D>{bytes}, hn::Set(d, std::uint8_t{(1 << kBits) - 1}));
}
#else
// Moves groups of 3 bytes, `kGroups` per 128 bits of the vector, to the start of equal slots, with 0 after them.
template <std::size_t kGroups, class D>
HWY_INLINE hn::Vec<D> spread_groups(D d, const std::uint8_t* from) {
  if constexpr (hn::MaxLanes(D()) > 16) {
    const hn::Half<D> half;
    constexpr std::size_t kUpper = hn::MaxLanes(D()) / 32 * 3 * kGroups;
    return hn::Combine(d, spread_groups<kGroups>(half, from + kUpper), spread_groups<kGroups>(half, from));
  } else {
    alignas(16) static constexpr auto kPlaces = [] {
      constexpr std::size_t kSlot = 16 / kGroups;
      std::array<std::uint8_t, 16> places{};
      for (std::size_t i = 0; i < 16; ++i)
        places[i] = static_cast<std::uint8_t>(i % kSlot < 3 ? i / kSlot * 3 + i % kSlot : 0x80);
      return places;
    }();
    return hn::TableLookupBytesOr0(hn::LoadU(d, from), hn::Load(d, kPlaces.data()));
  }
}

// As many codes of 3 or 6 bits as a vector has bytes. Each step splits every packed run in half and moves the upper
// half to a slot of its own, in a few shifts for all lanes at once.
template <unsigned kBits, class D>
HWY_INLINE hn::Vec<D> unpack_stream(D d, const std::uint8_t* from) {
  if constexpr (kBits == 6) {
    // 4 codes in 3 bytes: 24 bits per 32-bit lane.
    const hn::Repartition<std::uint32_t, D> wide;
    const auto x = hn::BitCast(wide, spread_groups<4>(d, from));
    const auto twelves =
        hn::Or(hn::And(x, hn::Set(wide, 0x00000FFF)), hn::And(hn::ShiftLeft<4>(x), hn::Set(wide, 0x0FFF0000)));
    return hn::BitCast(d, hn::Or(hn::And(twelves, hn::Set(wide, 0x003F003F)),
                                 hn::And(hn::ShiftLeft<2>(twelves), hn::Set(wide, 0x3F003F00))));
  } else {
    static_assert(kBits == 3);
    // 8 codes in 3 bytes: 24 bits per 64-bit lane.
    const hn::Repartition<std::uint64_t, D> wide;
    const auto x = hn::BitCast(wide, spread_groups<2>(d, from));
    const auto twelves = hn::And(hn::Or(x, hn::ShiftLeft<20>(x)), hn::Set(wide, 0x00000FFF00000FFFu));
    const auto sixes = hn::And(hn::Or(twelves, hn::ShiftLeft<10>(twelves)), hn::Set(wide, 0x003F003F003F003Fu));
    return hn::BitCast(d, hn::And(hn::Or(sixes, hn::ShiftLeft<5>(sixes)), hn::Set(wide, 0x0707070707070707u)));
  }
}
#endif

// As many codes as a vector has bytes, in order, not sign-extended.
template <unsigned kBits, class D>
HWY_INLINE hn::Vec<D> raw_codes(D d, const std::uint8_t* from) {
  if constexpr (kBits == 8) {
    return hn::LoadU(d, from);
  } else if constexpr (kBits == 4) {
    const hn::RepartitionToWide<D> wide;
    const auto x = hn::PromoteTo(wide, hn::LoadU(hn::Rebind<std::uint8_t, decltype(wide)>(), from));
    return hn::BitCast(d, hn::And(hn::Or(x, hn::ShiftLeft<4>(x)), hn::Set(wide, 0x0F0F)));
  } else if constexpr (kBits == 2) {
    const hn::Repartition<std::uint32_t, D> wide;
    const auto x = hn::PromoteTo(wide, hn::LoadU(hn::Rebind<std::uint8_t, decltype(wide)>(), from));
    const auto nibbles = hn::And(hn::Or(x, hn::ShiftLeft<12>(x)), hn::Set(wide, 0x000F000F));
    return hn::BitCast(d, hn::And(hn::Or(nibbles, hn::ShiftLeft<6>(nibbles)), hn::Set(wide, 0x03030303)));
  } else {
    return unpack_stream<kBits>(d, from);
  }
}

// The same, sign-extended.
template <unsigned kBits, class D>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> signed_codes(D d, const std::uint8_t* from) {
  const hn::RebindToSigned<D> ds;
  const auto raw = hn::BitCast(ds, raw_codes<kBits>(d, from));
  if constexpr (kBits == 8) {
    return raw;
  } else {
    const auto sign = hn::Set(ds, std::int8_t{1 << (kBits - 1)});
    return hn::Sub(hn::Xor(raw, sign), sign);
  }
}

// f16 to f32. On processors without an instruction for it, Highway 1.0 converts infinities and NaN wrongly.
HWY_INLINE hn::Vec<FloatTag> floats_of(hn::Vec<hn::Rebind<std::uint16_t, FloatTag>> bits) {
  const FloatTag d;
  const hn::Rebind<hwy::float16_t, FloatTag> dh;
  const hn::Rebind<std::uint32_t, FloatTag> du;
  const auto wide = hn::PromoteTo(du, bits);
  const auto exponent = hn::Set(du, 0x7C00);
  const auto special = hn::Or(hn::Or(hn::ShiftLeft<16>(hn::And(wide, hn::Set(du, 0x8000))), hn::Set(du, 0x7F800000)),
                              hn::ShiftLeft<13>(hn::And(wide, hn::Set(du, 0x03FF))));
  const auto is_special = hn::RebindMask(d, hn::Eq(hn::And(wide, exponent), exponent));
  return hn::IfThenElse(is_special, hn::BitCast(d, special), hn::PromoteTo(d, hn::BitCast(dh, bits)));
}

// The scales of 16 blocks of q*, from their f16.
HWY_INLINE void block_scales(const std::uint8_t* scales, float* HWY_RESTRICT out) {
  const FloatTag d;
  const hn::Rebind<std::uint16_t, FloatTag> du;
  const hn::Repartition<std::uint8_t, decltype(du)> d8;
  for (std::size_t i = 0; i < kSegmentBlocks; i += hn::Lanes(d))
    hn::Store(floats_of(hn::BitCast(du, hn::LoadU(d8, scales + 2 * i))), d, out + i);
}

// The same for k*, from two f16 and 16 sub-scales. All products here are exact, so their order does not matter.
HWY_INLINE void super_scales(const std::uint8_t* scales, const std::uint8_t* sub_scales, float* HWY_RESTRICT out) {
  const FloatTag d;
  const hn::Rebind<std::int32_t, FloatTag> di;
  const hn::Rebind<std::uint8_t, FloatTag> d8;
  const hn::Rebind<std::uint16_t, FloatTag> du;
  constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());
  for (std::size_t i = 0; i < kSegmentBlocks; i += kLanes) {
    auto scale = hn::Zero(d);
    if constexpr (kLanes > kBlocksInSuper) {
      // Loads both f16 alternating, then moves each to its half.
      const hn::Repartition<std::uint32_t, decltype(du)> pairs;
      const auto both = floats_of(hn::BitCast(du, hn::Set(pairs, load_le<std::uint32_t>(scales))));
      alignas(64) static constexpr std::int32_t kHalves[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
      scale = hn::TableLookupLanes(both, hn::SetTableIndices(d, kHalves));
    } else {
      scale = floats_of(hn::Set(du, load_le<std::uint16_t>(scales + 2 * (i / kBlocksInSuper))));
    }
    const auto u = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(d8, sub_scales + i)));
    hn::Store(hn::Mul(scale, hn::Mul(u, hn::Set(d, 1.0f / 32))), d, out + i);
  }
}

template <Family kFamily>
HWY_INLINE void segment_scales(const std::uint8_t* scales, const std::uint8_t* sub_scales, float* HWY_RESTRICT out) {
  if constexpr (kFamily == Family::block) {
    block_scales(scales, out);
  } else if constexpr (kFamily == Family::super) {
    super_scales(scales, sub_scales, out);
  } else {
    for (std::size_t i = 0; i < kSegmentBlocks; ++i) out[i] = 1;
  }
}

// The first bytes of 16 blocks.
struct SegmentBytes {
  const std::uint8_t *scales, *sub_scales, *codes;
};

// A copy of the rest of a row, padded with zeros.
struct Segment {
  alignas(64) std::uint8_t codes[kSegmentColumns + kOverread];
  alignas(64) std::uint8_t scales[2 * kSegmentBlocks];
  alignas(64) std::uint8_t sub_scales[kSegmentBlocks];

  HWY_INLINE SegmentBytes copy(const SegmentBytes& from, std::size_t blocks, std::size_t code_bytes) {
    std::memset(codes + code_bytes, 0, sizeof codes - code_bytes);
    std::memcpy(codes, from.codes, code_bytes);
    if (from.scales != nullptr) {
      const std::size_t count = from.sub_scales == nullptr ? blocks : (blocks + 7) / kBlocksInSuper;
      std::memset(scales, 0, sizeof scales);
      std::memcpy(scales, from.scales, 2 * count);
    }
    if (from.sub_scales != nullptr) {
      std::memset(sub_scales, 0, sizeof sub_scales);
      std::memcpy(sub_scales, from.sub_scales, blocks);
    }
    return {scales, sub_scales, codes};
  }
};

// Calls visit(bytes, first block, number of blocks) for the segments of one row of q* or k*.
template <unsigned kBits, Family kFamily, class Visit>
HWY_INLINE void for_each_segment(const RowSpan& row, const Visit& visit) {
  constexpr std::size_t kBlockBytes = kBlock * kBits / 8;
  constexpr bool kReadsBeyond = kBits == 3 || kBits == 6;
  const std::size_t blocks = static_cast<std::size_t>(row.blocks());
  // Even a complete last segment needs the copy if loads read beyond it.
  const std::size_t whole = kReadsBeyond ? (blocks - 1) / kSegmentBlocks : blocks / kSegmentBlocks;
  SegmentBytes at = {bytes_of(row.scales), row.sub_scales == nullptr ? nullptr : bytes_of(row.sub_scales),
                     bytes_of(row.codes)};
  std::size_t block = 0;
  for (std::size_t i = 0; i < whole; ++i, block += kSegmentBlocks) {
    for (std::size_t line = 0; line < kSegmentBlocks * kBlockBytes; line += 64) hwy::Prefetch(at.codes + kAhead + line);
    visit(at, block, kSegmentBlocks);
    at.codes += kSegmentBlocks * kBlockBytes;
    if constexpr (kFamily == Family::super) {
      at.scales += 2 * (kSegmentBlocks / kBlocksInSuper);
      at.sub_scales += kSegmentBlocks;
    } else {
      at.scales += 2 * kSegmentBlocks;
    }
  }
  if (block == blocks) return;
  Segment rest;
  visit(rest.copy(at, blocks - block, (blocks - block) * kBlockBytes), block, blocks - block);
}

struct CodeBuffer {
  alignas(64) std::int8_t codes[kSegmentColumns + 64];
};

// Expands `columns` codes, rounded up to whole vectors, to bytes. 8-bit codes are used in place.
template <unsigned kBits>
HWY_INLINE const std::int8_t* spread(const std::uint8_t* from, std::size_t columns, CodeBuffer& buffer) {
  if constexpr (kBits == 8) {
    return reinterpret_cast<const std::int8_t*>(from);
  } else {
    const CodeTag d;
    constexpr std::size_t kStep = hn::MaxLanes(CodeTag());
    for (std::size_t i = 0; i < columns; i += kStep)
      hn::Store(signed_codes<kBits>(d, from + i * kBits / 8), hn::RebindToSigned<CodeTag>(), buffer.codes + i);
    return buffer.codes;
  }
}

// int*: all elements are one run. Calls visit(codes as bytes, index of the first, count), at most 512 codes at a time;
// the bytes after them are readable.
template <class Visit>
HWY_INLINE void for_each_raw(const RowSpan& run, std::uint64_t elements, const Visit& visit) {
  const std::size_t odd = run.odd_start ? 1 : 0;
  const std::uint8_t* const from = bytes_of(run.codes);
  CodeBuffer buffer;
  for (std::uint64_t done = 0; done < elements; done += kSegmentColumns) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kSegmentColumns, elements - done));
    if (run.method->bits == 8 && count == kSegmentColumns) {
      visit(reinterpret_cast<const std::int8_t*>(from + done), done, count);
      continue;
    }
    if (run.method->bits == 8) {
      std::memset(buffer.codes, 0, sizeof buffer.codes);
      std::memcpy(buffer.codes, from + done, count);
      visit(buffer.codes, done, count);
      continue;
    }
    // Includes the low nibble before the first code if that code is in a high half.
    alignas(64) std::uint8_t packed[kSegmentColumns / 2 + 64] = {};
    std::memcpy(packed, from + done / 2, (count + odd + 1) / 2);
    spread<4>(packed, count + odd, buffer);
    visit(buffer.codes + odd, done, count);
  }
}

}  // namespace
}  // namespace tare::codec::mcf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TARE_MCF_HAS_SIMD

#endif
