// The device decodes to the same bits as the processor, and only the encoded bytes are copied.
#include <gtest/gtest.h>

#include <limits>

#include "device/harness.hpp"
#include "tare/slice.hpp"

namespace tare::testing {
namespace {

using device::AxisRange;
using device::Loading;
using device::Report;

constexpr DType kMade[] = {DType::f32, DType::f16, DType::bf16};

class Decode : public DeviceTest {
 protected:
  // Loads one tensor as `dtype` and compares it. Returns whether kernels were used.
  bool check(const Tensor& tensor, DType dtype, std::optional<AxisRange> part = std::nullopt, bool verify = false) {
    Model model;
    model.tensors.push_back(tensor);
    device::Options options = small_chunks();
    options.verify = verify;
    const std::uint64_t launches = driver.live().launches;
    Loading loading = device::load(model, device::arrange(model, {{tensor.name, part, dtype}}), {}, options);
    const Report report = loading.finish();
    Tensor expected = to_dense(tensor);
    if (expected.components[0].dtype != dtype || !expected.components[0].type.empty())
      expected = cast(expected, dtype, Overflow::infinity);
    if (part) {
      std::string spec;
      for (std::size_t i = 0; i < part->axis; ++i) spec += ":,";
      expected = slice(expected, parse_slice(spec + std::to_string(part->begin) + ":" + std::to_string(part->end)));
    }
    EXPECT_TRUE(on_device(loading, 0) == expected.components[0].blob.bytes())
        << tensor.name << " " << tensor.layout << " to " << name_of(dtype);
    EXPECT_TRUE(loading.arrangement().tensors[0].shape == expected.shape);
    const bool launched = driver.live().launches > launches;
    if (launched && !part) {
      EXPECT_LE(report.copied_bytes, tensor.stored_bytes() + tensor.stored_bytes() / 50 + 4096);
    }
    return launched;
  }
};

// Copies the bytes to new memory, as a reader provides them.
Tensor stored(Tensor tensor) {
  for (Component& component : tensor.components) component.blob = Blob::memory(component.blob.bytes());
  return tensor;
}

TEST_F(Decode, Casts) {
  std::vector<float> values = random_floats(200003, 1);
  values[1] = 1e-41F;
  values[2] = -65520.0F;
  values[3] = 3e38F;
  values[4] = std::numeric_limits<float>::infinity();
  values[5] = -0.0F;
  const Tensor f32 = dense("t", {200003}, values);
  for (const DType from : kMade)
    for (const DType to : kMade) {
      const Tensor tensor = stored(from == DType::f32 ? f32 : cast(f32, from, Overflow::infinity));
      EXPECT_EQ(check(tensor, to), from != to);
    }
}

TEST_F(Decode, EightBitFloats) {
  for (const char* const type : {"f8_e4m3fn", "f8_e5m2"}) {
    Bytes codes;
    for (int i = 0; i < 70000; ++i) {
      const auto code = static_cast<std::byte>(i * 7);
      // NaN has more than one encoding.
      codes.push_back((code & std::byte{0x7F}) > std::byte{0x7B} ? std::byte{1} : code);
    }
    const Tensor tensor = dense("t", {70000}, DType::u8, Blob::memory(codes), type);
    for (const DType to : kMade) EXPECT_TRUE(check(tensor, to));
  }
}

TEST_F(Decode, EveryMethod) {
  const Tensor weights = float_tensor("t", {130, 2048}, DType::f32, 5);
  std::size_t kernels = 0;
  for (const Codec& codec : codecs())
    for (const std::string_view method : codec.methods) {
      const Tensor coded = stored(codec.encode(weights, {.method = std::string(method), .fast = true}));
      for (const DType to : kMade) kernels += check(coded, to, std::nullopt, true) ? 1 : 0;
      check(coded, DType::bf16, AxisRange{0, 17, 90});
      check(coded, DType::bf16, AxisRange{1, 256, 512});
    }
  EXPECT_GE(kernels, 3U * 16);  // six of MCF, at least ten of ggml
}

TEST_F(Decode, RowsThatDoNotFillBlocks) {
  const Tensor weights = float_tensor("t", {37, 1000}, DType::f32, 6);
  for (const char* const method : {"q8", "q4", "k6", "k4", "k3", "k2"}) {
    const Codec* const codec = find_codec_by_method(std::string("mcf.") + method);
    ASSERT_NE(codec, nullptr) << method;
    EXPECT_TRUE(check(stored(codec->encode(weights, {.method = method, .fast = true})), DType::bf16)) << method;
  }
  // 999 columns are not a multiple of eight: the processor decodes.
  const Codec* const codec = find_codec_by_method("mcf.k4");
  const Tensor odd = stored(codec->encode(float_tensor("t", {5, 999}, DType::f32, 7), {.method = "k4", .fast = true}));
  EXPECT_FALSE(check(odd, DType::bf16));
}

Tensor fp8_blocks(std::uint64_t rows, std::uint64_t columns, DType scales, const std::string& scale_type) {
  Tensor tensor;
  tensor.name = "t";
  tensor.shape = {rows, columns};
  tensor.layout = "fp8.block";
  Bytes codes = random_bytes(rows * columns, 9);
  for (std::byte& code : codes)
    if ((code & std::byte{0x7F}) == std::byte{0x7F}) code = std::byte{0};
  const std::uint64_t count = (rows + 127) / 128 * ((columns + 127) / 128);
  Tensor scale = dense("s", {count}, random_floats(count, 11));
  Component scale_component{"scale", scales, scale_type, {}};
  if (!scale_type.empty()) {
    Bytes exponents(count);
    for (std::size_t i = 0; i < count; ++i) exponents[i] = static_cast<std::byte>(120 + i % 9);
    scale_component.blob = Blob::memory(exponents);
  } else {
    scale_component.blob =
        Blob::memory((scales == DType::f32 ? scale : cast(scale, scales)).components[0].blob.bytes());
  }
  tensor.components = {{"weight", DType::u8, "f8_e4m3fn", Blob::memory(codes)}, scale_component};
  tensor.attributes.set("block_rows", 128);
  tensor.attributes.set("block_columns", 128);
  return tensor;
}

TEST_F(Decode, EightBitFloatsWithScalesForBlocks) {
  for (const auto& [rows, columns] :
       {std::pair<std::uint64_t, std::uint64_t>{256, 512}, {700, 1000}, {1, 8}, {129, 4096}})
    for (const DType to : kMade) {
      EXPECT_TRUE(check(fp8_blocks(rows, columns, DType::f32, ""), to)) << rows;
      EXPECT_TRUE(check(fp8_blocks(rows, columns, DType::bf16, ""), to)) << rows;
      EXPECT_TRUE(check(fp8_blocks(rows, columns, DType::f16, ""), to)) << rows;
      EXPECT_TRUE(check(fp8_blocks(rows, columns, DType::u8, "f8_e8m0"), to)) << rows;
    }
}

// The same codes with other scales, types or parts are separate tensors; identical ones are shared.
TEST_F(Decode, CodesWithOtherScalesAreOtherTensors) {
  Tensor one = fp8_blocks(256, 512, DType::f32, ""), other = one, same = one;
  std::vector<float> scales = random_floats(8, 77);
  other.components[1].blob =
      Blob::memory(Bytes(std::as_bytes(std::span(scales)).begin(), std::as_bytes(std::span(scales)).end()));
  one.name = "one", other.name = "other", same.name = "same";
  Model model;
  model.tensors = {one, other, same};
  const device::Arrangement arrangement = device::arrange(model, device::all_of(model, DType::bf16));
  Loading loading = device::load(model, arrangement, {}, small_chunks());
  loading.finish();
  EXPECT_NE(loading.address(0), loading.address(1));
  EXPECT_EQ(loading.address(0), loading.address(2));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(on_device(loading, i) ==
                cast(to_dense(model.tensors[i]), DType::bf16, Overflow::infinity).components[0].blob.bytes())
        << i;
}

// The processor decodes layouts without a kernel, and compressed bytes.
TEST_F(Decode, TheProcessorDoesTheRest) {
  const Tensor weights = float_tensor("t", {64, 512}, DType::f32, 8);
  const Codec* const codec = find_codec_by_method("group4");
  EXPECT_FALSE(check(stored(codec->encode(weights, {.method = "group4"})), DType::bf16));
  Model model;
  model.tensors.push_back(weights);
  const Model packed = open(save_as(model, scratch / "m.zt", "zt", {.zstd_level = 1}));
  Loading loading =
      device::load(packed, device::arrange(packed, {{"t", std::nullopt, DType::f16}}), {}, small_chunks());
  loading.finish();
  EXPECT_TRUE(on_device(loading, 0) == cast(weights, DType::f16).components[0].blob.bytes());
}

}  // namespace
}  // namespace tare::testing
