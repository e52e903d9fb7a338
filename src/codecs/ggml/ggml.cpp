// ggml's block types, which GGUF files contain: a row of the table of layouts for each row of type_table.hpp.
//
// blocks32.cpp, blocks256.cpp and blocks_grids.cpp have the formulas and the fields of the blocks; encode.hpp describes
// how the types that have a method are encoded.
#include <array>
#include <cmath>
#include <utility>

#include "codecs/block_codec.hpp"
#include "codecs/ggml/blocks.hpp"
#include "codecs/ggml/encode.hpp"
#include "codecs/ggml/kernels.hpp"
#include "codecs/ggml/parts.hpp"
#include "codecs/rows.hpp"

namespace tare::codec::ggml {
namespace {

template <Type kType>
const char* fault_of(const std::byte* block) {
  constexpr Scales kScales = facts_of(kType).scales;
  const auto finite = [](float scale) { return std::isfinite(scale) ? nullptr : "its scale is not a finite number"; };
  if constexpr (kScales.kind == ScaleKind::f16) {
    for (std::size_t i = 0; i < kScales.halves(); ++i)
      if (!std::isfinite(half_at(block + kScales.at + 2 * i))) return "a scale or minimum is not a finite number";
    return nullptr;
  } else if constexpr (kScales.kind == ScaleKind::e8m0) {
    return byte_at(block, kScales.at) != 255 ? nullptr : "its exponent is 255, which is not a number";
  } else if constexpr (kScales.kind == ScaleKind::f32) {
    return finite(load_le<float>(block + kScales.at));
  } else {
    return finite(iq1_m_half(block));
  }
}

// Offsets of the f16 scales.
template <Type kType>
constexpr auto kScaleOffsets = [] {
  constexpr Scales kScales = facts_of(kType).scales;
  std::array<std::uint8_t, kScales.kind == ScaleKind::f16 ? kScales.count : 0> offsets{};
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::uint8_t>(kScales.at + 2 * i);
  return offsets;
}();

template <Type kType>
constexpr BlockCodec block_codec() {
  constexpr const TypeFacts& kFacts = facts_of(kType);
  BlockCodec codec = {
      .layout = kFacts.layout,
      .title = kFacts.title,
      .rules = "ggml",
      .weights = kFacts.weights,
      .bytes = kFacts.bytes,
      .decode = [](const std::byte* blocks, std::size_t count, float* out) { ggml::decode(kType, blocks, count, out); },
      .explain = explain,
      .dot = [](const std::byte* blocks, std::size_t rows, std::size_t count, const float* vector,
                float* out) { ggml::dot(kType, blocks, rows, count, vector, out); },
      .dot8 = [](const std::byte* blocks, std::size_t rows, std::size_t count, const QuantizedVector& vector,
                 float* out) { ggml::dot(kType, blocks, rows, count, vector.data(), out); }};
  if (kFacts.scales.kind != ScaleKind::e4m3) codec.fault = fault_of<kType>;
  if (!kFacts.method.exists) return codec;
  codec.method = {kFacts.name()};
  codec.fallback = kFacts.method.fallback;
  codec.encode = [](const BlockWeights& in, std::byte* blocks) { return ggml::encode(kType, in, blocks); };
  codec.weighted = true;
  codec.budget_if_named = true;  // containers that accept any layout have better ones
  codec.scales = kScaleOffsets<kType>;
  return codec;
}

template <Type kType>
constexpr BlockCodec kBlockCodec = block_codec<kType>();

}  // namespace

std::span<const Codec> codecs() {
  static constexpr auto kRows = []<std::size_t... kNumbers>(std::index_sequence<kNumbers...>) {
    return std::array{block_row<kBlockCodec<static_cast<Type>(kNumbers)>>()...};
  }
  (std::make_index_sequence<std::size(kTypes)>());
  return kRows;
}

}  // namespace tare::codec::ggml
