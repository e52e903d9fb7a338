// The profiles of zTensor 2, decoded from files that use them.
#include "base/endian.hpp"
#include "conformance/models.hpp"
#include "conformance/zt2_cases.hpp"

namespace tare {
namespace {

using namespace tare::testing;
namespace text = tare::testing::zt2_text;

const Format& zt2_row() { return *find_format("zt2"); }
Model opened_zt2(Bytes bytes) { return open(memory_source(std::move(bytes), "it.zt2")); }

std::vector<float> floats_of(const Tensor& tensor) { return tensor.values<float>(); }

TEST(Zt2Layouts, MicroscalingIsDecoded) {
  const Model model = opened_zt2(zt2_good().at("mx"));
  const std::vector<float> values = floats_of(model.tensors.at(0));
  ASSERT_EQ(values.size(), 64U);
  for (std::size_t i = 0; i < 64; ++i)  // 0x21: 0.5 and 1, times 1 and times 2
    EXPECT_EQ(values[i], (i % 2 == 0 ? 0.5F : 1.0F) * (i < 32 ? 1.0F : 2.0F)) << i;
}

// Words of every width, both orders, groups along either axis, zero points of every form.
TEST(Zt2Layouts, GroupsAreDecoded) {
  for (const unsigned bits : {2U, 4U, 8U})
    for (const std::size_t width : {std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{8}})
      for (const bool msb : {false, true})
        for (const std::uint64_t axis : {0U, 1U})
          for (const char* const zero : {"none", "implied", "plain", "same_as_data"}) {
            constexpr std::uint64_t kRows = 16, kColumns = 32, kGroup = 8;
            const std::uint64_t per_word = 8 * width / bits;
            const Bytes data = noise(kRows * kColumns / per_word * width, bits + width);
            const std::uint64_t groups = kRows * kColumns / kGroup;
            Tensor tensor;
            tensor.name = "q";
            tensor.shape = {kRows, kColumns};
            tensor.layout = "zt.quant_group/1";
            const DType word = width == 1 ? DType::u8 : width == 2 ? DType::i16 : width == 4 ? DType::u32 : DType::u64;
            std::vector<float> scales(groups);
            for (std::size_t g = 0; g < groups; ++g) scales[g] = 0.25F * static_cast<float>(g + 1);
            tensor.components = {{"data", word, "", Blob::memory(data)}, {"scales", DType::f32, "", blob_of(scales)}};
            const Bytes packed_zeros = noise(groups / per_word * width, 3);
            const Bytes plain_zeros = noise(groups, 4);
            Map packing, point;
            const bool tensor_zeros = zero[0] == 'p' || zero[0] == 's';
            if (zero[0] == 'p') tensor.components.push_back({"zeros", DType::u8, "", Blob::memory(plain_zeros)});
            if (zero[0] == 's') {
              if (groups % per_word != 0) continue;
              tensor.components.push_back({"zeros", word, "", Blob::memory(packed_zeros)});
            }
            packing.set("word", "u" + std::to_string(8 * width));
            packing.set("order", msb ? "msb_first" : "lsb_first");
            packing.set("per_word", per_word);
            point.set("form", tensor_zeros ? "tensor" : zero);
            if (tensor_zeros) point.set("packing", zero);
            if (zero[0] == 'i') point.set("value", 3);
            tensor.attributes.set("bits", static_cast<int>(bits));
            tensor.attributes.set("group_size", static_cast<int>(kGroup));
            tensor.attributes.set("axis", axis);
            tensor.attributes.set("packing", packing);
            tensor.attributes.set("scale_form", "f32_factors");
            tensor.attributes.set("zero_point", point);
            const auto code = [&](const Bytes& from, std::uint64_t index) {
              std::uint64_t value = 0;
              for (std::size_t b = 0; b < width; ++b)
                value |= std::to_integer<std::uint64_t>(from[index / per_word * width + b]) << (8 * b);
              const std::uint64_t place = msb ? per_word - 1 - index % per_word : index % per_word;
              return static_cast<double>(value >> (place * bits) & ((1U << bits) - 1));
            };
            Model model;
            model.tensors = {tensor};
            const Model back = opened_zt2(write_bytes(zt2_row(), model));
            ASSERT_EQ(back.tensors[0].layout, "zt.quant_group/1");
            const std::vector<float> values = floats_of(back.tensors[0]);
            ASSERT_EQ(values.size(), kRows * kColumns);
            for (std::uint64_t r = 0; r < kRows; ++r)
              for (std::uint64_t c = 0; c < kColumns; ++c) {
                const std::uint64_t g = axis == 0 ? r / kGroup * kColumns + c : r * (kColumns / kGroup) + c / kGroup;
                const double z = zero[0] == 'n'   ? 0
                                 : zero[0] == 'i' ? 3
                                 : zero[0] == 'p' ? std::to_integer<int>(plain_zeros[g])
                                                  : code(packed_zeros, g);
                ASSERT_EQ(values[r * kColumns + c], static_cast<float>((code(data, r * kColumns + c) - z) * scales[g]))
                    << bits << " " << width << " " << msb << " " << axis << " " << zero << " at " << r << "," << c;
              }
            // From any element on.
            const Tensor decoded = to_dense(back.tensors[0]);
            Bytes some(40);
            decoded.components[0].blob.read(4 * 37, some);
            for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(load_le<float>(some.data() + 4 * i), values[37 + i]);
          }
}

TEST(Zt2Layouts, AnOddNumberOfSmallFloatsIsDecoded) {
  for (const std::uint64_t count : {1U, 3U, 5U, 20001U}) {
    Bytes bytes(count / 2 + 1);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37 + 0x21);
    bytes.back() &= std::byte{0x0F};
    const text::Entries part = cbor::with(text::part(4096, bytes.size(), "u8"), "type", cbor::text("f4_e2m1"));
    const Model model =
        opened_zt2(text::one(text::object({1, count}, "dense", {{"data", text::map(part)}}), to_text(bytes)));
    EXPECT_EQ(model.tensors.at(0).layout, "zt.f4_e2m1");
    const std::vector<float> values = floats_of(model.tensors[0]);
    ASSERT_EQ(values.size(), count);
    static constexpr float kValues[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned code = std::to_integer<unsigned>(bytes[i / 2]) >> (i % 2 * 4) & 15;
      ASSERT_EQ(values[i], (code < 8 ? 1.0F : -1.0F) * kValues[code % 8]) << i;
    }
    EXPECT_EQ(to_dense(model.tensors[0]).shape, (Shape{1, count}));
    const Model back = opened_zt2(write_bytes(zt2_row(), model));
    expect_same(model, back, zt2_row().holds);
    // Also through version 1.2.
    const Model first = open(memory_source(write_bytes(*find_format("zt"), model), "it.zt"));
    expect_same(model, opened_zt2(write_bytes(zt2_row(), first)), zt2_row().holds);
  }
}

TEST(Zt2Layouts, SparseValuesOfFourBitsAreDecoded) {
  for (const char* const name : {"csr_f4", "coo_f4"}) {
    const Model model = opened_zt2(zt2_good().at(name));
    EXPECT_EQ(floats_of(model.tensors.at(0)), (std::vector<float>{1, 0, -0.5, 0, 6, 0})) << name;
    const Bytes again = write_bytes(zt2_row(), model);
    expect_same(model, opened_zt2(again), zt2_row().holds);
    // Also through version 1.2.
    const Model first = open(memory_source(write_bytes(*find_format("zt"), model), "it.zt"));
    EXPECT_EQ(write_bytes(zt2_row(), first), again) << name;
  }
}

TEST(Zt2Layouts, NarrowIndicesAreDecoded) {
  const Model narrow = opened_zt2(zt2_good().at("csr_u32")), wide = opened_zt2(zt2_good().at("csr_u64"));
  EXPECT_EQ(floats_of(narrow.tensors.at(0)), floats_of(wide.tensors.at(0)));
  EXPECT_EQ(narrow.tensors[0].component("indices")->dtype, DType::u32);
}

}  // namespace
}  // namespace tare
