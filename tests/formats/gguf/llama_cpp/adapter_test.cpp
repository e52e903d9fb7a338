// LoRA adapters in PEFT's form and in llama.cpp's: converted in both directions, and merged into a model of either.
#include <fmt/format.h>

#include <cmath>

#include "conformance/scratch.hpp"
#include "convert/adapt.hpp"
#include "formats/gguf/small_models.hpp"
#include "tare/inspect.hpp"
#include "tare/merge.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using tare::testing::gguf;

constexpr const char* kLora = R"({"peft_type": "LORA", "r": 2, "lora_alpha": 6})";
const std::string kLayer = "base_model.model.model.layers.0.";

Tensor spread(const std::string& name, const Shape& shape, int step) {
  std::vector<float> values(static_cast<std::size_t>(*shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>(i) * step % 13 - 6) / 8;
  return dense<float>(name, shape, values);
}

void add_pair(Model& adapter, const std::string& module, std::uint64_t out, std::uint64_t in, std::uint64_t rank = 2) {
  adapter.tensors.push_back(spread(kLayer + module + ".lora_A.weight", {rank, in}, 5));
  adapter.tensors.push_back(spread(kLayer + module + ".lora_B.weight", {out, rank}, 7));
}

Model lora_for(const Model& base, const char* config = kLora) {
  Model adapter;
  adapter.config = base.config;
  adapter.attachments.push_back(text_file("adapter_config.json", config));
  add_pair(adapter, "self_attn.q_proj", 8, 8);
  add_pair(adapter, "self_attn.k_proj", 8, 8);
  add_pair(adapter, "self_attn.v_proj", 8, 8);
  add_pair(adapter, "mlp.down_proj", 8, 6);
  return adapter;
}

Model written_as_gguf(const Model& model) {
  return open(memory_source(write_bytes(gguf(), adapt(model, gguf()).model), "m.gguf"));
}

Model small_with_ffn(const std::string& family) {
  Model model = small(family);
  if (family == "gemma") {
    model.config.head_dim = 4;
    model.tensors.erase(model.tensors.begin() + 2);
  }
  if (family == "qwen2")
    for (const char* const name : {"q", "k", "v"})
      model.tensors.push_back(counted(fmt::format("model.layers.0.self_attn.{}_proj.bias", name), {8}, 1));
  add_ffn(model);
  return model;
}

std::string merged_digest(const Model& base, const Model& adapter) {
  std::vector<Change> changes;
  return content_digest(adapt(merge_adapter(base, adapter, changes), gguf()).model);
}

TEST(GgufAdapter, HasTheNamesKeysAndRowsOfLlamaCpp) {
  const Model base = small_with_ffn("llama");
  const Model there = written_as_gguf(lora_for(base));
  EXPECT_EQ(*there.metadata.find("general.type"), Value("adapter"));
  EXPECT_EQ(*there.metadata.find("adapter.type"), Value("lora"));
  EXPECT_EQ(*there.metadata.find("adapter.lora.alpha"), Value(6.0));
  EXPECT_EQ(gguf().metadata->declared_type("adapter.lora.alpha"), "f32");
  EXPECT_EQ(there.config.model_type, "llama");
  const Tensor *const a = there.tensor("blk.0.attn_q.weight.lora_a"), *const b =
                                                                          there.tensor("blk.0.attn_q.weight.lora_b");
  ASSERT_NE(a, nullptr);
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(a->shape, (Shape{2, 8}));
  EXPECT_EQ(b->shape, (Shape{8, 2}));
  const Model adapter = lora_for(base);
  EXPECT_EQ(a->values<float>(), adapter.tensors[0].values<float>());
  // Row 2k + p of a head is row 2p + k in Hugging Face's order.
  const std::vector<float> rows = b->values<float>(), before = adapter.tensors[1].values<float>();
  for (std::size_t head = 0; head < 2; ++head)
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t p = 0; p < 2; ++p)
        for (std::size_t i = 0; i < 2; ++i)
          EXPECT_EQ(rows[(4 * head + 2 * k + p) * 2 + i], before[(4 * head + 2 * p + k) * 2 + i]);
  EXPECT_EQ(there.tensor("blk.0.attn_v.weight.lora_b")->values<float>(), adapter.tensors[5].values<float>());
}

TEST(GgufAdapter, ThereAndBack) {
  for (const char* const family : {"llama", "qwen2", "gemma"}) {
    const Model adapter = lora_for(small_with_ffn(family));
    const Model there = written_as_gguf(adapter);
    const Scratch scratch;
    hf().write_tree(adapt(there, hf()).model, scratch / "d", {}, false);
    EXPECT_TRUE(std::filesystem::exists(scratch / "d/adapter_model.safetensors"));
    const Model back = open(scratch / "d");
    EXPECT_EQ(content_digest(back), content_digest(adapter)) << family;
    EXPECT_EQ(to_text(back.attachment("adapter_config.json")->blob.bytes()), kLora);
    // A file of another program, which has no adapter_config.json.
    Model foreign = there;
    std::erase_if(foreign.attachments, [](const Attachment& file) { return file.name == "adapter_config.json"; });
    EXPECT_EQ(merged_digest(small_with_ffn(family), foreign), merged_digest(small_with_ffn(family), adapter)) << family;
  }
}

TEST(GgufAdapter, MergesByEitherNameIntoAModelOfEither) {
  for (const char* const family : {"llama", "qwen2", "gemma"}) {
    const Model base = small_with_ffn(family), there = written_as_gguf(base);
    const Model adapter = lora_for(base), as_gguf = written_as_gguf(adapter);
    const std::string expected = merged_digest(base, adapter);
    EXPECT_NE(expected, content_digest(there)) << family;
    EXPECT_EQ(merged_digest(there, adapter), expected) << family;
    EXPECT_EQ(merged_digest(base, as_gguf), expected) << family;
    EXPECT_EQ(merged_digest(there, as_gguf), expected) << family;
    // Scales by layer, which llama.cpp's files cannot hold, do not matter here.
    const Model patterned =
        lora_for(base, R"({"peft_type": "LORA", "r": 2, "lora_alpha": 6, "alpha_pattern": {"q_proj": 1}})");
    EXPECT_EQ(merged_digest(there, patterned), merged_digest(base, patterned)) << family;
    EXPECT_NE(merged_digest(there, patterned), expected);
  }
}

TEST(GgufAdapter, EmbeddingsAndWholeTensors) {
  const Model base = small_with_ffn("llama"), there = written_as_gguf(base);
  Model adapter = lora_for(base);
  adapter.tensors.push_back(spread("base_model.model.model.embed_tokens.lora_embedding_A", {2, 3}, 5));
  adapter.tensors.push_back(spread("base_model.model.model.embed_tokens.lora_embedding_B", {8, 2}, 3));
  const Model as_gguf = written_as_gguf(adapter);
  EXPECT_EQ(as_gguf.tensor("token_embd.weight.lora_a")->shape, (Shape{3, 2}));
  EXPECT_EQ(as_gguf.tensor("token_embd.weight.lora_b")->shape, (Shape{8, 2}));
  const std::string expected = merged_digest(base, adapter);
  EXPECT_EQ(merged_digest(there, adapter), expected);
  EXPECT_EQ(merged_digest(base, as_gguf), expected);
  EXPECT_EQ(merged_digest(there, as_gguf), expected);
  // A separate head for a tied model is refused in a file as in a directory.
  Model tied = base;
  std::erase_if(tied.tensors, [](const Tensor& tensor) { return tensor.name == "lm_head.weight"; });
  EXPECT_EQ(rule_of([&] { (void)merged_digest(written_as_gguf(tied), adapter); }), "lora.tied");
  // Whole tensors, in the model's row order, and for Gemma with the shift of its norms.
  for (const char* const family : {"llama", "gemma"}) {
    const Model plain = small_with_ffn(family);
    Model whole = lora_for(plain);
    whole.tensors.push_back(counted(kLayer + "self_attn.q_proj.modules_to_save.weight", {8, 8}, 40));
    whole.tensors.push_back(counted(kLayer + "input_layernorm.modules_to_save.weight", {8}, 0.75F));
    whole.tensors.erase(whole.tensors.begin(), whole.tensors.begin() + 2);
    EXPECT_EQ(merged_digest(written_as_gguf(plain), whole), merged_digest(plain, whole)) << family;
    EXPECT_EQ(rule_of([&] { (void)adapt(whole, gguf()); }), "gguf.adapter");
  }
}

TEST(GgufAdapter, QuantizedWeightsAreDecodedAndSaid) {
  Model base = small_with_ffn("llama");
  base.config.hidden_size.reset();  // the other matrices are narrower
  for (Tensor& tensor : base.tensors)
    if (tensor.name.ends_with("q_proj.weight")) tensor = counted(tensor.name, {8, 32}, 1);
  AdaptOptions options;
  options.quant.rules = {{"*q_proj*", "q8_0"}};
  const Model packed = open(memory_source(write_bytes(gguf(), adapt(base, gguf(), options).model), "m.gguf"));
  ASSERT_EQ(packed.tensor("blk.0.attn_q.weight")->layout, "ggml.q8_0");
  Model adapter = lora_for(base);
  adapter.tensors.clear();
  add_pair(adapter, "self_attn.q_proj", 8, 32);
  std::vector<Change> changes;
  const Model sum = merge_adapter(packed, adapter, changes);
  EXPECT_TRUE(sum.tensor("blk.0.attn_q.weight")->is_dense());
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].kind, ChangeKind::decoded);
  EXPECT_EQ(changes[0].items, std::vector<std::string>{"blk.0.attn_q.weight"});
}

TEST(GgufAdapter, ScaleIsThatOfTheAdapter) {
  const Model base = small_with_ffn("llama");
  const char* const stabilised = R"({"peft_type": "LORA", "r": 2, "lora_alpha": 6, "use_rslora": true})";
  const Model there = written_as_gguf(lora_for(base, stabilised));
  EXPECT_NEAR(*there.metadata.find("adapter.lora.alpha")->get<double>(), 6 * std::sqrt(2.0), 1e-5);
  // Ranks may differ: the scale is alpha over each.
  Model ranks = lora_for(base, R"({"peft_type": "LORA", "r": 2, "lora_alpha": 6, "rank_pattern": {"down_proj": 3}})");
  ranks.tensors.resize(6);
  add_pair(ranks, "mlp.down_proj", 8, 6, 3);
  Model foreign = written_as_gguf(ranks);
  foreign.attachments.clear();
  EXPECT_EQ(merged_digest(base, foreign), merged_digest(base, ranks));
  // Without alpha, llama.cpp multiplies by 1.
  foreign.metadata.erase("adapter.lora.alpha");
  const char* const ones =
      R"({"peft_type": "LORA", "r": 2, "lora_alpha": 2, "rank_pattern": {"down_proj": 3}, "alpha_pattern": {"down_proj": 3}})";
  ranks.attachments.front() = text_file("adapter_config.json", ones);
  EXPECT_EQ(merged_digest(base, foreign), merged_digest(base, ranks));
}

// The rows of B move like those of the weight, the columns of A like its columns.
TEST(GgufAdapter, OfMovedMatricesMovesWithThem) {
  constexpr std::string_view kStates =
      R"({"model_type": "qwen3_5_text", "linear_num_key_heads": 2, "linear_num_value_heads": 4,
    "linear_key_head_dim": 3, "linear_value_head_dim": 1})";
  struct Moved {
    const char *family, *module, *gguf;
    std::size_t rows, columns;
    std::vector<std::size_t> row_order, column_order;  // empty: as they are
  };
  const Moved moved[] = {
      {"bloom",
       "transformer.h.0.self_attention.query_key_value",
       "blk.0.attn_qkv",
       12,
       4,
       {0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11},
       {}},
      {"gpt_neox",
       "gpt_neox.layers.0.attention.query_key_value",
       "blk.0.attn_qkv",
       12,
       4,
       {0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11},
       {}},
      {"gpt2", "transformer.h.0.mlp.c_fc", "blk.0.ffn_up", 8, 4, {}, {}},
      {"qwen3_5_text", "model.layers.0.linear_attn.in_proj_z", "blk.0.attn_gate", 4, 3, {0, 2, 1, 3}, {}},
      {"qwen3_5_text", "model.layers.0.linear_attn.out_proj", "blk.0.ssm_out", 3, 4, {}, {0, 2, 1, 3}},
  };
  for (const Moved& one : moved) {
    Model adapter;
    adapter.config.model_type = one.family;
    adapter.config.num_attention_heads = 2;
    adapter.attachments.push_back(text_file("adapter_config.json", kLora));
    if (std::string_view(one.family) == "qwen3_5_text")
      adapter.attachments.push_back(text_file("config.json", std::string(kStates)));
    const auto numbers = [](std::string name, std::size_t rows, std::size_t columns) {
      std::vector<float> values(rows * columns);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
      return dense<float>(std::move(name), {rows, columns}, values);
    };
    adapter.tensors = {numbers(fmt::format("base_model.model.{}.lora_A.weight", one.module), 2, one.columns),
                       numbers(fmt::format("base_model.model.{}.lora_B.weight", one.module), one.rows, 2)};
    const Model made = adapt(adapter, gguf()).model;
    const Tensor* const a = made.tensor(fmt::format("{}.weight.lora_a", one.gguf));
    const Tensor* const b = made.tensor(fmt::format("{}.weight.lora_b", one.gguf));
    ASSERT_TRUE(a != nullptr && b != nullptr) << one.module;
    std::vector<float> first, second;
    for (std::size_t row = 0; row < 2; ++row)
      for (std::size_t i = 0; i < one.columns; ++i)
        first.push_back(static_cast<float>(row * one.columns + (one.column_order.empty() ? i : one.column_order[i])));
    for (std::size_t i = 0; i < one.rows; ++i)
      for (std::size_t rank = 0; rank < 2; ++rank)
        second.push_back(static_cast<float>((one.row_order.empty() ? i : one.row_order[i]) * 2 + rank));
    EXPECT_EQ(a->values<float>(), first) << one.module;
    EXPECT_EQ(b->values<float>(), second) << one.module;
    const Model back = adapt(made, *find_format("hf")).model;
    for (const Tensor& tensor : adapter.tensors) {
      ASSERT_NE(back.tensor(tensor.name), nullptr) << tensor.name;
      EXPECT_EQ(back.tensor(tensor.name)->values<float>(), tensor.values<float>()) << tensor.name;
    }
  }
}

// In GGUF they are several tensors, or one of rank 3, which have no two factors.
TEST(GgufAdapter, OfMatricesThatComeApartIsRefusedInBothDirections) {
  struct Moved {
    const char *family, *module, *gguf;
  };
  constexpr Moved kMoved[] = {
      {"deepseek_v3", "model.layers.0.self_attn.kv_b_proj", "blk.0.attn_kv_b"},
      {"lfm2", "model.layers.0.conv.conv", "blk.0.shortconv.conv"},
      {"gpt_oss", "model.layers.0.mlp.experts.down_proj", "blk.0.ffn_down_exps"},
      {"qwen3_next", "model.layers.0.linear_attn.in_proj_qkvz", "blk.0.attn_qkv"},
  };
  for (const auto& [family, module, name] : kMoved) {
    Model adapter;
    adapter.config.model_type = family;
    adapter.config.num_attention_heads = 2;
    adapter.attachments.push_back(text_file("adapter_config.json", kLora));
    adapter.tensors = {spread(fmt::format("base_model.model.{}.lora_A.weight", module), {2, 8}, 5),
                       spread(fmt::format("base_model.model.{}.lora_B.weight", module), {8, 2}, 7)};
    EXPECT_EQ(rule_of([&, &one = adapter] { (void)adapt(one, gguf()); }), "gguf.adapter") << module;
    Model other = written_as_gguf(lora_for(small_with_ffn("llama")));
    other.config.model_type = family;
    other.tensors = {spread(fmt::format("{}.weight.lora_a", name), {2, 8}, 5),
                     spread(fmt::format("{}.weight.lora_b", name), {8, 2}, 7)};
    EXPECT_EQ(rule_of([&, &one = other] { (void)adapt(one, *find_format("hf")); }), "gguf.adapter") << family << name;
  }
}

TEST(GgufAdapter, WhatLlamaCppCouldNotApplyIsRefused) {
  const Model base = small_with_ffn("llama");
  const auto refused = [](const Model& adapter) { return rule_of([&] { (void)adapt(adapter, gguf()); }); };
  Model nameless = lora_for(base);
  nameless.config = {};
  EXPECT_EQ(refused(nameless), "gguf.adapter") << "nothing states the architecture";
  Model unknown = lora_for(base);
  unknown.config.model_type = "unheard_of";
  EXPECT_EQ(refused(unknown), "gguf.adapter");
  Model unconfigured = lora_for(base);
  unconfigured.attachments.clear();
  EXPECT_EQ(refused(unconfigured), "gguf.adapter");
  for (const char* const config :
       {R"({"peft_type": "LORA", "use_dora": true})", R"({"peft_type": "LOHA"})",
        R"({"peft_type": "LORA", "lora_alpha": 6, "alpha_pattern": {"q_proj": 1}})",
        R"({"peft_type": "LORA", "lora_alpha": 0})", R"({"peft_type": "LORA", "init_lora_weights": "pissa"})"})
    EXPECT_EQ(refused(lora_for(base, config)), "gguf.adapter") << config;
  Model bias = lora_for(base);
  bias.tensors.push_back(spread(kLayer + "mlp.down_proj.lora_B.bias", {8}, 3));
  EXPECT_EQ(refused(bias), "gguf.adapter");
  Model stranger = lora_for(base);
  add_pair(stranger, "mlp.sideways_proj", 8, 8);
  EXPECT_EQ(refused(stranger), "gguf.adapter");
  Model half = lora_for(base);
  half.tensors.pop_back();
  EXPECT_EQ(refused(half), "lora.pair");
  Model headless = lora_for(base);
  headless.config.num_attention_heads.reset();
  headless.config.num_key_value_heads.reset();
  EXPECT_EQ(refused(headless), "gguf.adapter");
  // DoRA is not merged partially into a model with these names.
  Model dora = lora_for(base, R"({"peft_type": "LORA", "r": 2, "use_dora": true})");
  for (const char* const module : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.down_proj"})
    dora.tensors.push_back(spread(kLayer + module + ".lora_magnitude_vector", {8}, 3));
  EXPECT_EQ(rule_of([&] { (void)merged_digest(written_as_gguf(base), dora); }), "lora.method");
  Model elsewhere = lora_for(base);
  for (Tensor& tensor : elsewhere.tensors) tensor.name.replace(tensor.name.find("layers.0"), 8, "layers.7");
  EXPECT_EQ(rule_of([&] { (void)merged_digest(written_as_gguf(base), elsewhere); }), "lora.target");
}

}  // namespace
}  // namespace tare
