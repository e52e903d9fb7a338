// "packed.f4_e2m1", "packed.f6_e2m3", "packed.f6_e3m2": 4- and 6-bit floats (OCP Microscaling), without gaps.
//
//   payload  u8[product(shape) * bits / 8]: one stream of bits, the first element in the lowest bits of the first byte
//
// The shape counts elements, not bytes. All elements together fill whole bytes; nothing is padded. There are no
// infinities and no NaN. If a model has scales for blocks, they are separate tensors. For 4 bits the order is the one
// that every library uses (even elements in the low half); no document defines the order for 6 bits, and ours continues
// that of 4.
#include <algorithm>
#include <array>

#include "codecs/block_codec.hpp"
#include "codecs/first_block.hpp"
#include "codecs/rows.hpp"
#include "model/element_types.hpp"

namespace tare::codec::small_floats {
namespace {

template <Coding C>
constexpr auto kValues = [] {
  std::array<float, std::size_t{1} << C.bits> values{};
  for (std::uint32_t code = 0; code < values.size(); ++code) values[code] = static_cast<float>(C.value(code));
  return values;
}();

// A block is the fewest elements that fill whole bytes.
template <Coding C>
constexpr unsigned kBlockBytes = C.bits == 4 ? 1 : 3;
template <Coding C>
constexpr unsigned kBlockWeights = kBlockBytes<C> * 8 / C.bits;

template <Coding C>
void decode(const std::byte* blocks, std::size_t count, float* out) {
  for (; count > 0; --count) {
    std::uint32_t word = 0;
    for (unsigned i = 0; i < kBlockBytes<C>; ++i) word |= std::to_integer<std::uint32_t>(*blocks++) << (8 * i);
    for (unsigned i = 0; i < kBlockWeights<C>; ++i, word >>= C.bits) *out++ = kValues<C>[word & ((1u << C.bits) - 1)];
  }
}

template <Coding C>
std::optional<FirstBlock> explain(const Tensor& tensor) {
  Explainer block(tensor, std::min<std::uint64_t>(32, *tensor.shape.elements()), "w = x; x is the float of the code q");
  const std::vector<double> codes = block.codes("payload", "codes side by side, the first in the lowest bits", C.bits);
  std::vector<double> values(codes.size());
  std::ranges::transform(codes, values.begin(), [](double code) { return C.value(static_cast<std::uint32_t>(code)); });
  return block.term("q", codes).term("x", std::move(values)).take();
}

template <Coding C>
constexpr BlockCodec codec_of(std::string_view layout, std::string_view title) {
  return {.layout = layout,
          .title = title,
          .rules = "packed",
          .weights = kBlockWeights<C>,
          .bytes = kBlockBytes<C>,
          .across_rows = true,
          .decode = decode<C>,
          .explain = explain<C>};
}

constexpr BlockCodec kE2M1 = codec_of<small_coding("f4_e2m1")>("packed.f4_e2m1", "4-bit floats (e2m1), two in a byte");
constexpr BlockCodec kE2M3 =
    codec_of<small_coding("f6_e2m3")>("packed.f6_e2m3", "6-bit floats (e2m3), four in three bytes");
constexpr BlockCodec kE3M2 =
    codec_of<small_coding("f6_e3m2")>("packed.f6_e3m2", "6-bit floats (e3m2), four in three bytes");

}  // namespace

constinit const Codec kF4 = block_row<kE2M1>();
constinit const Codec kF6Fine = block_row<kE2M3>();
constinit const Codec kF6Wide = block_row<kE3M2>();

}  // namespace tare::codec::small_floats
