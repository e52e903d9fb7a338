// What the SIMD kernels share: codes out of their packing, scales of 16 blocks. Included once for every SIMD target.
//
// The kernels take a row in segments of 16 blocks (512 columns). A whole segment is read where it lies. What a row has
// left at its end is first copied into a Segment with zeros behind it, because vector loads may reach up to 16 bytes
// beyond the codes they are after.
#if defined(TARE_MCF_SIMD_UNPACK_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TARE_MCF_SIMD_UNPACK_HPP
#undef TARE_MCF_SIMD_UNPACK_HPP
#else
#define TARE_MCF_SIMD_UNPACK_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "codecs/mcf_reference.hpp"

// Without vectors, or where bytes do not lie in lanes as they lie in memory, the reference does the work.
#undef TARE_MCF_HAS_SIMD
#if HWY_TARGET != HWY_SCALAR && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TARE_MCF_HAS_SIMD 1
#else
#define TARE_MCF_HAS_SIMD 0
#endif

#if TARE_MCF_HAS_SIMD

HWY_BEFORE_NAMESPACE();
namespace tare::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of at most 64 bytes: two blocks, one block or half a block of codes.
using CodeTag = hn::CappedTag<std::uint8_t, 64>;
using FloatTag = hn::Repartition<float, CodeTag>;

inline constexpr std::size_t kSegmentBlocks = 16;
inline constexpr std::size_t kSegmentColumns = kSegmentBlocks * kMcfBlock;
inline constexpr std::size_t kOverread = 16;

inline const std::uint8_t* bytes_of(const std::byte* at) { return reinterpret_cast<const std::uint8_t*>(at); }

// 16 bytes from every `kStep` bytes, one run for each 128 bits of the vector.
template <std::size_t kStep, class D>
HWY_INLINE hn::Vec<D> load_groups(D d, const std::uint8_t* from) {
  if constexpr (hn::MaxLanes(D()) <= 16) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    constexpr std::size_t kUpper = hn::MaxLanes(D()) / 32 * kStep;
    return hn::Combine(d, load_groups<kStep>(half, from + kUpper), load_groups<kStep>(half, from));
  }
}

// As many codes as there are bytes in a vector, in order, not sign-extended. Halving the packed runs, each half into
// the upper part of a slot twice as wide, spreads them out in a few shifts for all lanes at once.
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
  } else if constexpr (kBits == 6) {
    // 4 codes in 3 bytes: 24 bits to a lane of 32.
    alignas(16) static constexpr std::uint8_t kPlace[16] = {0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11};
    const hn::Repartition<std::uint32_t, D> wide;
    const auto x = hn::BitCast(wide, hn::TableLookupBytes(load_groups<12>(d, from), hn::LoadDup128(d, kPlace)));
    const auto twelves =
        hn::Or(hn::And(x, hn::Set(wide, 0x00000FFF)), hn::And(hn::ShiftLeft<4>(x), hn::Set(wide, 0x0FFF0000)));
    return hn::BitCast(d, hn::Or(hn::And(twelves, hn::Set(wide, 0x003F003F)),
                                 hn::And(hn::ShiftLeft<2>(twelves), hn::Set(wide, 0x3F003F00))));
  } else {
    static_assert(kBits == 3);
    // 8 codes in 3 bytes: 24 bits to a lane of 64.
    alignas(16) static constexpr std::uint8_t kPlace[16] = {0, 1, 2, 0x80, 0x80, 0x80, 0x80, 0x80,
                                                            3, 4, 5, 0x80, 0x80, 0x80, 0x80, 0x80};
    const hn::Repartition<std::uint64_t, D> wide;
    const auto x = hn::BitCast(wide, hn::TableLookupBytesOr0(load_groups<6>(d, from), hn::LoadDup128(d, kPlace)));
    const auto twelves = hn::And(hn::Or(x, hn::ShiftLeft<20>(x)), hn::Set(wide, 0x00000FFF00000FFFu));
    const auto sixes = hn::And(hn::Or(twelves, hn::ShiftLeft<10>(twelves)), hn::Set(wide, 0x003F003F003F003Fu));
    return hn::BitCast(d, hn::And(hn::Or(sixes, hn::ShiftLeft<5>(sixes)), hn::Set(wide, 0x0707070707070707u)));
  }
}

// Sign-extended.
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

// The scales of 16 blocks of q* from their f16.
HWY_INLINE void block_scales(const std::uint8_t* scales, float* HWY_RESTRICT out) {
  const FloatTag d;
  const hn::Rebind<hwy::float16_t, FloatTag> dh;
  const hn::Repartition<std::uint8_t, decltype(dh)> d8;
  for (std::size_t i = 0; i < kSegmentBlocks; i += hn::Lanes(d))
    hn::Store(hn::PromoteTo(d, hn::BitCast(dh, hn::LoadU(d8, scales + 2 * i))), d, out + i);
}

// The same for k*, from two f16 and 16 sub-scales. All products here are exact, so their order does not matter.
HWY_INLINE void super_scales(const std::uint8_t* scales, const std::uint8_t* sub_scales, float* HWY_RESTRICT out) {
  using D = hn::CappedTag<float, kMcfBlocksInSuper>;
  const D d;
  const hn::Rebind<std::int32_t, D> di;
  const hn::Rebind<std::uint8_t, D> d8;
  for (std::size_t s = 0; s < kSegmentBlocks / kMcfBlocksInSuper; ++s) {
    const auto scale = hn::Set(d, f16_to_f32(load_le<std::uint16_t>(scales + 2 * s)) * (1.0f / 32));
    for (std::size_t i = s * kMcfBlocksInSuper; i < (s + 1) * kMcfBlocksInSuper; i += hn::Lanes(d))
      hn::Store(hn::Mul(scale, hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(d8, sub_scales + i)))), d, out + i);
  }
}

template <McfFamily kFamily>
HWY_INLINE void segment_scales(const std::uint8_t* scales, const std::uint8_t* sub_scales, float* HWY_RESTRICT out) {
  if constexpr (kFamily == McfFamily::block) {
    block_scales(scales, out);
  } else if constexpr (kFamily == McfFamily::super) {
    super_scales(scales, sub_scales, out);
  } else {
    for (std::size_t i = 0; i < kSegmentBlocks; ++i) out[i] = 1;
  }
}

// Where 16 blocks are.
struct SegmentBytes {
  const std::uint8_t *scales, *sub_scales, *codes;
};

// A copy of what a row has left, with zeros behind it.
struct Segment {
  alignas(64) std::uint8_t codes[kSegmentColumns + kOverread];
  alignas(64) std::uint8_t scales[2 * kSegmentBlocks];
  alignas(64) std::uint8_t sub_scales[kSegmentBlocks];

  HWY_INLINE SegmentBytes copy(const SegmentBytes& from, std::size_t blocks, std::size_t code_bytes) {
    std::memset(codes + code_bytes, 0, sizeof codes - code_bytes);
    std::memcpy(codes, from.codes, code_bytes);
    if (from.scales != nullptr) {
      const std::size_t count = from.sub_scales == nullptr ? blocks : (blocks + 7) / kMcfBlocksInSuper;
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

// Calls visit(bytes, first block, count of blocks) for the segments of one row of q* or k*.
template <unsigned kBits, McfFamily kFamily, class Visit>
HWY_INLINE void for_each_segment(const McfRows& row, const Visit& visit) {
  constexpr std::size_t kBlockBytes = kMcfBlock * kBits / 8;
  constexpr bool kReadsBeyond = kBits == 3 || kBits == 6;
  const std::size_t blocks = static_cast<std::size_t>(row.blocks());
  // The last segment may be whole and still need the copy.
  const std::size_t whole = kReadsBeyond ? (blocks - 1) / kSegmentBlocks : blocks / kSegmentBlocks;
  SegmentBytes at = {bytes_of(row.scales), row.sub_scales == nullptr ? nullptr : bytes_of(row.sub_scales),
                     bytes_of(row.codes)};
  std::size_t block = 0;
  for (std::size_t i = 0; i < whole; ++i, block += kSegmentBlocks) {
    visit(at, block, kSegmentBlocks);
    at.codes += kSegmentBlocks * kBlockBytes;
    if constexpr (kFamily == McfFamily::super) {
      at.scales += 2 * (kSegmentBlocks / kMcfBlocksInSuper);
      at.sub_scales += kSegmentBlocks;
    } else {
      at.scales += 2 * kSegmentBlocks;
    }
  }
  if (block == blocks) return;
  Segment rest;
  visit(rest.copy(at, blocks - block, (blocks - block) * kBlockBytes), block, blocks - block);
}

// Codes as bytes.
struct CodeBuffer {
  alignas(64) std::int8_t codes[kSegmentColumns + 64];
};

// `columns` codes, rounded up to whole vectors, as bytes. 8-bit codes stay where they are.
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

// int*: all elements are one run. Calls visit(codes as bytes, index of the first, count), 512 at a time, the bytes
// behind them readable.
template <class Visit>
HWY_INLINE void for_each_raw(const McfRows& run, std::uint64_t elements, const Visit& visit) {
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
    // One more code than wanted when the first nibble belongs to somebody else.
    alignas(64) std::uint8_t packed[kSegmentColumns / 2 + 64] = {};
    std::memcpy(packed, from + done / 2, (count + odd + 1) / 2);
    spread<4>(packed, count + odd, buffer);
    visit(buffer.codes + odd, done, count);
  }
}

}  // namespace
}  // namespace tare::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TARE_MCF_HAS_SIMD

#endif
