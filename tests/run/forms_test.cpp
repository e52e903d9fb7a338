// The same model in other containers and layouts gives the same logits; faults in what only some families have are named.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "conformance/scratch.hpp"
#include "resources/resources.hpp"
#include "run/tiny_models.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tare/open.hpp"
#include "tare/save.hpp"

namespace tare {
namespace {

using testing::golden_models;
using testing::GoldenModel;
using testing::tiny_tokens;

// As if it were opened: its config is read.
Model described(Model model) {
  Diagnostics silent;
  resources::describe(model, silent);
  return model;
}

Model golden(std::string_view name) {
  for (GoldenModel& one : golden_models())
    if (one.name == name) return described(std::move(one.model));
  throw std::runtime_error("no such model: " + std::string(name));
}

void edit_values(Model& model, const std::string& name, const std::function<void(std::vector<float>&)>& edit) {
  Tensor& tensor = model.at(name);
  std::vector<float> values = tensor.values<float>();
  edit(values);
  tensor = dense<float>(tensor.name, tensor.shape, values);
}

run::Comparison compared_forms(const Model& a, const Model& b) {
  return compare(run::Scorer(a), run::Scorer(b), tiny_tokens(45, 31));
}

// The difference of the session's logits from the scorer's, relative to the largest.
double session_off(const Model& model) {
  const run::Scorer scorer(model);
  const std::vector<std::int32_t> tokens = tiny_tokens(40, 31);
  const std::vector<float> expected = scorer.logits(tokens);
  run::Session session(scorer);
  double largest = 0, off = 0;
  for (std::size_t at = 7; at <= tokens.size(); ++at) {
    const auto found = session.feed(at == 7 ? std::span(tokens).first(7) : std::span(tokens).subspan(at - 1, 1));
    for (std::size_t v = 0; v < found.size(); ++v) {
      const auto right = static_cast<double>(expected[(at - 1) * found.size() + v]);
      largest = std::max(largest, std::fabs(right));
      off = std::max(off, std::fabs(static_cast<double>(found[v]) - right));
    }
  }
  return off / largest;
}

TEST(RunForms, ContainersChangeNothing) {
  const testing::Scratch scratch;
  for (const std::string_view name :
       {"glm4", "gpt_oss", "deepseek_v2, plain queries", "deepseek_v2, groups, yarn", "deepseek_v3"}) {
    const Model model = golden(name);
    for (const std::string_view file : {"m.gguf", "m.zt"}) {
      static_cast<void>(save(model, scratch / file, {.overwrite = true}));
      const Model other = open(scratch / file);
      const run::Comparison found = compared_forms(model, other);
      EXPECT_LT(found.kl_largest, 1e-9) << name << " " << file;
      EXPECT_FALSE(found.parting) << name << " " << file << ": " << found.parting->place << found.parting->tensor;
      EXPECT_TRUE(found.casts.empty()) << name << " " << file << ": " << found.casts.front().first;
      EXPECT_LT(session_off(other), 3e-5) << name << " " << file;
    }
  }
}

// What GGUF has no keys for, or what llama.cpp computes otherwise.
constexpr std::string_view kNotInGguf[] = {"llama, dynamic",
                                           "mistral, window",
                                           "qwen2, window",
                                           "gpt_oss, another gate, no biases",
                                           "deepseek_v3, yarn, biases",
                                           "deepseek_v3, plain queries, halves",
                                           "qwen3_next, plain layers, one head of keys",
                                           "ernie4_5, biases",
                                           "exaone4, no window",
                                           "hunyuan_v1_dense, alpha",
                                           "olmoe, clamped",
                                           "stablelm, side by side",
                                           "starcoder2, window"};

// A model compared with itself in another container.
TEST(RunForms, EveryFamilyIsTheSameInOtherContainers) {
  const testing::Scratch scratch;
  for (const GoldenModel& one : golden_models()) {
    const Model model = described(one.model);
    for (const std::string_view file : {"m.zt", "m.mcf", "m.gguf"}) {
      if (file == "m.gguf" && std::ranges::find(kNotInGguf, one.name) != std::end(kNotInGguf)) continue;
      // Writing asks for a norm that its layers share.
      if (file == "m.mcf" && one.name == "stablelm, side by side") continue;
      try {
        static_cast<void>(save(model, scratch / file, {.overwrite = true}));
        const run::Comparison found = compared_forms(model, open(scratch / file));
        EXPECT_LT(found.kl_largest, 1e-9) << one.name << " " << file;
        EXPECT_FALSE(found.parting) << one.name << " " << file << ": " << found.parting->place << found.parting->tensor;
        EXPECT_TRUE(found.casts.empty()) << one.name << " " << file << ": " << found.casts.front().first;
      } catch (const Error& error) {
        ADD_FAILURE() << one.name << " " << file << ": " << error.what();
      }
    }
  }
}

// Its own class is DeepSeek V3's.
TEST(RunForms, KimiIsComputedAsDeepSeek) {
  for (const GoldenModel& one : golden_models()) {
    if (!one.name.starts_with("deepseek_v3")) continue;
    Map config = *one.facts.find("config")->get<Map>();
    config.set("model_type", Value("kimi_k2"));
    Model kimi = one.model;
    testing::set_config(kimi, to_json(Value(config)));
    const std::vector<std::int32_t> tokens = tiny_tokens(45, 31);
    EXPECT_EQ(run::Scorer(kimi).logits(tokens), run::Scorer(one.model).logits(tokens)) << one.name;
  }
}

// Early GGUF files have what expands keys and values as one tensor.
TEST(RunForms, UnsplitLatentAttention) {
  const testing::Scratch scratch;
  const Model model = golden("deepseek_v3");
  static_cast<void>(save(model, scratch / "m.gguf"));
  Model early = open(scratch / "m.gguf");
  std::erase_if(early.tensors, [](const Tensor& tensor) {
    return tensor.name.ends_with("attn_k_b.weight") || tensor.name.ends_with("attn_v_b.weight");
  });
  for (int layer = 0; layer < 4; ++layer) {
    Tensor joined = model.at(fmt::format("model.layers.{}.self_attn.kv_b_proj.weight", layer));
    joined.name = fmt::format("blk.{}.attn_kv_b.weight", layer);
    early.tensors.push_back(std::move(joined));
  }
  EXPECT_EQ(compared_forms(model, early).kl_largest, 0);
}

std::vector<std::uint8_t> codes_of(std::string_view name, std::size_t count, std::uint32_t first, std::uint32_t most) {
  std::vector<std::uint8_t> codes;
  for (const float x : testing::numbers_of(name, count, 1, 0))
    codes.push_back(
        static_cast<std::uint8_t>(first + static_cast<std::uint32_t>((x + 1) / 2 * static_cast<float>(most))));
  return codes;
}

// The experts of GPT-OSS as its authors publish them: a block of 4-bit codes is a part of a row of the matrix.
Tensor packed_experts(const std::string& name, std::uint64_t experts, std::uint64_t in, std::uint64_t out) {
  const auto blob = [](const std::vector<std::uint8_t>& codes) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(codes.data());
    return Blob::memory(Bytes(bytes, bytes + codes.size()));
  };
  const auto count = static_cast<std::size_t>(experts * in * out);
  Tensor tensor;
  tensor.name = name, tensor.layout = "mxfp4", tensor.shape = {experts, in, out};
  tensor.components.push_back({"blocks", DType::u8, {}, blob(codes_of(name, count / 2, 0, 256))});
  tensor.components.push_back({"scales", DType::u8, {}, blob(codes_of(name + "s", count / 32, 121, 5))});
  return tensor;
}

TEST(RunForms, PackedExperts) {
  // Blocks have 32 inputs: 64 of the first matrix, 32 of the second.
  Model dense_model, packed;
  for (const auto& [name, model, facts] : golden_models()) {
    if (name != "gpt_oss") continue;
    Map config = *facts.find("config")->get<Map>();
    config.set("hidden_size", std::int64_t{64}), config.set("intermediate_size", std::int64_t{32});
    testing::set_config(packed, to_json(Value(config)));
    for (const Tensor& tensor : model.tensors) {
      std::vector<std::uint64_t> shape(tensor.shape.begin(), tensor.shape.end());
      for (std::uint64_t& size : shape) size = size == 48 ? 64 : size == 20 ? 32 : size == 40 ? 64 : size;
      // Heads have 12 elements, of which there are 4.
      if (tensor.name.find("q_proj") != tensor.name.npos) shape.front() = 48;
      if (tensor.name.find("o_proj.weight") != tensor.name.npos) shape.back() = 48;
      if (shape.size() == 3)
        packed.tensors.push_back(packed_experts(tensor.name, shape[0], shape[1], shape[2]));
      else
        testing::add_tensor(packed, tensor.name, shape);
    }
  }
  dense_model = packed;
  for (Tensor& tensor : dense_model.tensors) tensor = to_dense(tensor);
  const std::vector<std::int32_t> tokens = tiny_tokens(45, 31);
  const std::vector<float> expected = run::Scorer(dense_model).logits(tokens);
  EXPECT_EQ(run::Scorer(packed).logits(tokens), expected);
  EXPECT_LT(session_off(packed), 3e-5);
  // GGUF's runtime has the same codes in blocks of its own, and they are multiplied as they are.
  const testing::Scratch scratch;
  static_cast<void>(save(described(dense_model), scratch / "m.gguf"));
  Model blocks = open(scratch / "m.gguf");
  const Codec& codec = *find_codec("ggml.mxfp4");
  std::size_t stacks = 0;
  for (Tensor& tensor : blocks.tensors) {
    if (tensor.shape.size() != 3) continue;
    tensor = codec.encode(tensor, {.method = std::string(codec.methods.front())});
    ++stacks;
  }
  EXPECT_EQ(stacks, 12u);
  const run::Comparison found = compared_forms(dense_model, blocks);
  ASSERT_EQ(found.casts.size(), 1u);
  EXPECT_EQ(found.casts[0].first, "f32 -> ggml.mxfp4");
  EXPECT_LT(session_off(blocks), 3e-5);
}

struct FormFault {
  std::string model, tensor;  // in layer 2
};

TEST(RunForms, NamesWhereTheyPart) {
  const std::string attention = "self_attn.", experts = "mlp.experts.", gate = "mlp.gate.", state = "linear_attn.";
  for (const auto& [name, tensor] : {FormFault{"gpt_oss", attention + "sinks"},
                                     {"gpt_oss", "mlp.router.bias"},
                                     {"gpt_oss", experts + "gate_up_proj"},
                                     {"gpt_oss", experts + "gate_up_proj_bias"},
                                     {"gpt_oss", experts + "down_proj"},
                                     {"gpt_oss", experts + "down_proj_bias"},
                                     {"gpt_oss", attention + "o_proj.bias"},
                                     {"glm4", "post_self_attn_layernorm.weight"},
                                     {"glm4", "post_mlp_layernorm.weight"},
                                     {"glm4", "mlp.gate_up_proj.weight"},
                                     {"deepseek_v3", attention + "q_a_proj.weight"},
                                     {"deepseek_v3", attention + "q_a_layernorm.weight"},
                                     {"deepseek_v3", attention + "q_b_proj.weight"},
                                     {"deepseek_v3", attention + "kv_a_proj_with_mqa.weight"},
                                     {"deepseek_v3", attention + "kv_a_layernorm.weight"},
                                     {"deepseek_v3", attention + "kv_b_proj.weight"},
                                     {"deepseek_v3", gate + "e_score_correction_bias"},
                                     {"deepseek_v3", gate + "weight"},
                                     {"deepseek_v3", "mlp.shared_experts.down_proj.weight"},
                                     {"deepseek_v2, plain queries", attention + "q_proj.weight"},
                                     {"qwen3_next", state + "in_proj_qkvz.weight"},
                                     {"qwen3_next", state + "in_proj_ba.weight"},
                                     {"qwen3_next", state + "conv1d.weight"},
                                     {"qwen3_next", state + "A_log"},
                                     {"qwen3_next", state + "dt_bias"},
                                     {"qwen3_next", state + "norm.weight"},
                                     {"qwen3_next", state + "out_proj.weight"},
                                     {"qwen3_next", "mlp.shared_expert_gate.weight"},
                                     {"qwen3_5", state + "in_proj_qkv.weight"},
                                     {"qwen3_5", state + "in_proj_z.weight"},
                                     {"qwen3_5", state + "in_proj_a.weight"},
                                     {"qwen3_5", state + "in_proj_b.weight"},
                                     {"lfm2", "conv.in_proj.weight"},
                                     {"lfm2", "conv.conv.weight"},
                                     {"ernie4_5_moe", "mlp.moe_statics.e_score_correction_bias"},
                                     {"minimax_m2", "block_sparse_moe.e_score_correction_bias"},
                                     {"phi", "mlp.fc1.bias"},
                                     {"stablelm", "input_layernorm.bias"},
                                     {"arcee", "mlp.up_proj.weight"}}) {
    const Model a = golden(name);
    Model b = a;
    const std::string whole = "model.layers.2." + tensor;
    edit_values(b, whole, [](std::vector<float>& values) {
      for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 7); ++i) values[i] += 0.5f;
    });
    const run::Comparison found = compared_forms(a, b);
    ASSERT_TRUE(found.parting) << name << ": " << tensor;
    EXPECT_EQ(found.parting->place, "layer 2") << name << ": " << tensor;
    EXPECT_EQ(found.parting->tensor, whole) << name;
    EXPECT_TRUE(found.settings.empty()) << name << ": " << tensor;
  }
}

TEST(RunForms, NamesSettings) {
  const auto with = [](std::string_view name, std::string_view key, const Value& value) {
    Model model;
    for (GoldenModel& one : golden_models()) {
      if (one.name != name) continue;
      Map config = *one.facts.find("config")->get<Map>();
      config.set(key, value);
      model = std::move(one.model);
      testing::set_config(model, to_json(Value(config)));
    }
    return model;
  };
  const std::vector<std::tuple<std::string, std::string, Value>> settings = {
      {"gpt_oss", "swiglu_limit", Value(0.25)},
      {"gpt_oss", "num_experts_per_tok", Value(std::int64_t{1})},
      {"deepseek_v3", "routed_scaling_factor", Value(1.5)},
      {"deepseek_v3", "norm_topk_prob", Value(false)},
      {"deepseek_v3", "rope_interleave", Value(false)},
      {"cohere", "logit_scale", Value(0.1)},
      {"gpt_neox", "use_parallel_residual", Value(false)},
      {"qwen3_next", "rms_norm_eps", Value(0.1)}};
  for (const auto& [name, key, value] : settings) {
    const run::Comparison found = compared_forms(golden(name), with(name, key, value));
    EXPECT_FALSE(found.settings.empty()) << key;
    ASSERT_TRUE(found.parting) << key;
    EXPECT_EQ(found.parting->tensor, "") << key;
    EXPECT_EQ(found.parting->place, key == "logit_scale"                                ? "output"
                                    : name == "deepseek_v3" && key != "rope_interleave" ? "layer 1"
                                                                                        : "layer 0")
        << key;
  }
  // Which experts are chosen is A's choice in both, so no layer parts by itself.
  const Model a = golden("deepseek_v3"), b = with("deepseek_v3", "topk_group", Value(std::int64_t{2}));
  EXPECT_EQ(compared_forms(a, b).settings.front().first, "groups in use");
  const auto rule = [&](std::string_view name, std::string_view key, const Value& value) -> std::string {
    try {
      const run::Scorer scorer(with(name, key, value));
    } catch (const Error& error) {
      return error.rule();
    }
    return "";
  };
  const Value none, zero(std::int64_t{0}), four(std::int64_t{4}), many(std::int64_t{1} << 60);
  for (const std::string_view key : {"kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"})
    for (const Value& value : {none, zero, many}) EXPECT_EQ(rule("deepseek_v3", key, value), "run.config") << key;
  EXPECT_EQ(rule("deepseek_v3", "v_head_dim", four), "run.tensors");
  EXPECT_EQ(rule("deepseek_v3", "n_group", zero), "run.config");
  EXPECT_EQ(rule("deepseek_v3", "n_group", four), "run.config");
  EXPECT_EQ(rule("deepseek_v3", "topk_group", four), "run.config");
  EXPECT_EQ(rule("deepseek_v3", "n_shared_experts", many), "run.config");
  EXPECT_EQ(rule("deepseek_v3", "n_shared_experts", four), "run.tensors");
  EXPECT_EQ(rule("gpt_oss", "swiglu_limit", zero), "run.config");
  EXPECT_EQ(rule("deepseek_v2", "norm_topk_prob", Value(true)), "run.setting");
}

}  // namespace
}  // namespace tare
