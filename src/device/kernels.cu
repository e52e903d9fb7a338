// Kernels that decode on the device: casts, 8-bit floats with scales, the block types of MCF and ggml. tools/ptx makes
// kernels.ptx from this file with clang, without CUDA's toolkit. The tests' driver runs the same file on the host.
//
// A thread makes eight neighbouring elements of one block, in f32, with the operations of the codecs (src/codecs) in
// the same order, without fused multiply-adds, and rounds the results to nearest even. So they are the processor's
// results, bit for bit.
#if defined(__CUDA__)
#define TARE_DEVICE static inline __attribute__((device, always_inline))
#define TARE_KERNEL extern "C" __attribute__((global)) void
#define TARE_TABLE static __attribute__((constant)) const
TARE_DEVICE unsigned long long thread_number() {
  return static_cast<unsigned long long>(__nvvm_read_ptx_sreg_ctaid_x()) * __nvvm_read_ptx_sreg_ntid_x() +
         __nvvm_read_ptx_sreg_tid_x();
}
TARE_DEVICE float float_of_half(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
TARE_DEVICE unsigned short half_of_float(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
TARE_DEVICE unsigned long long wide_product(unsigned a, unsigned b) {
  unsigned long long product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
}
#endif

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef u32 Words __attribute__((vector_size(16), may_alias));

TARE_DEVICE float float_of_bits(u32 bits) {
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}
TARE_DEVICE u32 bits_of_float(float value) {
  u32 bits;
  __builtin_memcpy(&bits, &value, 4);
  return bits;
}

TARE_DEVICE u16 bfloat_of_float(float value) {
  const u32 bits = bits_of_float(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<u16>(bits >> 16 | 0x40u);
  return static_cast<u16>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

TARE_DEVICE u32 half_bits_at(const u8* at) { return at[0] | static_cast<u32>(at[1]) << 8; }
TARE_DEVICE float half_at(const u8* at) { return float_of_half(static_cast<u16>(half_bits_at(at))); }
TARE_DEVICE float signed_at(const u8* at) { return static_cast<float>(static_cast<signed char>(*at)); }

// The bits of e4m3 are those of an f32 with another bias.
TARE_DEVICE float e4m3_value(u32 code) {
  if ((code & 0x7F) == 0x7F) return float_of_bits(0x7FC00000u | (code & 0x80) << 24);
  return float_of_bits((code & 0x80) << 24 | bits_of_float(float_of_bits((code & 0x7F) << 20) * 0x1p120f));
}
TARE_DEVICE float e5m2_value(u32 code) { return float_of_half(static_cast<u16>(code << 8)); }
TARE_DEVICE float e8m0_value(u32 code) {
  if (code == 255) return float_of_bits(0x7FC00000u);
  return float_of_bits(code == 0 ? 0x00400000u : code << 23);
}

// The arguments of every decoder.
struct Given {
  const u8 *plane0, *plane1, *plane2;
  u64 first;  // the chunk's first unit, as counted in the tensor
  u64 n0, n1;
};

// Stores eight elements of one type, with one or two stores of 16 bytes.
TARE_DEVICE void put(void* out, u64 element, u64 kind, const float* values, u64 count) {
  const u64 left = count - element;
  if (kind == 0) {
    float* const to = static_cast<float*>(out) + element;
    if (left < 8) {
      for (u32 i = 0; i < 7; ++i)
        if (i < left) to[i] = values[i];
      return;
    }
    __builtin_memcpy(__builtin_assume_aligned(to, 16), values, 32);
    return;
  }
  u16 halves[8];
  for (int i = 0; i < 8; ++i) halves[i] = kind == 1 ? half_of_float(values[i]) : bfloat_of_float(values[i]);
  u16* const to = static_cast<u16*>(out) + element;
  if (left < 8) {
    for (u32 i = 0; i < 7; ++i)
      if (i < left) to[i] = halves[i];
    return;
  }
  Words words;
  for (int i = 0; i < 4; ++i) words[i] = halves[2 * i] | static_cast<u32>(halves[2 * i + 1]) << 16;
  *reinterpret_cast<Words*>(to) = words;
}

#define TARE_DECODER(name)                                                                                            \
  TARE_DEVICE void name##_eight(const Given& given, u64 element, u64 count, float* v);                                \
  TARE_KERNEL name(const u8* plane0, const u8* plane1, const u8* plane2, void* out, u64 first, u64 n0, u64 n1,        \
                   u64 count, u64 kind) {                                                                             \
    const u64 element = thread_number() * 8;                                                                          \
    if (element >= count) return;                                                                                     \
    const Given given = {plane0, plane1, plane2, first, n0, n1};                                                      \
    float v[8];                                                                                                       \
    name##_eight(given, element, count, v);                                                                           \
    put(out, element, kind, v, count);                                                                                \
  }                                                                                                                   \
  TARE_DEVICE void name##_eight(const Given& given, u64 element, u64 count, float* v)

// Casts. The last thread may have fewer than eight elements.

TARE_DECODER(cast_f32) {
  for (u64 i = 0; i < 8; ++i)
    v[i] = element + i < count ? reinterpret_cast<const float*>(given.plane0)[element + i] : 0;
}
TARE_DECODER(cast_f16) {
  for (u64 i = 0; i < 8; ++i)
    v[i] = element + i < count ? float_of_half(reinterpret_cast<const u16*>(given.plane0)[element + i]) : 0;
}
TARE_DECODER(cast_bf16) {
  for (u64 i = 0; i < 8; ++i)
    v[i] = element + i < count
               ? float_of_bits(static_cast<u32>(reinterpret_cast<const u16*>(given.plane0)[element + i]) << 16)
               : 0;
}
TARE_DECODER(cast_f8_e4m3fn) {
  for (u64 i = 0; i < 8; ++i) v[i] = element + i < count ? e4m3_value(given.plane0[element + i]) : 0;
}
TARE_DECODER(cast_f8_e5m2) {
  for (u64 i = 0; i < 8; ++i) v[i] = element + i < count ? e5m2_value(given.plane0[element + i]) : 0;
}

// One scale per block of rows and columns. n0: columns. n1: rows of a block, its columns << 24, the scales' type << 56
// (0 f32, 1 f16, 2 bf16, 3 f8_e8m0). Units are rows. Rows and blocks have a multiple of 8 columns.
TARE_DEVICE float grid_scale(const Given& given, u64 row, u64 column) {
  const u64 rows = given.n1 & 0xFFFFFF, columns = given.n1 >> 24 & 0xFFFFFFFF, type = given.n1 >> 56;
  const u64 line = (given.first + row) / rows - given.first / rows;
  const u64 at = line * ((given.n0 + columns - 1) / columns) + column / columns;
  if (type == 0) return reinterpret_cast<const float*>(given.plane1)[at];
  if (type == 1) return float_of_half(reinterpret_cast<const u16*>(given.plane1)[at]);
  if (type == 2) return float_of_bits(static_cast<u32>(reinterpret_cast<const u16*>(given.plane1)[at]) << 16);
  return e8m0_value(given.plane1[at]);
}
TARE_DECODER(grid_f8_e4m3fn) {
  (void)count;
  const u64 row = element / given.n0, column = element % given.n0;
  const float scale = grid_scale(given, row, column);
  for (u64 i = 0; i < 8; ++i) v[i] = e4m3_value(given.plane0[element + i]) * scale;
}

// MCF: codes in plane 0, scales in plane 1, sub-scales in plane 2; units are rows. n0: columns, a multiple of 8. n1:
// blocks of 32 per row.
TARE_DEVICE void mcf_eight(const Given& given, u64 element, u32 bits, bool super, float* v) {
  const u64 row = element / given.n0, column = element % given.n0, block = column / 32;
  const u8* const codes = given.plane0 + row * given.n1 * 4 * bits;
  float scale;
  if (super) {
    const u64 supers = (given.n1 + 7) / 8;
    scale = half_at(given.plane1 + 2 * (row * supers + block / 8)) *
            (static_cast<float>(given.plane2[row * given.n1 + block]) / 32);
  } else {
    scale = half_at(given.plane1 + 2 * (row * given.n1 + block));
  }
  // Eight codes are `bits` whole bytes.
  const u8* const from = codes + column * bits / 8;
  u64 packed = 0;
  for (u32 i = 0; i < bits; ++i) packed |= static_cast<u64>(from[i]) << (8 * i);
  const int half = 1 << (bits - 1);
  for (u32 i = 0; i < 8; ++i) {
    const u32 raw = static_cast<u32>(packed >> (i * bits)) & ((1u << bits) - 1);
    v[i] = scale * static_cast<float>(static_cast<int>(raw ^ static_cast<u32>(half)) - half);
  }
}
TARE_DECODER(mcf_q8) { mcf_eight(given, element, 8, false, v); (void)count; }
TARE_DECODER(mcf_q4) { mcf_eight(given, element, 4, false, v); (void)count; }
TARE_DECODER(mcf_k6) { mcf_eight(given, element, 6, true, v); (void)count; }
TARE_DECODER(mcf_k4) { mcf_eight(given, element, 4, true, v); (void)count; }
TARE_DECODER(mcf_k3) { mcf_eight(given, element, 3, true, v); (void)count; }
TARE_DECODER(mcf_k2) { mcf_eight(given, element, 2, true, v); (void)count; }

// ggml: units are blocks, in plane 0.

// The 4-bit codes of a block of 32: weight i is in the low half of byte i, weight i + 16 in the high half.
TARE_DEVICE u32 nibble(const u8* codes, u32 i) { return codes[i % 16] >> (i < 16 ? 0 : 4) & 15; }

TARE_DECODER(ggml_q4_0) {
  (void)count;
  const u8* const block = given.plane0 + element / 32 * 18;
  const float d = half_at(block);
  for (u32 i = 0; i < 8; ++i)
    v[i] = static_cast<float>(static_cast<int>(nibble(block + 2, element % 32 + i)) - 8) * d;
}
TARE_DECODER(ggml_q4_1) {
  (void)count;
  const u8* const block = given.plane0 + element / 32 * 20;
  const float d = half_at(block), minimum = half_at(block + 2);
  for (u32 i = 0; i < 8; ++i) v[i] = static_cast<float>(nibble(block + 4, element % 32 + i)) * d + minimum;
}
TARE_DECODER(ggml_q5_0) {
  (void)count;
  const u8* const block = given.plane0 + element / 32 * 22;
  const float d = half_at(block);
  const u32 high = half_bits_at(block + 2) | half_bits_at(block + 4) << 16;
  for (u32 i = 0; i < 8; ++i) {
    const u32 at = element % 32 + i;
    v[i] = static_cast<float>(static_cast<int>(nibble(block + 6, at) | (high >> at & 1) << 4) - 16) * d;
  }
}
TARE_DECODER(ggml_q5_1) {
  (void)count;
  const u8* const block = given.plane0 + element / 32 * 24;
  const float d = half_at(block), minimum = half_at(block + 2);
  const u32 high = half_bits_at(block + 4) | half_bits_at(block + 6) << 16;
  for (u32 i = 0; i < 8; ++i) {
    const u32 at = element % 32 + i;
    v[i] = static_cast<float>(nibble(block + 8, at) | (high >> at & 1) << 4) * d + minimum;
  }
}
TARE_DECODER(ggml_q8_0) {
  (void)count;
  const u8* const block = given.plane0 + element / 32 * 34;
  const float d = half_at(block);
  for (u32 i = 0; i < 8; ++i) v[i] = signed_at(block + 2 + element % 32 + i) * d;
}

TARE_TABLE float kIq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

TARE_DECODER(ggml_iq4_nl) {
  (void)count;
  const u8* const block = given.plane0 + element / 32 * 18;
  const float d = half_at(block);
  for (u32 i = 0; i < 8; ++i) v[i] = d * kIq4[nibble(block + 2, element % 32 + i)];
}
TARE_DECODER(ggml_iq4_xs) {
  (void)count;
  const u8* const block = given.plane0 + element / 256 * 136;
  const u32 part = element % 256 / 32;
  const u32 low = block[4 + part / 2] >> (4 * (part % 2)) & 15;
  const u32 high = half_bits_at(block + 2) >> (2 * part) & 3;
  const float scale = half_at(block) * static_cast<float>(static_cast<int>(low | high << 4) - 32);
  for (u32 i = 0; i < 8; ++i) v[i] = scale * kIq4[nibble(block + 8 + 16 * part, element % 32 + i)];
}

// The 2-bit code of weight i; it shares a byte with the weights 32, 64 and 96 further on.
TARE_DEVICE u32 crumb(const u8* codes, u32 i) { return codes[32 * (i / 128) + i % 32] >> (2 * (i % 128 / 32)) & 3; }

TARE_DECODER(ggml_q2_k) {
  (void)count;
  const u8* const block = given.plane0 + element / 256 * 84;
  const u32 at = element % 256, both = block[at / 16];
  const float scale = half_at(block + 80) * static_cast<float>(both & 15);
  const float minimum = half_at(block + 82) * static_cast<float>(both >> 4);
  for (u32 i = 0; i < 8; ++i) v[i] = scale * static_cast<float>(crumb(block + 16, at + i)) - minimum;
}
TARE_DECODER(ggml_q3_k) {
  (void)count;
  const u8* const block = given.plane0 + element / 256 * 110;
  const u8* const scales = block + 96;
  const u32 at = element % 256, part = at / 16;
  const u32 low = part < 8 ? scales[part] & 15 : scales[part - 8] >> 4;
  const u32 high = scales[8 + part % 4] >> (2 * (part / 4)) & 3;
  const float scale = half_at(block + 108) * static_cast<float>(static_cast<int>(low | high << 4) - 32);
  for (u32 i = 0; i < 8; ++i) {
    const bool third = (block[(at + i) % 32] >> ((at + i) / 32) & 1) != 0;
    v[i] = scale * static_cast<float>(static_cast<int>(crumb(block + 32, at + i)) - (third ? 0 : 4));
  }
}
// A 6-bit scale and a 6-bit minimum for each of 8 parts.
TARE_DEVICE void k_scale(const u8* packed, u32 part, u32* scale, u32* minimum) {
  if (part < 4) {
    *scale = packed[part] & 63;
    *minimum = packed[part + 4] & 63;
  } else {
    *scale = (packed[part + 4] & 15) | (packed[part - 4] >> 6) << 4;
    *minimum = packed[part + 4] >> 4 | (packed[part] >> 6) << 4;
  }
}
TARE_DECODER(ggml_q4_k) {
  (void)count;
  const u8* const block = given.plane0 + element / 256 * 144;
  const u32 at = element % 256, part = at / 32;
  u32 s, m;
  k_scale(block + 4, part, &s, &m);
  const float scale = half_at(block) * static_cast<float>(s), minimum = half_at(block + 2) * static_cast<float>(m);
  for (u32 i = 0; i < 8; ++i) {
    const u32 both = block[16 + 32 * (part / 2) + at % 32 + i], code = part % 2 == 0 ? both & 15 : both >> 4;
    v[i] = scale * static_cast<float>(code) - minimum;
  }
}
TARE_DECODER(ggml_q5_k) {
  (void)count;
  const u8* const block = given.plane0 + element / 256 * 176;
  const u32 at = element % 256, part = at / 32;
  u32 s, m;
  k_scale(block + 4, part, &s, &m);
  const float scale = half_at(block) * static_cast<float>(s), minimum = half_at(block + 2) * static_cast<float>(m);
  for (u32 i = 0; i < 8; ++i) {
    const u32 both = block[48 + 32 * (part / 2) + at % 32 + i], low = part % 2 == 0 ? both & 15 : both >> 4;
    const u32 high = (block[16 + at % 32 + i] >> part & 1) << 4;
    v[i] = scale * static_cast<float>(low | high) - minimum;
  }
}
TARE_DECODER(ggml_q6_k) {
  (void)count;
  const u8* const block = given.plane0 + element / 256 * 210;
  const u32 at = element % 256;
  const float scale = half_at(block + 208) * signed_at(block + 192 + at / 16);
  for (u32 i = 0; i < 8; ++i) {
    const u32 quarter = (at + i) % 128 / 32;
    const u32 both = block[64 * ((at + i) / 128) + (at + i) % 32 + 32 * (quarter % 2)];
    const u32 low = quarter < 2 ? both & 15 : both >> 4;
    v[i] = scale * static_cast<float>(static_cast<int>(low | crumb(block + 128, at + i) << 4) - 32);
  }
}

// XXH3 of bytes that have arrived, for pieces of 1 MiB or more. What a block of 1024 bytes adds to the eight
// accumulators does not depend on their values, so xxh3_sums computes these sums for all blocks at once. Then one short
// step per block and accumulator remains (xxh3_chain), and in the end the eight are merged (xxh3_finish).

typedef u64 Word __attribute__((may_alias));
__extension__ typedef unsigned __int128 u128;

// XXH3's default secret, in words.
TARE_TABLE u64 kSecret[24] = {
    0xBE4BA423396CFEB8ull, 0x1CAD21F72C81017Cull, 0xDB979083E96DD4DEull, 0x1F67B3B7A4A44072ull,
    0x78E5C0CC4EE679CBull, 0x2172FFCC7DD05A82ull, 0x8E2443F7744608B8ull, 0x4C263A81E69035E0ull,
    0xCB00C391BB52283Cull, 0xA32E531B8B65D088ull, 0x4EF90DA297486471ull, 0xD8ACDEA946EF1938ull,
    0x3F349CE33F76FAA8ull, 0x1D4F0BC7C7BBDCF9ull, 0x3159B4CD4BE0518Aull, 0x647378D9C97E9FC8ull,
    0xC3EBD33483ACC5EAull, 0xEB6313FAFFA081C5ull, 0x49DAF0B751DD0D17ull, 0x9E68D429265516D3ull,
    0xFCA1477D58BE162Bull, 0xCE31D07AD1B8F88Full, 0x280416958F3ACB45ull, 0x7E404BBBCAFBD7AFull,
};
TARE_TABLE u64 kStart[8] = {
    0x00000000C2B2AE3Dull, 0x9E3779B185EBCA87ull, 0xC2B2AE3D27D4EB4Full, 0x165667B19E3779F9ull,
    0x85EBCA77C2B2AE63ull, 0x0000000085EBCA77ull, 0x27D4EB2F165667C5ull, 0x000000009E3779B1ull,
};

TARE_DEVICE bool on_words(const u8* at) { return reinterpret_cast<u64>(at) % 8 == 0; }
TARE_DEVICE u64 word_at(const u8* at, bool aligned) {
  if (aligned) return *reinterpret_cast<const Word*>(at);
  u64 word = 0;
  for (u32 i = 0; i < 8; ++i) word |= static_cast<u64>(at[i]) << (8 * i);
  return word;
}
// The word of the secret that begins at a byte.
TARE_DEVICE u64 secret_at(u32 byte) {
  const u32 shift = byte % 8 * 8;
  return shift == 0 ? kSecret[byte / 8] : kSecret[byte / 8] >> shift | kSecret[byte / 8 + 1] << (64 - shift);
}
TARE_DEVICE u64 halves_product(u64 keyed) {
  return wide_product(static_cast<u32>(keyed), static_cast<u32>(keyed >> 32));
}

struct TwoSums {
  u64 one, other;
};
TARE_DEVICE TwoSums block_sums(const u8* from, u32 lane, bool aligned) {
  TwoSums sums = {0, 0};
  for (u32 stripe = 0; stripe < 16; ++stripe) {
    const u64 a = word_at(from + 64 * stripe, aligned), b = word_at(from + 64 * stripe + 8, aligned);
    sums.one += b + halves_product(a ^ kSecret[stripe + lane]);
    sums.other += a + halves_product(b ^ kSecret[stripe + lane + 1]);
  }
  return sums;
}


// plane0: the bytes. out: eight sums per block. count: four threads per block, each with two of the accumulators.
TARE_KERNEL xxh3_sums(const u8* plane0, const u8* plane1, const u8* plane2, void* out, u64 first, u64 n0, u64 n1, u64 count,
                      u64 kind) {
  (void)plane1, (void)plane2, (void)first, (void)n0, (void)n1, (void)kind;
  const u64 number = thread_number();
  if (number >= count) return;
  const u64 block = number / 4;
  const u32 lane = static_cast<u32>(number % 4) * 2;
  const u8* const from = plane0 + block * 1024 + lane * 8;
  const TwoSums sums = on_words(from) ? block_sums(from, lane, true) : block_sums(from, lane, false);
  u64* const to = static_cast<u64*>(out) + block * 8 + lane;
  to[0] = sums.one;
  to[1] = sums.other;
}

TARE_DEVICE u64 scrambled(u64 accumulator, u64 key) { return (accumulator ^ accumulator >> 47 ^ key) * 0x9E3779B1u; }

// plane0: sums of n0 blocks. plane1: the n1 bytes after these blocks, at most 1024; 0: more blocks follow. out: the
// accumulators. first: number of blocks before these. One thread per accumulator; it loads many sums at once, because
// memory is slower than a step.
TARE_KERNEL xxh3_chain(const u8* plane0, const u8* plane1, const u8* plane2, void* out, u64 first, u64 n0, u64 n1, u64 count,
                       u64 kind) {
  (void)plane2, (void)kind;
  const u64 number = thread_number();
  if (number >= count) return;
  const u32 lane = static_cast<u32>(number);
  u64* const accumulators = static_cast<u64*>(out);
  u64 accumulator = first == 0 ? kStart[lane] : accumulators[lane];
  const u64 key = kSecret[16 + lane];
  const Word* const sums = reinterpret_cast<const Word*>(plane0) + lane;
  enum : u32 { kAtOnce = 32 };
  u64 block = 0;
  for (; block + kAtOnce <= n0; block += kAtOnce) {
    u64 some[kAtOnce];
    for (u32 i = 0; i < kAtOnce; ++i) some[i] = sums[8 * (block + i)];
    for (u32 i = 0; i < kAtOnce; ++i) accumulator = scrambled(accumulator + some[i], key);
  }
  for (; block < n0; ++block) accumulator = scrambled(accumulator + sums[8 * block], key);
  // The whole stripes of the last block, then the last 64 bytes of all, which overlap them.
  for (u64 at = 0; n1 > 0 && at < (n1 - 1) / 64 + 1; ++at) {
    const bool last = at == (n1 - 1) / 64;
    const u8* const from = last ? plane1 + n1 - 64 : plane1 + 64 * at;
    const u64 own = word_at(from + 8 * lane, on_words(from)), beside = word_at(from + 8 * (lane ^ 1), on_words(from));
    accumulator += beside + halves_product(own ^ (last ? secret_at(121 + 8 * lane) : kSecret[at + lane]));
  }
  accumulators[lane] = accumulator;
}

TARE_DEVICE u64 merged(const Word* accumulators, u32 secret, u64 start) {
  u64 result = start;
  for (u32 i = 0; i < 4; ++i) {
    const u128 product = static_cast<u128>(accumulators[2 * i] ^ secret_at(secret + 16 * i)) *
                         (accumulators[2 * i + 1] ^ secret_at(secret + 16 * i + 8));
    result += static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
  }
  result = (result ^ result >> 37) * 0x165667919E3779F9ull;
  return result ^ result >> 32;
}

// plane0: the accumulators. out: two words: the 64-bit digest, or the lower and the higher half of the 128-bit digest.
// n0: number of bytes.
TARE_KERNEL xxh3_finish(const u8* plane0, const u8* plane1, const u8* plane2, void* out, u64 first, u64 n0, u64 n1, u64 count,
                        u64 kind) {
  (void)plane1, (void)plane2, (void)first, (void)n1, (void)kind;
  if (thread_number() >= count) return;
  const Word* const accumulators = reinterpret_cast<const Word*>(plane0);
  u64* const to = static_cast<u64*>(out);
  to[0] = merged(accumulators, 11, n0 * 0x9E3779B185EBCA87ull);
  to[1] = merged(accumulators, 117, ~(n0 * 0xC2B2AE3D27D4EB4Full));
}
