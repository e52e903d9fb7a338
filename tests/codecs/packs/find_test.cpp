// Packed weights are recognised, and never taken for plain ones.
#include "codecs/packs/find.hpp"

#include <fmt/format.h>

#include "codecs/packs/packing.hpp"
#include "conformance/hf_cases.hpp"
#include "conformance/models.hpp"
#include "convert/adapt.hpp"
#include "lines.hpp"
#include "resources/packed_config.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using resources::find_packed;
namespace packs = codec::packs;
namespace fs = std::filesystem;

Tensor tensor(const std::string& name, Shape shape, DType dtype, const std::string& type = {}) {
  const std::uint64_t bytes = *shape.elements() * size_of(dtype);
  return dense(name, std::move(shape), dtype, Blob::memory(Bytes(static_cast<std::size_t>(bytes))), type);
}

struct Case {
  std::string scheme, text;
  std::uint64_t parameters;
  std::vector<Tensor> tensors;
  std::string config = {};
  std::string file = "config.json";
};

Model model_of(const Case& made) {
  Model model;
  model.tensors = made.tensors;
  model.tensors.push_back(tensor("norm.weight", {16}, DType::bf16));
  if (!made.config.empty()) model.attachments.push_back({made.file, Blob::memory(to_bytes(made.config))});
  return model;
}

std::vector<Case> cases() {
  const auto q = [](const char* method, const char* more) {
    return std::string(R"({"quantization_config": {"quant_method": ")") + method + "\"" + more + "}}";
  };
  const std::vector<Tensor> gptq = {tensor("q.qweight", {8, 32}, DType::i32), tensor("q.qzeros", {1, 4}, DType::i32),
                                    tensor("q.scales", {1, 32}, DType::f16), tensor("q.g_idx", {64}, DType::i32)};
  const std::vector<Tensor> fp8 = {tensor("up.weight", {128, 128}, DType::u8, "f8_e4m3fn"),
                                   tensor("up.weight_scale_inv", {1, 1}, DType::f32)};
  const std::vector<Tensor> nf4 = {tensor("q.weight", {128, 1}, DType::u8),
                                   tensor("q.weight.absmax", {4}, DType::u8),
                                   tensor("q.weight.quant_map", {16}, DType::f32),
                                   tensor("q.weight.nested_absmax", {1}, DType::f32),
                                   tensor("q.weight.nested_quant_map", {256}, DType::f32),
                                   tensor("q.weight.quant_state.bitsandbytes__nf4", {80}, DType::u8)};
  return {
      {"gptq", "GPTQ 4-bit, group 64, packed in i32", 64 * 32 + 16, gptq,
       q("gptq", R"(, "bits": 4, "group_size": 64)")},
      {"gptq", "GPTQ 4-bit, group 64, packed in i32", 64 * 32 + 16, gptq, R"({"bits": 4, "group_size": 64})",
       "quantize_config.json"},
      {"awq",
       "AWQ 4-bit, group 64, packed in i32",
       64 * 32 + 16,
       {tensor("q.qweight", {64, 4}, DType::i32), tensor("q.qzeros", {1, 4}, DType::i32),
        tensor("q.scales", {1, 32}, DType::f16)},
       q("awq", R"(, "bits": 4, "group_size": 64)")},
      {"awq",
       "AWQ 4-bit, packed in i32",
       64 * 32 + 16,
       {tensor("q.qweight", {64, 4}, DType::i32), tensor("q.scales", {1, 32}, DType::f16)}},
      {"fp8.block", "FP8, group 128, stored as f8_e4m3fn", 128 * 128 + 16, fp8,
       q("fp8", R"(, "weight_block_size": [128, 128])")},
      {"fp8.block", "FP8, stored as f8_e4m3fn", 128 * 128 + 16, fp8},
      {"fp8.scaled",
       "FP8, stored as f8_e4m3fn",
       64 + 16,
       {tensor("q.weight", {8, 8}, DType::u8, "f8_e4m3fn"), tensor("q.weight_scale", {1}, DType::f32),
        tensor("q.input_scale", {1}, DType::f32)}},
      {"bitsandbytes.nf4", "bitsandbytes NF4 4-bit, packed in u8", 256 + 16, nf4,
       q("bitsandbytes", R"(, "load_in_4bit": true)")},
      {"bitsandbytes.int8",
       "bitsandbytes int8, packed in i8",
       64 + 16,
       {tensor("q.weight", {8, 8}, DType::i8), tensor("q.SCB", {8}, DType::f32)}},
      {"compressed-tensors.packed",
       "compressed-tensors 4-bit, group 32, packed in i32",
       8 * 32 + 16,
       {tensor("q.weight_packed", {8, 4}, DType::i32), tensor("q.weight_scale", {8, 1}, DType::bf16),
        tensor("q.weight_shape", {2}, DType::i64)},
       q("compressed-tensors", R"(, "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 32}}})")},
      {"compressed-tensors.nvfp4",
       "compressed-tensors NVFP4 4-bit, packed in u8",
       8 * 32 + 16,
       {tensor("q.weight_packed", {8, 16}, DType::u8), tensor("q.weight_scale", {8, 2}, DType::u8, "f8_e4m3fn"),
        tensor("q.weight_global_scale", {1}, DType::f32)}},
      {"modelopt.nvfp4",
       "ModelOpt NVFP4 4-bit, group 16, packed in u8",
       8 * 32 + 16,
       {tensor("q.weight", {8, 16}, DType::u8), tensor("q.weight_scale", {8, 2}, DType::u8, "f8_e4m3fn"),
        tensor("q.weight_scale_2", {1}, DType::f32)},
       R"({"quantization": {"quant_algo": "NVFP4", "group_size": 16}})",
       "hf_quant_config.json"},
      {"mxfp4",
       "MXFP4 4-bit, packed in u8",
       2 * 64 + 16,
       {tensor("e.gate_blocks", {2, 2, 16}, DType::u8), tensor("e.gate_scales", {2, 2}, DType::u8)},
       q("mxfp4", "")},
      {"mlx",
       "MLX 4-bit, group 64, packed in u32",
       8 * 64 + 16,
       {tensor("q.weight", {8, 8}, DType::u32), tensor("q.scales", {8, 1}, DType::f16),
        tensor("q.biases", {8, 1}, DType::f16)},
       R"({"quantization": {"group_size": 64, "bits": 4}})"},
  };
}

TEST(Packed, SchemesAreRecognised) {
  for (const Case& made : cases()) {
    SCOPED_TRACE(made.scheme + " " + made.file);
    const Model model = model_of(made);
    const packs::Found found = find_packed(model);
    const auto packed = packing_of(model, found);
    ASSERT_TRUE(packed);
    EXPECT_EQ(packed->scheme, made.scheme);
    EXPECT_EQ(packed->text(), made.text);
    EXPECT_EQ(packed->tensors, 1U);
    EXPECT_EQ(packed->parameters, made.parameters);
    EXPECT_EQ(packed->said_by, made.config.empty() ? "" : made.file);
    EXPECT_EQ(found.parts.back(), "") << "the norm is plain";
    for (std::size_t i = 0; i + 1 < found.parts.size(); ++i) EXPECT_NE(found.parts[i], "") << i;
  }
}

TEST(Packed, CodesAreNeverTakenForWeights) {
  const Format& zt = *find_format("zt");
  for (const Case& made : cases()) {
    SCOPED_TRACE(made.scheme);
    Quantization quant;
    quant.method = "q8";
    EXPECT_EQ(rule_of([&] { adapt(model_of(made), zt, {.dtype = DType::bf16}); }), "convert.packed");
    EXPECT_EQ(rule_of([&] { adapt(model_of(made), *find_format("mcf"), {.quant = quant}); }), "convert.packed");
    // Unchanged, it can go to every container that has its types.
    const Adapted same = adapt(model_of(made), zt);
    EXPECT_EQ(content_digest(same.model), content_digest(model_of(made)));
    // And so can its plain tensors.
    EXPECT_EQ(rule_of([&] { adapt(model_of(made), zt, {.dtype = DType::f32, .match = {"norm*"}}); }), "");
  }
}

// A container without fp8 would store the codes as floats.
TEST(Packed, CodesAreNotWidened) {
  Model plain;
  plain.tensors = {tensor("up.weight", {8, 8}, DType::u8, "f8_e4m3fn")};
  Model packed = plain;
  packed.tensors.push_back(tensor("up.weight_scale_inv", {1, 1}, DType::f32));
  static constexpr DType kOnly[] = {DType::f32};
  Format floats = *find_format("zt");
  floats.name = "floats";
  floats.holds.dtypes = kOnly;
  floats.holds.logical_types = {};
  EXPECT_TRUE(mentions(adapt(plain, floats).changes, "widened from f8_e4m3fn to f32"));
  EXPECT_EQ(rule_of([&] { adapt(packed, floats); }), "convert.packed");
}

// The codes and the array that accompanies them, in the first shapes that fit the row.
std::vector<Tensor> arrays_of(const packs::Scheme& row, std::string_view type) {
  const auto plain = parse_dtype(type);
  for (const Shape& scales : {Shape{8, 1}, Shape{1}, Shape{8, 2}}) {
    const Shape codes = {8, 24};
    if (row.fits != nullptr && !row.fits(codes, scales)) continue;
    return {tensor("q" + std::string(row.codes()), codes, plain.value_or(DType::u8), plain ? "" : std::string(type)),
            tensor("q" + std::string(row.beside_ending()), scales, DType::f16)};
  }
  return {};
}

bool has_finding(const std::string& path, std::string_view rule, std::string_view sentence) {
  const Verification result = verify(path);
  return std::ranges::any_of(result.findings, [&](const Finding& found) {
    return found.severity == Severity::note && found.rule == rule && found.sentence.find(sentence) != std::string::npos;
  });
}

std::string cast_error(const Model& model) {
  const auto error = error_of([&] { adapt(model, *find_format("zt"), {.dtype = DType::bf16}); });
  return error && error->rule() == "convert.packed" ? error->sentence() : "";
}

// Carried, named with the reason, and never cast: every row of the table, whatever type its codes have.
TEST(Packed, WhatIsNotDecodedIsNamedAndRefused) {
  const Scratch scratch;
  std::size_t tried = 0;
  for (const packs::Scheme* const row : packs::schemes()) {
    if (row->why_not.empty()) continue;
    for (const std::string_view type : row->types) {
      SCOPED_TRACE(fmt::format("{} {}", row->name, type));
      Model model;
      model.tensors = arrays_of(*row, type);
      ASSERT_FALSE(model.tensors.empty());
      const std::string path = scratch / "model.safetensors";
      fs::remove(path);
      save(model, path);
      EXPECT_TRUE(verify(path).ok(true));
      EXPECT_TRUE(has_finding(path, "pack.variant", row->why_not));
      const Model back = open(path);
      EXPECT_EQ(content_digest(back), content_digest(model));
      EXPECT_NE(cast_error(back).find(row->why_not), std::string::npos) << cast_error(back);
      EXPECT_EQ(packing_of(back, find_packed(back))->scheme, row->name);
      ++tried;
    }
  }
  EXPECT_GE(tried, 20U);
}

// Only the config shows it: in a directory, and next to weights that are opened by their own path.
TEST(Packed, AMethodThatIsNotDecodedIsNotCast) {
  const Scratch scratch;
  for (const std::string method : {"vptq", "spqr", "higgs", "torchao", "hqq", "brand-new"}) {
    SCOPED_TRACE(method);
    const std::string own = scratch / method;
    Case made;
    made.tensors = {tensor("q.strange", {40}, DType::i64), tensor("embed.weight", {8, 8}, DType::f32)};
    made.config = R"({"quantization_config": {"quant_method": ")" + method + "\"}}";
    save(model_of(made), own, {.to = "hf"});
    for (const std::string& path : {own, own + "/model.safetensors"}) {
      EXPECT_TRUE(verify(path).ok(true));
      EXPECT_TRUE(has_finding(path, "pack.variant", "\"" + method + "\""));
      EXPECT_NE(cast_error(open(path)).find("\"" + method + "\""), std::string::npos) << cast_error(open(path));
      EXPECT_EQ(find_packed(open(path)).parts.at(0), "codes");
      EXPECT_EQ(rule_of([&] { adapt(open(path), *find_format("zt"), {.dtype = DType::bf16, .match = {"embed*"}}); }),
                "");
    }
  }
  // Positions are not codes, and a method that is decoded has none left.
  Case plain;
  plain.tensors = {tensor("position_ids", {1, 600}, DType::i64), tensor("embed.weight", {8, 8}, DType::f32)};
  plain.config = R"({"quantization_config": {"quant_method": "vptq"}})";
  EXPECT_EQ(cast_error(model_of(plain)), "");
}

TEST(Packed, PlainModelsAreNot) {
  const auto found = [](std::vector<Tensor> tensors, const std::string& config = {}) {
    Case made;
    made.tensors = std::move(tensors);
    made.config = config;
    return find_packed(model_of(made)).any();
  };
  const std::string stated = R"({"quantization_config": {"quant_method": "gptq", "bits": 4}})";
  EXPECT_FALSE(found({tensor("q.weight", {8, 8}, DType::bf16)}));
  EXPECT_FALSE(found({tensor("q.weight", {8, 8}, DType::bf16)}, stated)) << "somebody unpacked it";
  EXPECT_FALSE(found({tensor("q.weight", {8, 8}, DType::bf16), tensor("position_ids", {9}, DType::i64)}, stated));
  EXPECT_TRUE(found({tensor("q.strange", {8, 8}, DType::u8)}, stated));
  EXPECT_TRUE(found({tensor("q.strange", {8, 8}, DType::u8)}, R"({"quantization_config": {"quant_method": "new"}})"));
  EXPECT_FALSE(found({tensor("q.strange", {8, 8}, DType::u8)}));
  EXPECT_FALSE(found({tensor("q.weight", {8, 8}, DType::u8, "f8_e4m3fn")})) << "fp8 without scales is plain fp8";
  EXPECT_FALSE(found({tensor("q.scales", {8}, DType::f32), tensor("q.weight", {8, 8}, DType::f16)}));
  EXPECT_FALSE(found({tensor("tokens", {8, 8}, DType::i64)}, R"({"quantization_config": 1})"));
  EXPECT_FALSE(found({tensor("tokens", {8, 8}, DType::i64)}, "{"));
}

}  // namespace
}  // namespace tare
