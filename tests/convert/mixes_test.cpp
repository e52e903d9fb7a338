// Mixes of methods, what becomes of rows that are not whole blocks, and importances as llama.cpp measures them.
#include <map>

#include "conformance/gguf_cases.hpp"
#include "conformance/models.hpp"
#include "conformance/scratch.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Tensor matrix(const std::string& name, std::uint64_t rows, std::uint64_t columns) {
  return make_dense(name, {rows, columns}, DType::f32, "", rows + columns);
}

// 32 layers, heads that share keys four by four.
Model small_llama(bool tied = false) {
  Model model;
  model.config.model_type = "llama";
  model.config.num_attention_heads = 8;
  model.config.num_key_value_heads = 2;
  model.tensors = {matrix("token_embd.weight", 2, 256), make_dense("output_norm.weight", {256}, DType::f32)};
  if (!tied) model.tensors.push_back(matrix("output.weight", 2, 256));
  for (int layer = 0; layer < 32; ++layer)
    for (const char* const name : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"})
      model.tensors.push_back(matrix("blk." + std::to_string(layer) + "." + name + ".weight", 1, 256));
  return model;
}

std::map<std::string, std::string> types_of(const std::string& mix, Model model) {
  AdaptOptions options;
  options.quant.method = mix;
  options.threads = 1;
  std::map<std::string, std::string> types;
  for (const Tensor& tensor : adapt(std::move(model), *find_format("gguf"), options).model.tensors)
    types[tensor.name] = tensor.is_dense() ? "f32" : tensor.layout.substr(5);
  return types;
}

std::string layers_with(const std::map<std::string, std::string>& types, const std::string& name,
                        const std::string& type) {
  std::string layers;
  for (int layer = 0; layer < 32; ++layer)
    if (types.at("blk." + std::to_string(layer) + "." + name + ".weight") == type)
      layers += std::to_string(layer) + " ";
  return layers;
}

TEST(Mixes, AreLlamaCpps) {
  const std::string spread = "0 1 2 3 6 9 12 15 18 21 24 27 28 29 30 31 ";
  auto types = types_of("q4_k_m", small_llama());
  EXPECT_EQ(types["output.weight"], "q6_k");
  EXPECT_EQ(types["token_embd.weight"], "q4_k");
  EXPECT_EQ(types["output_norm.weight"], "f32");
  EXPECT_EQ(layers_with(types, "attn_v", "q6_k"), spread);
  EXPECT_EQ(layers_with(types, "ffn_down", "q6_k"), spread);
  EXPECT_EQ(layers_with(types, "attn_q", "q6_k"), "");
  types = types_of("q4_k_s", small_llama());
  EXPECT_EQ(layers_with(types, "attn_v", "q5_k"), "0 1 2 3 ");
  EXPECT_EQ(layers_with(types, "ffn_down", "q5_k"), "0 1 2 3 ");
  types = types_of("q3_k_m", small_llama());
  EXPECT_EQ(layers_with(types, "attn_v", "q5_k"), "0 1 ");
  EXPECT_EQ(types["blk.9.attn_v.weight"], "q4_k");
  EXPECT_EQ(types["blk.9.attn_output.weight"], "q4_k");
  EXPECT_EQ(layers_with(types, "ffn_down", "q5_k"), "0 1 ");
  types = types_of("q2_k", small_llama());
  EXPECT_EQ(types["blk.9.attn_v.weight"], "q4_k") << "four heads share it";
  EXPECT_EQ(types["blk.9.attn_output.weight"], "q3_k");
  EXPECT_EQ(types["blk.9.ffn_up.weight"], "q2_k");
  EXPECT_EQ(types_of("q5_k_s", small_llama(true))["token_embd.weight"], "q6_k") << "the table is the head";
}

TEST(Mixes, RowsThatAreNotWholeBlocksFallBackAndItIsTold) {
  Model model = small_llama();
  model.tensors.push_back(matrix("blk.0.odd.weight", 2, 96));
  model.tensors.push_back(matrix("blk.0.odder.weight", 2, 20));
  AdaptOptions options;
  options.quant.method = "q4_k_m";
  const Adapted adapted = adapt(model, *find_format("gguf"), options);
  EXPECT_EQ(adapted.model.tensor("blk.0.odd.weight")->layout, "ggml.q5_0");
  EXPECT_EQ(adapted.model.tensor("blk.0.odder.weight")->layout, "dense");
  std::vector<std::string> told;
  for (const Change& change : adapted.changes)
    if (change.kind == ChangeKind::fell_back) told.push_back(to_text(change));
  EXPECT_EQ(
      told,
      (std::vector<std::string>{
          "1 tensor quantized to q5_0 instead of q4_k, which needs rows that are a multiple of 256: blk.0.odd.weight",
          "1 tensor kept, not quantized to q4_k, which needs rows that are a multiple of 256: blk.0.odder.weight"}));
  options.quant.no_fallback = true;
  EXPECT_EQ(rule_of([&] { adapt(model, *find_format("gguf"), options); }), "quantize.rows");
}

TEST(Mixes, ABudgetChoosesAmongTheTypesOfTheContainer) {
  AdaptOptions options;
  options.quant.bits = 5.0;
  options.threads = 1;
  const Adapted adapted = adapt(small_llama(), *find_format("gguf"), options);
  std::uint64_t bytes = 0, weights = 0;
  for (const Tensor& tensor : adapted.model.tensors) {
    bytes += tensor.bytes();
    weights += *tensor.shape.elements();
  }
  EXPECT_LE(static_cast<double>(bytes) * 8, 5.0 * static_cast<double>(weights));
  EXPECT_GE(static_cast<double>(bytes) * 8, 4.5 * static_cast<double>(weights));
}

TEST(Importance, AsLlamaCppMeasuresIt) {
  const Scratch scratch;
  GgufFile file;
  file.string("general.type", "imatrix");
  file.tensor("blk.0.attn_q.weight.in_sum2", {3}, 0, 0, gguf_floats(3, 2));
  file.tensor("blk.0.attn_q.weight.counts", {1}, 0, 32, gguf_floats(1, 2));
  file.tensor("e.in_sum2", {2, 2}, 0, 64, gguf_floats(4, 4));  // two experts, the second of which was never asked
  file.tensor("e.counts", {1, 2}, 0, 96, [](GgufText& out) { out.f32(2).f32(0); });
  put_file(scratch / "i.gguf", file.bytes());
  const Importance measured = read_importance(scratch / "i.gguf");
  EXPECT_EQ(measured.at("blk.0.attn_q.weight"), (std::vector<float>{1, 1.5F, 2}));
  EXPECT_EQ(measured.at("e"), (std::vector<float>{1.5F, 1.75F}));
  GgufText old;
  old.u32(1).u32(3).raw("a.b").u32(4).u32(2).f32(8).f32(2).u32(7);
  const Bytes bytes = old.take();
  put_file(scratch / "i.dat", bytes);
  EXPECT_EQ(read_importance(scratch / "i.dat").at("a.b"), (std::vector<float>{2, 0.5F}));
  for (std::size_t length = 0; length + 4 < bytes.size(); ++length) {
    put_file(scratch / "cut.dat", Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)));
    EXPECT_EQ(rule_of([&] { read_importance(scratch / "cut.dat"); }), "importance.truncated") << length;
  }
}

}  // namespace
}  // namespace tare
