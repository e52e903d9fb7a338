// "packed.f4_e2m1", "packed.f6_e2m3", "packed.f6_e3m2": floats of 4 and 6 bits (OCP Microscaling), side by side.
//
//   payload  u8[product(shape) * bits / 8]: one stream of bits, the first element in the lowest bits of the first byte
//
// The shape counts elements, not bytes. All of them together fill whole bytes: nothing is padded. There are no
// infinities and no NaN; the scales of blocks, where a model has them, are tensors of their own. For 4 bits the order
// is the one every library uses (even elements in the low half); for 6 bits no document says it, and ours continues
// that one.
#include <algorithm>
#include <array>

#include "codecs/block_codec.hpp"
#include "codecs/rows.hpp"

namespace tare::codec::packed {
namespace {

struct Kind {
  unsigned bits, mantissa;
  int bias;
};

// Exact: a few bits of significand, small powers of two.
template <Kind K>
constexpr std::array<float, std::size_t{1} << K.bits> make_values() {
  std::array<float, std::size_t{1} << K.bits> values{};
  for (unsigned code = 0; code < values.size(); ++code) {
    const unsigned sign = code >> (K.bits - 1), rest = code & ((1u << (K.bits - 1)) - 1);
    const unsigned mantissa = rest & ((1u << K.mantissa) - 1), exponent = rest >> K.mantissa;
    auto value = static_cast<float>(exponent == 0 ? mantissa : mantissa | (1u << K.mantissa));
    int power = static_cast<int>(std::max(exponent, 1u)) - K.bias - static_cast<int>(K.mantissa);
    for (; power > 0; --power) value *= 2;
    for (; power < 0; ++power) value /= 2;
    values[code] = sign != 0 ? -value : value;
  }
  return values;
}
template <Kind K>
constexpr auto kValues = make_values<K>();

// The fewest elements that fill whole bytes are a block.
template <Kind K>
constexpr unsigned kBlockBytes = K.bits == 4 ? 1 : 3;
template <Kind K>
constexpr unsigned kBlockWeights = kBlockBytes<K> * 8 / K.bits;

template <Kind K>
void decode(const std::byte* blocks, std::size_t count, float* out) {
  for (; count > 0; --count) {
    std::uint32_t word = 0;
    for (unsigned i = 0; i < kBlockBytes<K>; ++i) word |= std::to_integer<std::uint32_t>(*blocks++) << (8 * i);
    for (unsigned i = 0; i < kBlockWeights<K>; ++i, word >>= K.bits) *out++ = kValues<K>[word & ((1u << K.bits) - 1)];
  }
}

template <Kind K>
constexpr BlockCodec codec_of(std::string_view layout, std::string_view title) {
  return {.layout = layout,
          .title = title,
          .rules = "packed",
          .weights = kBlockWeights<K>,
          .bytes = kBlockBytes<K>,
          .across_rows = true,
          .decode = decode<K>};
}

constexpr BlockCodec kE2M1 = codec_of<Kind{4, 1, 1}>("packed.f4_e2m1", "4-bit floats (e2m1), two in a byte");
constexpr BlockCodec kE2M3 = codec_of<Kind{6, 3, 1}>("packed.f6_e2m3", "6-bit floats (e2m3), four in three bytes");
constexpr BlockCodec kE3M2 = codec_of<Kind{6, 2, 3}>("packed.f6_e3m2", "6-bit floats (e3m2), four in three bytes");

}  // namespace

constinit const Codec kF4 = block_row<kE2M1>();
constinit const Codec kF6Fine = block_row<kE2M3>();
constinit const Codec kF6Wide = block_row<kE3M2>();

}  // namespace tare::codec::packed
