// Packed weights whose arrays or values are damaged.
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "codecs/packs/fixtures.hpp"
#include "conformance/models.hpp"
#include "conformance/scratch.hpp"
#include "convert/adapt.hpp"
#include "lines.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using namespace tare::pack_fixtures;
namespace packs = codec::packs;

struct Bad {
  std::string name, rule;
  std::function<void(Model&)> spoil;
};

TEST(Packs, BrokenSetsStayPlainArrays) {
  const auto without = [](const char* ending) { return [=](Model& model) { erase(model, ending); }; };
  const auto shaped = [](const char* ending, Shape shape) {
    return [=](Model& model) { array(model, ending).shape = shape; };
  };
  const auto typed = [](const char* ending, DType dtype) {
    return [=](Model& model) { array(model, ending).components[0].dtype = dtype; };
  };
  const auto stating = [](std::string config) { return [=](Model& model) { state(model, config); }; };
  const auto ct = [](const std::string& weights) {
    return R"({"quantization_config":{"quant_method":"compressed-tensors","config_groups":{"group_0":{"weights":{)" +
           weights + "}}}}}";
  };
  const std::vector<Bad> all = {
      {"gptq4", "pack.missing", without(".scales")},
      {"gptq4", "pack.missing", without(".qzeros")},
      {"gptq4", "pack.shape", shaped(".qzeros", {4, 2})},
      {"gptq4", "pack.shape", shaped(".qweight", {4, 64})},
      {"gptq4", "pack.shape", shaped(".g_idx", {8, 8})},
      {"gptq4", "pack.shape", shaped(".scales", {64})},
      {"gptq4", "pack.type", typed(".scales", DType::i16)},
      {"gptq4", "pack.type", typed(".g_idx", DType::f32)},
      {"gptq4", "pack.group", stating(R"({"quantization_config":{"quant_method":"gptq","group_size":0}})")},
      {"gptq4", "pack.name",
       [](Model& model) { model.tensors.push_back(dense("q.weight", {1}, std::vector<float>{1})); }},
      {"gptq4", "pack.variant (note)",
       stating(R"({"quantization_config":{"quant_method":"gptq","checkpoint_format":"marlin"}})")},
      {"gptq4-no-g-idx", "pack.shape", shaped(".qzeros", {64})},
      {"awq4", "pack.missing", without(".qzeros")},
      {"awq4", "pack.group", shaped(".scales", {4, 16})},
      {"awq4", "pack.variant (note)", stating(R"({"quantization_config":{"quant_method":"awq","version":"gemv"}})")},
      {"bnb-nf4", "pack.missing", without(".absmax")},
      {"bnb-nf4", "pack.missing", without(".quant_map")},
      {"bnb-nf4", "pack.state", [](Model& model) { set_bytes(array(model, "__nf4"), 0, {'['}); }},
      {"bnb-nf4", "pack.state", [](Model& model) { set_bytes(array(model, "__nf4"), 1, {'x'}); }},
      {"bnb-nf4", "pack.state", typed("__nf4", DType::i8)},
      {"bnb-nf4", "pack.shape",
       [](Model& model) { array(model, ".absmax").components[0].blob = Blob::memory(Bytes(4)); }},
      {"bnb-nf4-f16", "pack.scale",
       [](Model& model) {  // a number that fits f64 but not f32
         Tensor& text = array(model, "__nf4");
         const Bytes bytes = text.components[0].blob.bytes();
         std::string state(reinterpret_cast<const char*>(bytes.data()), bytes.size());
         const std::size_t at = state.find("\"nested_offset\":");
         const std::size_t end = state.find_first_of(",}", at);
         state.replace(at, end - at, "\"nested_offset\": 1e300");
         text = dense(text.name, {state.size()}, DType::u8, Blob::memory(to_bytes(state)));
       }},
      {"bnb-nf4-f16", "pack.missing", without(".nested_absmax")},
      {"bnb-nf4-f16", "pack.missing", without(".nested_quant_map")},
      {"bnb-nf4-f16", "pack.shape", shaped(".nested_quant_map", {2, 128})},
      {"bnb-int8", "pack.shape", shaped(".SCB", {8, 4})},
      {"bnb-int8", "pack.variant (note)", [](Model& model) { set_bytes(array(model, ".weight_format"), 0, {2}); }},
      {"ct-int4", "pack.missing", without(".weight_scale")},
      {"ct-int4", "pack.missing", without(".weight_shape")},
      {"ct-int4", "pack.shape", [](Model& model) { set_bytes(array(model, ".weight_shape"), 0, {25}); }},
      {"ct-int4", "pack.shape", [](Model& model) { set_bytes(array(model, ".weight_shape"), 15, {128}); }},
      {"ct-int4", "pack.shape", [](Model& model) { set_bytes(array(model, ".weight_shape"), 8, {0}); }},
      {"ct-int4", "pack.variant (note)", [](Model& model) { set_bytes(array(model, ".weight_shape"), 8, {7}); }},
      {"ct-int4-asymmetric", "pack.shape", shaped(".weight_zero_point", {2, 3})},
      {"ct-int4-asymmetric", "pack.type", typed(".weight_zero_point", DType::f32)},
      {"fp8-block", "pack.shape", shaped(".weight_scale_inv", {2, 2, 3})},
      {"fp8-block", "pack.group",
       stating(R"({"quantization_config":{"quant_method":"fp8","weight_block_size":[0,16]}})")},
      {"fp8-block", "pack.group",
       [](Model& model) {
         array(model, ".weight_scale_inv").shape = {5, 1};
         array(model, ".weight_scale_inv").components[0].blob = Blob::memory(Bytes(20));
       }},
      // The config contradicts the arrays.
      {"fp8-block", "pack.group",
       stating(R"({"quantization_config":{"quant_method":"fp8","weight_block_size":[8,8]}})")},
      {"fp8-block", "pack.group",
       stating(R"({"quantization_config":{"quant_method":"fp8","weight_block_size":[16]}})")},
      {"fp8-block", "pack.group", stating(R"({"quantization_config":{"quant_method":"fp8","weight_block_size":"x"}})")},
      {"gptq4", "pack.group", stating(R"({"quantization_config":{"quant_method":"gptq","group_size":16}})")},
      {"gptq4", "pack.group", stating(R"({"quantization_config":{"quant_method":"gptq","group_size":-7}})")},
      {"gptq4", "pack.group", stating(R"({"quantization_config":{"quant_method":"gptq","group_size":"32"}})")},
      {"gptq4", "pack.shape", stating(R"({"quantization_config":{"quant_method":"gptq","bits":8}})")},
      {"awq4", "pack.shape", stating(R"({"quantization_config":{"quant_method":"awq","bits":8}})")},
      {"ct-int4", "pack.group", stating(ct(R"("num_bits":4,"group_size":0)"))},
      {"ct-int4", "pack.group", stating(ct(R"("num_bits":4,"group_size":7)"))},
      {"ct-int4", "pack.shape", stating(ct(R"("num_bits":8,"group_size":32)"))},
      {"mxfp4", "pack.missing",
       [&](Model& model) {
         erase(model, "_scales");
         state(model, R"({"quantization_config":{"quant_method":"mxfp4"}})");
       }},
      {"nvfp4", "pack.shape", shaped(".weight_scale", {8, 8})},
      {"nvfp4", "pack.type", [](Model& model) { array(model, ".weight_scale").components[0].type.clear(); }},
      {"mxfp4", "pack.shape", shaped("_blocks", {2, 24, 4, 8})},
      {"mxfp4", "pack.shape", shaped("_scales", {2, 12, 4})},
      {"mlx-affine4", "pack.missing", without(".biases")},
      {"mlx-affine4", "pack.group", stating(R"({"quantization":{"group_size":0,"bits":4}})")},
      {"mlx-affine4", "pack.group", stating(R"({"quantization":{"group_size":128,"bits":4}})")},
      {"mlx-affine4", "pack.variant (note)", stating(R"({"quantization":{"group_size":32,"bits":4,"mode":"mxfp4"}})")},
  };
  for (const Bad& bad : all) {
    Model model = arrays_of(bad.name);
    bad.spoil(model);
    const Model before = model;
    SCOPED_TRACE(fmt::format("{} {}", bad.name, &bad - all.data()));
    EXPECT_EQ(join(model), bad.rule);
    expect_same(model, before);
  }
}

TEST(Packs, BadDataIsFoundWhereItIsUsed) {
  const auto rules_of = [](const Model& model) {
    std::vector<std::string> rules;
    const Tensor& tensor = model.tensors.at(0);
    const Codec* const codec = find_codec(tensor.layout);
    codec->verify(tensor, [&](const Problem& problem) { rules.push_back(problem.rule); });
    return rules;
  };
  Model order = arrays_of("gptq4-act-order");
  set_bytes(array(order, ".g_idx"), 8, {2});
  EXPECT_EQ(join(order), "");
  EXPECT_EQ(rules_of(order), std::vector<std::string>{"pack.index"});
  const auto error = error_of([&] { order.tensors[0].values<float>(); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->rule(), "pack.index");
  EXPECT_EQ(error->item(), "tensor q.weight");
  Model negative = arrays_of("gptq4-act-order");
  set_bytes(array(negative, ".g_idx"), 0, {255, 255, 255, 255});
  EXPECT_EQ(join(negative), "");
  EXPECT_EQ(rule_of([&] { negative.tensors[0].values<float>(); }), "pack.index");
  // In a model with blocks, a small weight has one block, and still has the block layout.
  Model one = arrays_of("fp8-tensor");
  array(one, "_scale").shape = {1, 1};
  state(one, R"({"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}})");
  EXPECT_EQ(join(one), "");
  EXPECT_EQ(one.tensors.at(0).layout, "fp8.block");
  // A NaN scale makes NaN weights: they are counted, not refused.
  Model scales = arrays_of("gptq4");
  set_bytes(array(scales, ".scales"), 0, {0, 0x7E});
  EXPECT_EQ(join(scales), "");
  EXPECT_EQ(rules_of(scales), std::vector<std::string>{"pack.scale"});
  EXPECT_TRUE(std::isnan(scales.tensors[0].values<float>()[0]));
  Model divided = arrays_of("nvfp4");
  set_bytes(array(divided, ".weight_global_scale"), 0, {0, 0, 0, 0});
  EXPECT_EQ(join(divided), "");
  EXPECT_EQ(rules_of(divided), std::vector<std::string>{"pack.scale"});
  Model exponents = arrays_of("mxfp4");
  set_bytes(array(exponents, "_scales"), 3, {255});
  EXPECT_EQ(join(exponents), "");
  EXPECT_EQ(rules_of(exponents), std::vector<std::string>{"pack.scale"});
}

// A conversion does not store weights from scales that are not finite: it is refused, or accepted and reported.
TEST(Packs, ScalesThatAreNotFiniteAreNotConverted) {
  struct Spoiled {
    std::string name, ending;
    std::size_t at;
    std::vector<int> bytes;
  };
  const std::vector<Spoiled> all = {{"gptq4", ".scales", 6, {0, 0x7E}},
                                    {"gptq4", ".scales", 6, {0, 0xFC}},
                                    {"awq4", ".scales", 2, {0, 0x7C}},
                                    {"bnb-nf4", ".absmax", 4, {0, 0, 0xC0, 0x7F}},
                                    {"bnb-nf4", ".quant_map", 4, {0, 0, 0x80, 0xFF}},
                                    {"bnb-nf4-f16", ".nested_absmax", 0, {1, 0, 0x80, 0x7F}},
                                    {"bnb-int8", ".SCB", 0, {0, 0, 0x80, 0x7F}},
                                    {"mlx-affine4", ".biases", 0, {0, 0, 0xC0, 0x7F}},
                                    {"mlx-affine4-bf16", ".biases", 0, {0xC0, 0x7F}},
                                    {"fp8-block", ".weight_scale_inv", 0, {0, 0, 0xC0, 0x7F}},
                                    {"fp8-block-e8m0", ".scale", 1, {0xFF}},
                                    {"mxfp4", "_scales", 3, {0xFF}},
                                    {"mxfp4-compressed-tensors", ".weight_scale", 3, {0xFF}},
                                    {"nvfp4", ".weight_scale", 3, {0x7F}},
                                    {"nvfp4", ".weight_global_scale", 0, {0, 0, 0, 0}},
                                    // Finite, but not if multiplied by a code.
                                    {"bnb-int8", ".SCB", 0, {0, 0, 0x7F, 0x7F}},
                                    {"mlx-affine4", ".scales", 0, {0, 0, 0x7F, 0x7F}},
                                    {"mlx-affine4-bf16", ".scales", 0, {0x7F, 0x7F}},
                                    {"fp8-block", ".weight_scale_inv", 0, {0, 0, 0x7F, 0x7F}},
                                    {"fp8-block-e8m0", ".scale", 1, {0xFE}},
                                    {"mxfp4", "_scales", 3, {0xFE}},
                                    {"mxfp4-compressed-tensors", ".weight_scale", 3, {0xFE}},
                                    {"nvfp4", ".weight_global_scale", 0, {1, 0, 0, 0}}};
  Quantization quant;
  quant.method = "q8";
  for (const Spoiled& spoiled : all) {
    SCOPED_TRACE(spoiled.name + " " + spoiled.ending);
    Model model = arrays_of(spoiled.name);
    set_bytes(array(model, spoiled.ending), spoiled.at, spoiled.bytes);
    EXPECT_EQ(join(model), "");
    const auto written = [&](std::string_view format, const AdaptOptions& options) {
      return error_of([&] { write_bytes(*find_format(format), adapt(model, *find_format(format), options).model); });
    };
    std::vector<std::optional<Error>> errors = {
        written("safetensors", {.dtype = DType::bf16, .drop = {ModelPart::attachments}}),
        written("safetensors", {.dtype = DType::f32, .drop = {ModelPart::attachments}}),
        written("gguf", {.drop = {ModelPart::attachments}, .keep_names = true})};
    if (model.tensors[0].shape.rank() == 2)  // methods need matrices
      errors.push_back(written("mcf", {.quant = quant, .drop = {ModelPart::attachments}}));
    for (const auto& error : errors) {
      ASSERT_TRUE(error.has_value());
      EXPECT_EQ(error->rule(), "pack.scale") << error->what();
      EXPECT_EQ(error->kind(), ErrorKind::lossy);
      EXPECT_NE(error->item(), "");
    }
    const AdaptOptions asked{.dtype = DType::f32, .overflow = Overflow::infinity, .drop = {ModelPart::attachments}};
    EXPECT_FALSE(written("safetensors", asked).has_value());
    const Adapted told = adapt(model, *find_format("safetensors"), asked);
    EXPECT_TRUE(
        std::ranges::any_of(told.changes, [](const Change& change) { return change.impact == Impact::results; }));
    // Unchanged, it can go into any container.
    EXPECT_FALSE(written("safetensors", {.drop = {ModelPart::attachments}}).has_value());
  }
}

// Scales that are larger than usual are decoded if the weights are finite.
TEST(Packs, LargeScalesThatFitAreConverted) {
  for (const auto& [name, ending, at, bytes] :
       {std::tuple("fp8-block", ".weight_scale_inv", std::size_t{0}, std::vector<int>{0, 0, 0x80, 0x60}),
        std::tuple("mxfp4", "_scales", std::size_t{3}, std::vector<int>{0xF8})}) {
    Model model = arrays_of(name);
    set_bytes(array(model, ending), at, bytes);
    EXPECT_EQ(join(model), "");
    const AdaptOptions options{.dtype = DType::bf16, .drop = {ModelPart::attachments}};
    const Format& format = *find_format("safetensors");
    EXPECT_EQ(rule_of([&] { write_bytes(format, adapt(model, format, options).model); }), "") << name;
  }
}

}  // namespace
}  // namespace tare
