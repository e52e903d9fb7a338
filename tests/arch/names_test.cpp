#include "arch/names.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "arch/patterns.hpp"

namespace tare::arch {
namespace {

std::string filled(std::string_view pattern, std::uint32_t layer, std::uint32_t expert) {
  std::string text(pattern);
  const auto fill = [&](std::string_view variable, std::uint32_t number) {
    if (const auto at = text.find(variable); at != std::string::npos)
      text.replace(at, variable.size(), std::to_string(number));
  };
  fill("{L}", layer);
  fill("{E}", expert);
  return text;
}

const Family& family(std::string_view name) {
  const Family* const found = find_family(name);
  if (found == nullptr) throw std::runtime_error("no family " + std::string(name));
  return *found;
}

// Returns whether the bias of this module in GGUF is a row of its own.
bool has_own_bias(const Family& family, const Pattern& module, bool in_gguf) {
  for (const Patterns patterns : family.names)
    for (const Pattern& pattern : patterns)
      if (in_gguf && pattern.gguf == module.gguf && pattern.gguf_end == ".bias") return true;
  return false;
}

TEST(ArchNames, EveryPatternOfEveryFamilyAndDialectGoesThereAndBack) {
  constexpr std::string_view kHfRoots[] = {
      "model.", "",        "language_model.model.", "model.language_model.", "transformer.", "gpt_neox.", "backbone.",
      "bert.",  "roberta."};
  std::size_t count = 0;
  for (const Family& each : families())
    for (const Dialect dialect : kDialects)
      for (const Patterns patterns : each.names)
        for (const Pattern& pattern : patterns) {
          const bool in_gguf = dialect == Dialect::gguf;
          if (pattern.in(dialect).empty() || (in_gguf && pattern.beside != Role::other)) continue;
          if (!in_gguf && pattern.alone) continue;
          const std::string_view end = in_gguf ? pattern.gguf_end : pattern.bare ? "" : ".weight";
          for (const std::string_view suffix :
               {end, end == ".weight" && !has_own_bias(each, pattern, in_gguf) ? ".bias" : end})
            for (const std::uint32_t number : {0u, 7u, 10u, 4294967295u}) {
              const bool head = pattern.role == Role::output_head || is_of_classifier(pattern.role);
              const bool rooted = dialect == Dialect::hugging_face && !head;
              for (const std::string_view root : kHfRoots) {
                if (!rooted && !root.empty()) continue;
                const std::string name =
                    std::string(root) + filled(pattern.in(dialect), number, number / 2) + std::string(suffix);
                const auto parsed = parse(each, dialect, name);
                ASSERT_TRUE(parsed) << each.name << ": " << name;
                EXPECT_EQ(parsed->role, pattern.role) << each.name << ": " << name;
                EXPECT_EQ(parsed->layer.has_value(), pattern.in(dialect).find("{L}") != std::string_view::npos);
                EXPECT_EQ(parsed->layer.value_or(number), number);
                EXPECT_EQ(parsed->expert.value_or(number / 2), number / 2);
                // Gemma 3n's projections out of its streams are numbered as experts are.
                EXPECT_EQ(pattern.in(dialect).find("{E}") != std::string_view::npos, parsed->expert.has_value());
                EXPECT_TRUE(parsed->expert || !is_of_expert(parsed->role)) << name;
                EXPECT_TRUE(parsed->layer || !is_in_layer(parsed->role)) << name;
                EXPECT_EQ(spell(each, dialect, *parsed), name) << each.name;
                ++count;
              }
            }
        }
  EXPECT_GT(count, 5000u);
}

// A tensor with a name in GGUF gets its own name back from there.
TEST(ArchNames, RenamingToGgufAndBackIsTheSameName) {
  for (const Family& each : families())
    for (const Patterns patterns : each.names)
      for (const Pattern& pattern : patterns) {
        if (pattern.hugging_face.empty() || pattern.gguf.empty() || pattern.beside != Role::other || pattern.alone)
          continue;
        const bool head = pattern.role == Role::output_head || is_of_classifier(pattern.role);
        const std::string name =
            (head ? "" : "model.") + filled(pattern.hugging_face, 3, 5) + (pattern.bare ? "" : ".weight");
        const auto there = spell(each, Dialect::gguf, parse(each, Dialect::hugging_face, name).value());
        ASSERT_TRUE(there) << each.name << ": " << name;
        const auto back = parse(each, Dialect::gguf, *there);
        ASSERT_TRUE(back) << each.name << ": " << *there;
        EXPECT_EQ(spell(each, Dialect::hugging_face, *back), name) << each.name << ": " << *there;
      }
}

TEST(ArchNames, NoFamilyHasTwoRolesForOneName) {
  for (const Family& each : families())
    for (const Dialect dialect : kDialects) {
      std::set<std::pair<std::string_view, std::string_view>> seen;
      for (const Patterns patterns : each.names)
        for (const Pattern& pattern : patterns) {
          const bool in_gguf = dialect == Dialect::gguf;
          if (pattern.in(dialect).empty() || (in_gguf ? pattern.beside != Role::other : pattern.alone)) continue;
          EXPECT_TRUE(seen.emplace(pattern.in(dialect), in_gguf ? pattern.gguf_end : "").second)
              << each.name << ": " << pattern.in(dialect);
        }
    }
}

struct Pair {
  std::string_view hugging_face, gguf;  // gguf empty: it has no such tensor
};

void expect_renamed(std::string_view name, std::initializer_list<Pair> pairs) {
  const Family& own = family(name);
  for (const Pair& pair : pairs) {
    const auto parsed = parse(own, Dialect::hugging_face, pair.hugging_face);
    ASSERT_TRUE(parsed) << pair.hugging_face;
    EXPECT_EQ(spell(own, Dialect::gguf, *parsed).value_or(""), pair.gguf) << pair.hugging_face;
    EXPECT_NE(role_of(pair.hugging_face), Role::other) << pair.hugging_face;
    EXPECT_TRUE(pair.gguf.empty() || role_of(pair.gguf) != Role::other) << pair.gguf;
  }
}

TEST(ArchNames, Llama) {
  expect_renamed("llama", {{"model.embed_tokens.weight", "token_embd.weight"},
                           {"model.layers.0.input_layernorm.weight", "blk.0.attn_norm.weight"},
                           {"model.layers.0.self_attn.q_proj.weight", "blk.0.attn_q.weight"},
                           {"model.layers.0.self_attn.k_proj.weight", "blk.0.attn_k.weight"},
                           {"model.layers.0.self_attn.v_proj.weight", "blk.0.attn_v.weight"},
                           {"model.layers.0.self_attn.o_proj.weight", "blk.0.attn_output.weight"},
                           {"model.layers.0.self_attn.rotary_emb.inv_freq", ""},
                           {"model.layers.0.post_attention_layernorm.weight", "blk.0.ffn_norm.weight"},
                           {"model.layers.31.mlp.gate_proj.weight", "blk.31.ffn_gate.weight"},
                           {"model.layers.31.mlp.up_proj.weight", "blk.31.ffn_up.weight"},
                           {"model.layers.31.mlp.down_proj.weight", "blk.31.ffn_down.weight"},
                           {"model.norm.weight", "output_norm.weight"},
                           {"lm_head.weight", "output.weight"}});
}

TEST(ArchNames, Mixtral) {
  expect_renamed("mixtral", {{"model.layers.1.block_sparse_moe.gate.weight", "blk.1.ffn_gate_inp.weight"},
                             {"model.layers.1.block_sparse_moe.experts.7.w1.weight", "blk.1.ffn_gate.7.weight"},
                             {"model.layers.1.block_sparse_moe.experts.7.w2.weight", "blk.1.ffn_down.7.weight"},
                             {"model.layers.1.block_sparse_moe.experts.7.w3.weight", "blk.1.ffn_up.7.weight"}});
  const Family& own = family("MixtralForCausalLM");
  TensorName name = parse(own, Dialect::hugging_face, "model.layers.1.block_sparse_moe.experts.7.w3.weight").value();
  name.role = Role::stacked_up;
  EXPECT_FALSE(spell(own, Dialect::gguf, name));  // one tensor for all experts
  name.expert.reset();
  EXPECT_EQ(spell(own, Dialect::gguf, name), "blk.1.ffn_up_exps.weight");
}

TEST(ArchNames, Qwen) {
  expect_renamed("qwen2", {{"model.layers.2.self_attn.q_proj.bias", "blk.2.attn_q.bias"},
                           {"model.layers.2.self_attn.k_proj.bias", "blk.2.attn_k.bias"},
                           {"model.layers.2.self_attn.v_proj.bias", "blk.2.attn_v.bias"}});
  expect_renamed("qwen3", {{"model.layers.2.self_attn.q_norm.weight", "blk.2.attn_q_norm.weight"},
                           {"model.layers.2.self_attn.k_norm.weight", "blk.2.attn_k_norm.weight"},
                           {"layers.2.mlp.down_proj.weight", "blk.2.ffn_down.weight"},
                           {"embed_tokens.weight", "token_embd.weight"}});
  expect_renamed("qwen2_moe", {{"model.layers.0.mlp.gate.weight", "blk.0.ffn_gate_inp.weight"},
                               {"model.layers.0.mlp.experts.59.gate_proj.weight", ""},
                               {"model.layers.0.mlp.shared_expert.gate_proj.weight", "blk.0.ffn_gate_shexp.weight"},
                               {"model.layers.0.mlp.shared_expert.up_proj.weight", "blk.0.ffn_up_shexp.weight"},
                               {"model.layers.0.mlp.shared_expert.down_proj.weight", "blk.0.ffn_down_shexp.weight"},
                               {"model.layers.0.mlp.shared_expert_gate.weight", "blk.0.ffn_gate_inp_shexp.weight"}});
  expect_renamed("qwen3_moe", {{"model.layers.47.mlp.experts.gate_up_proj", ""},
                               {"model.layers.47.mlp.experts.down_proj", "blk.47.ffn_down_exps.weight"},
                               {"model.layers.47.mlp.experts.127.down_proj.weight", ""}});
}

TEST(ArchNames, Gemma) {
  expect_renamed("gemma", {{"model.layers.0.post_attention_layernorm.weight", "blk.0.ffn_norm.weight"}});
  for (const std::string_view each : {"gemma2", "gemma3"})
    expect_renamed(each, {{"model.layers.0.input_layernorm.weight", "blk.0.attn_norm.weight"},
                          {"model.layers.0.post_attention_layernorm.weight", "blk.0.post_attention_norm.weight"},
                          {"model.layers.0.pre_feedforward_layernorm.weight", "blk.0.ffn_norm.weight"},
                          {"model.layers.0.post_feedforward_layernorm.weight", "blk.0.post_ffw_norm.weight"}});
  expect_renamed("gemma3", {{"language_model.model.layers.5.self_attn.q_norm.weight", "blk.5.attn_q_norm.weight"},
                            {"language_model.model.embed_tokens.weight", "token_embd.weight"},
                            {"language_model.lm_head.weight", "output.weight"},
                            {"model.language_model.norm.weight", "output_norm.weight"}});
  EXPECT_FALSE(parse(family("gemma3"), Dialect::hugging_face, "vision_tower.vision_model.post_layernorm.weight"));
}

TEST(ArchNames, Phi3) {
  expect_renamed("phi3", {{"model.layers.0.self_attn.qkv_proj.weight", "blk.0.attn_qkv.weight"},
                          {"model.layers.0.mlp.gate_up_proj.weight", "blk.0.ffn_up.weight"},
                          {"model.layers.0.mlp.down_proj.weight", "blk.0.ffn_down.weight"}});
  EXPECT_EQ(parse(family("phi3"), Dialect::gguf, "blk.0.ffn_up.weight")->role, Role::gate_up);
  EXPECT_EQ(parse(family("llama"), Dialect::gguf, "blk.0.ffn_up.weight")->role, Role::up);
}

TEST(ArchNames, TheNamesThatAuthorsUseThemselves) {
  const Family& llama = family("llama");
  const auto renamed = [&](std::string_view name) {
    return spell(llama, Dialect::hugging_face, parse(llama, Dialect::meta, name).value());
  };
  EXPECT_EQ(renamed("tok_embeddings.weight"), "model.embed_tokens.weight");
  EXPECT_EQ(renamed("layers.4.attention.wq.weight"), "model.layers.4.self_attn.q_proj.weight");
  EXPECT_EQ(renamed("layers.4.feed_forward.w1.weight"), "model.layers.4.mlp.gate_proj.weight");
  EXPECT_EQ(renamed("layers.4.feed_forward.w2.weight"), "model.layers.4.mlp.down_proj.weight");
  EXPECT_EQ(renamed("layers.4.feed_forward.experts.2.w3.weight"),
            "model.layers.4.block_sparse_moe.experts.2.w3.weight");
  EXPECT_EQ(renamed("output.weight"), "lm_head.weight");
}

TEST(ArchNames, HostileNamesAreNoNames) {
  const Family& llama = family("llama");
  const std::string digits(1 << 20, '1');
  for (const std::string& number :
       {std::string(""), std::string("-1"), std::string("+1"), std::string("00"), std::string("01"), std::string("1 "),
        std::string("4294967296"), std::string("9999999999"), std::string("18446744073709551617"), std::string("0x1"),
        std::string("1\0", 2), std::string("{L}"), std::string("\xC2\xB2"), digits}) {
    const std::string name = "model.layers." + number + ".self_attn.q_proj.weight";
    EXPECT_FALSE(parse(llama, Dialect::hugging_face, name)) << number.substr(0, 32);
    EXPECT_EQ(role_of("blk." + number + ".attn_q.weight"), Role::other) << number.substr(0, 32);
    EXPECT_EQ(role_of("blk.0.ffn_up." + number + "x.weight"), Role::other) << number.substr(0, 32);
  }
  for (const std::string& name :
       {std::string(), std::string("."), std::string("model."), std::string("model.model.norm.weight"),
        std::string("model.norm.weight.weight"), std::string("model.norm.weight\0", 18), std::string("blk.0."),
        std::string("blk.0.attn_q"), std::string("norm"), std::string("blk.0.attn_q.Weight"),
        std::string("blk.0.attn_q.scale"), std::string("xmodel.norm.weight"),
        std::string("model.layers.0.self_attn.q_projx.weight"), std::string(1 << 20, '.'),
        "model.layers.0.self_attn.q_proj" + std::string(1 << 20, 'x')})
    for (const Dialect dialect : kDialects) EXPECT_FALSE(parse(llama, dialect, name)) << name.substr(0, 64);
}

TEST(ArchNames, WhatADialectCannotSayIsNotSpelled) {
  const Family& llama = family("llama");
  EXPECT_FALSE(spell(llama, Dialect::gguf, {.role = Role::q}));                            // the layer is missing
  EXPECT_FALSE(spell(llama, Dialect::gguf, {.role = Role::token_embedding, .layer = 1}));  // has a layer too many
  EXPECT_FALSE(spell(llama, Dialect::gguf, {.role = Role::q, .layer = 1, .expert = 1}));
  EXPECT_FALSE(spell(llama, Dialect::hugging_face, {.role = Role::rope_factors}));  // GGUF only
  EXPECT_FALSE(spell(llama, Dialect::hugging_face, {.role = Role::rope_inverse, .layer = 1, .suffix = Suffix::bias}));
  EXPECT_FALSE(spell(llama, Dialect::gguf, {.role = Role::other}));
  EXPECT_FALSE(spell(family("qwen2"), Dialect::meta, {.role = Role::token_embedding}));  // no such file exists
  EXPECT_FALSE(spell(tiny_llama_family(), Dialect::hugging_face, {.role = Role::output_head}));
}

RC_GTEST_PROP(ArchNames, ParsedNamesAreSpelledAsTheyWere, ()) {
  // Parts of real names in any order: some results are names.
  const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(std::vector<std::string>{
      "model",     "language_model", "layers", "blk",     "0",      "12",           "007",
      "self_attn", "q_proj",         "attn_q", "norm",    "mlp",    "experts",      "gate_proj",
      "ffn_gate",  "weight",         "bias",   "lm_head", "output", "embed_tokens", ""}));
  std::string name;
  for (const std::string& piece : pieces) name += (name.empty() ? "" : ".") + piece;
  for (const Family& each : families())
    for (const Dialect dialect : kDialects)
      if (const auto parsed = parse(each, dialect, name)) RC_ASSERT(spell(each, dialect, *parsed) == name);
}

}  // namespace
}  // namespace tare::arch
