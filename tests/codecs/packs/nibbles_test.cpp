// Codes converted directly to bf16 equal the rounded floats, on every SIMD target, for every scheme with its own code
// path.
#include "codecs/packs/nibbles.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "base/half.hpp"
#include "conformance/scratch.hpp"
#include "simd_targets.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

using namespace tare::testing;
namespace packs = codec::packs;

Bytes random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

Component part(std::string_view role, DType dtype, Bytes bytes) {
  return {std::string(role), dtype, {}, Blob::memory(std::move(bytes))};
}

Bytes floats_as_bytes(const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return Bytes(bytes.begin(), bytes.end());
}

// Scales of all sizes and both signs, including subnormal ones; with `odd`, also those that bf16 cannot represent.
std::vector<float> some_scales(std::size_t count, bool odd, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> scales(count);
  for (float& scale : scales)
    scale = std::ldexp(static_cast<float>(random()) / 4e9f - 0.5f, static_cast<int>(random() % 40) - 20);
  scales[0] = 0;
  scales[count / 2] = 1e-39f;
  if (odd) {
    scales[count / 3] = std::numeric_limits<float>::quiet_NaN();
    scales[count - 1] = -std::numeric_limits<float>::infinity();
  }
  return scales;
}

struct Size {
  std::uint64_t out, in, group;
};

Tensor gptq4(const Size& size, bool odd) {
  const std::uint64_t groups = (size.in + size.group - 1) / size.group;
  Tensor tensor;
  tensor.name = "w";
  tensor.layout = "gptq4";
  tensor.shape = {size.out, size.in};
  tensor.attributes.set("group_size", size.group);
  tensor.attributes.set("zero_offset", 1);
  tensor.components.push_back(part("qweight", DType::i32, random_bytes(size.in * size.out / 2, 1)));
  tensor.components.push_back(part("qzeros", DType::i32, random_bytes(groups * size.out / 2, 2)));
  tensor.components.push_back(part("scales", DType::f32, floats_as_bytes(some_scales(groups * size.out, odd, 3))));
  return tensor;
}

Tensor awq4(const Size& size, bool odd) {
  Tensor tensor = gptq4(size, odd);
  tensor.layout = "awq4";
  tensor.attributes.erase("zero_offset");
  return tensor;
}

Tensor nf4(const Size& size, bool odd) {
  const std::uint64_t blocks = (size.in * size.out + size.group - 1) / size.group;
  Tensor tensor;
  tensor.name = "w";
  tensor.layout = "bnb.nf4";
  tensor.shape = {size.out, size.in};
  tensor.attributes.set("blocksize", size.group);
  tensor.components.push_back(part("weight", DType::u8, random_bytes((size.in * size.out + 1) / 2, 4)));
  tensor.components.push_back(part("absmax", DType::f32, floats_as_bytes(some_scales(blocks, odd, 5))));
  tensor.components.push_back(part("quant_map", DType::f32, floats_as_bytes(some_scales(16, false, 6))));
  return tensor;
}

// Makes floats and rounds them one by one.
Bytes rounded(const Tensor& tensor) {
  const std::vector<float> floats = tensor.values<float>();
  Bytes bytes(floats.size() * 2);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const std::uint16_t half = f32_to_bf16(floats[i]);
    bytes[2 * i] = static_cast<std::byte>(half & 0xFF);
    bytes[2 * i + 1] = static_cast<std::byte>(half >> 8);
  }
  return bytes;
}

TEST(PackNibbles, AreTheRoundedFloats) {
  const Size sizes[] = {{8, 8, 8}, {16, 24, 7}, {64, 1032, 128}, {72, 40, 16}, {136, 520, 64}, {256, 2056, 2056}};
  for (const Size& size : sizes)
    for (const bool odd : {false, true})
      for (const auto make : {gptq4, awq4, nf4}) {
        if (make == nf4 && size.group % 2 != 0) continue;
        const Tensor tensor = make(size, odd);
        SCOPED_TRACE(fmt::format("{} {} x {}, groups of {}{}", tensor.layout, size.out, size.in, size.group,
                                 odd ? ", NaN" : ""));
        const Bytes wanted = rounded(tensor);
        const Blob blob = cast(to_dense(tensor), DType::bf16).components[0].blob;
        for_each_simd_target([&] { EXPECT_EQ(blob.bytes(), wanted); });
        for (const std::size_t at : {std::size_t{1}, wanted.size() / 3, wanted.size() / 2 + 2, wanted.size() - 3}) {
          Bytes some(std::min<std::size_t>(wanted.size() - at, 777));
          blob.read(at, some);
          EXPECT_TRUE(std::equal(some.begin(), some.end(), wanted.begin() + static_cast<std::ptrdiff_t>(at))) << at;
        }
        // In pieces that do not match its own.
        Bytes pieces(wanted.size());
        const auto reader = blob.open();
        for (std::size_t at = 0; at < pieces.size(); at += 1001)
          reader->read(std::span(pieces).subspan(at, std::min<std::size_t>(1001, pieces.size() - at)));
        EXPECT_EQ(pieces, wanted);
      }
}

// f32 scales can exceed bf16; the caller chooses the handling, as for every cast.
TEST(PackNibbles, ValuesBeyondBf16AreSeen) {
  for (const auto make : {gptq4, awq4, nf4}) {
    Tensor tensor = make({16, 64, 16}, false);
    Component& scales = tensor.components[tensor.layout == "bnb.nf4" ? 1 : 2];
    std::vector<float> values(scales.blob.size() / 4, 1.0f);
    values.back() = std::numeric_limits<float>::max();
    scales.blob = Blob::memory(floats_as_bytes(values));
    const auto fill = [&](std::size_t component, unsigned byte) {
      Blob& blob = tensor.components[component].blob;
      blob = Blob::memory(Bytes(static_cast<std::size_t>(blob.size()), static_cast<std::byte>(byte)));
    };
    // Every value equals its scale.
    if (tensor.layout == "bnb.nf4") {
      tensor.components[2].blob = Blob::memory(floats_as_bytes(std::vector<float>(16, 1.0f)));
    } else {
      fill(0, 0x11);
      fill(1, tensor.layout == "gptq4" ? 0xFF : 0);
    }
    SCOPED_TRACE(tensor.layout);
    for_each_simd_target([&] {
      EXPECT_EQ(rule_of([&] { cast(to_dense(tensor), DType::bf16).components[0].blob.bytes(); }), "cast.overflow");
      const Bytes infinite = cast(to_dense(tensor), DType::bf16, Overflow::infinity).components[0].blob.bytes();
      EXPECT_EQ(infinite, rounded(tensor));
      const Tensor largest = cast(to_dense(tensor), DType::bf16, Overflow::clamp);
      for (const float value : largest.values<float>()) EXPECT_TRUE(std::isfinite(value));
    });
  }
}

TEST(PackNibbles, LinesBecomeColumns) {
  const Bytes from = random_bytes(64 * 200, 9);
  for (const std::size_t lines : {1u, 3u, 4u, 17u, 33u, 64u})
    for (const std::size_t columns : {1u, 4u, 15u, 16u, 18u, 40u}) {
      const packs::Lines given{from.data(), 200, lines, 64 - lines};
      for_each_simd_target([&] {
        std::vector<std::uint32_t> words(columns * (lines + 1), 7);
        packs::turn_words(given, columns, words.data(), lines + 1);
        Bytes bytes(columns * (lines + 1));
        packs::turn_bytes(given, columns, bytes.data(), lines + 1);
        for (std::size_t line = 0; line < lines; ++line)
          for (std::size_t column = 0; column < columns; ++column) {
            ASSERT_EQ(std::memcmp(&words[column * (lines + 1) + line], &from[line * 200 + column * 4], 4), 0);
            ASSERT_EQ(bytes[column * (lines + 1) + line], from[line * 200 + column]);
          }
        for (std::size_t column = 0; column < columns; ++column) ASSERT_EQ(words[column * (lines + 1) + lines], 7u);
      });
    }
}

}  // namespace
}  // namespace tare
