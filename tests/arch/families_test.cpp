#include "arch/families.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "arch/defaults.hpp"
#include "arch/names.hpp"
#include "arch/usual_names.hpp"
#include "base/glob.hpp"

namespace tare::arch {
namespace {

TEST(ArchFamilies, AreFoundByEveryNameOfTheirs) {
  for (const Family& family : families()) {
    for (const std::string_view type : family.model_types) EXPECT_EQ(find_family(type), &family) << type;
    for (const std::string_view name : family.architectures) EXPECT_EQ(find_family(name), &family) << name;
    EXPECT_EQ(find_gguf_family(family.gguf), family.gguf.empty() ? nullptr : &family) << family.gguf;
    EXPECT_FALSE(family.names[0].empty()) << family.name;
  }
  EXPECT_EQ(find_family("MixtralForCausalLM"), find_gguf_family("llama"));
  EXPECT_EQ(find_family("qwen3_moe"), find_gguf_family("qwen3moe"));
  for (const std::string_view nobody : {"", "electra", "Llama", "mistral "}) {
    EXPECT_EQ(find_family(nobody), nullptr) << nobody;
    EXPECT_EQ(find_gguf_family(nobody), nullptr) << nobody;
  }
  EXPECT_EQ(tiny_llama_family().name, "tiny_llama");
}

TEST(ArchFamilies, FactsOfGguf) {
  const auto step = [](std::string_view family, Role role, Verb verb) {
    return find_step(*find_family(family), role, verb);
  };
  for (const std::string_view name : {"gemma", "gemma2", "gemma3"}) {
    ASSERT_TRUE(step(name, Role::final_norm, Verb::add)) << name;
    EXPECT_EQ(step(name, Role::final_norm, Verb::add)->number, 1) << name;
    EXPECT_TRUE(step(name, Role::ffn_norm, Verb::add)) << name;
  }
  EXPECT_TRUE(step("gemma3", Role::q_norm, Verb::add));
  EXPECT_FALSE(step("llama", Role::final_norm, Verb::add));
  EXPECT_TRUE(step("gemma2", Role::output_head, Verb::omit_copy));
  EXPECT_FALSE(step("gemma3", Role::output_head, Verb::omit_copy));
  EXPECT_TRUE(step("qwen2_moe", Role::output_head, Verb::copy));
  const auto has_bias = [](std::string_view family, Role role) {
    const auto biases = find_family(family)->biases;
    return std::ranges::find(biases, role) != biases.end();
  };
  for (const std::string_view name : {"llama", "granite", "ministral3"}) EXPECT_TRUE(has_bias(name, Role::o)) << name;
  for (const std::string_view name : {"qwen2", "qwen3", "smollm3", "gemma3"}) {
    EXPECT_TRUE(has_bias(name, Role::q)) << name;
    EXPECT_FALSE(has_bias(name, Role::o)) << name;
  }
}

// Rows of one family agree with each other: what a step makes has a name in GGUF, and leads back to the first row.
TEST(ArchFamilies, StepsEndWhereTheyMakeOtherTensors) {
  for (const Family& family : families())
    for (const Patterns patterns : family.names)
      for (const Pattern& row : patterns)
        for (std::size_t i = 0; i < row.steps.size(); ++i) {
          const Step& step = row.steps[i];
          if (row.hugging_face.empty() || (step.verb != Verb::stack && step.verb != Verb::halve_rows)) continue;
          EXPECT_EQ(i + 1, row.steps.size()) << family.name;
          for (const Role made : {step.role, step.other_half}) {
            if (made == Role::other) continue;
            const bool inside = row.hugging_face.find("{L}") != std::string_view::npos;
            TensorName name{.role = made};
            if (inside) name.layer = 0;
            EXPECT_TRUE(spell(family, Dialect::gguf, name)) << family.name;
            ASSERT_TRUE(find_maker(family, made)) << family.name;
            const Pattern& maker = *find_maker(family, made);
            EXPECT_TRUE(!inside || is_of_expert(maker.role) || maker.steps.back().verb == Verb::halve_rows)
                << family.name;
          }
        }
}

// The type of a file that has only GGUF's name.
TEST(ArchFamilies, TheFirstNameIsTheOneThatOnlyReads) {
  EXPECT_EQ(find_gguf_family("gemma3")->model_types.front(), "gemma3_text");
  EXPECT_EQ(find_gguf_family("mistral3")->model_types.front(), "ministral3");
  EXPECT_EQ(find_gguf_family("mistral3")->architectures.front(), "Ministral3ForCausalLM");
}

// The table has the assumptions of every family that llama.cpp runs, each key once.
TEST(ArchFamilies, HyperParametersAreNotNamedTwice) {
  for (const Family& family : families()) {
    for (const std::string_view type : family.model_types) {
      std::set<std::string_view> assumed;
      for (const Assumed& fact : assumed_keys(type)) EXPECT_TRUE(assumed.insert(fact.key).second) << type << fact.key;
      EXPECT_EQ(assumed.empty(), family.gguf.empty()) << type;
    }
  }
  EXPECT_TRUE(assumed_keys("unheard_of").empty());
}

TEST(ArchUsualNames, TablesAndHeads) {
  for (const std::string_view name :
       {"model.embed_tokens.weight", "embed_tokens.weight", "transformer.wte.weight", "wte.weight", "shared.weight",
        "gpt_neox.embed_in.weight", "tok_embeddings.weight", "bert.embeddings.word_embeddings.weight"}) {
    EXPECT_TRUE(is_embedding(name)) << name;
    EXPECT_FALSE(is_head(name)) << name;
  }
  for (const std::string_view name : {"lm_head.weight", "model.lm_head.weight", "output.weight", "embed_out.weight",
                                      "cls.predictions.decoder.weight", "lm_head.decoder.weight"}) {
    EXPECT_TRUE(is_head(name)) << name;
    EXPECT_FALSE(is_embedding(name)) << name;
  }
  for (const std::string_view name : {"xwte.weight", "embed_tokens.bias", "", ".weight", "model.norm.weight",
                                      "layers.0.attention.output.weight", "blk.0.attn_output.weight"}) {
    EXPECT_FALSE(is_embedding(name)) << name;
    EXPECT_FALSE(is_head(name)) << name;
  }
}

TEST(ArchUsualNames, Norms) {
  for (const std::string_view name :
       {"model.norm.weight", "model.layers.0.input_layernorm.weight", "blk.0.post_ffw_norm.weight",
        "layers.0.norm1.weight", "layers.0.norm2.bias", "transformer.h.0.ln_1.weight", "transformer.ln_f.bias",
        "bert.embeddings.LayerNorm.weight", "encoder.layer_norm.weight", "blk.0.attn_k_norm.weight"})
    EXPECT_TRUE(is_norm(name)) << name;
  for (const std::string_view name :
       {"model.layers.0.mlp.up_proj.weight", "norm", "normal.weight", "lm_head.weight", "norm.proj.weight", "", "."})
    EXPECT_FALSE(is_norm(name)) << name;
}

// The globs of recipes match the tables and heads of every dialect.
TEST(ArchUsualNames, GlobsCoverEveryDialect) {
  const auto fits = [](std::span<const std::string_view> globs, std::string_view name) {
    return std::ranges::any_of(globs, [&](std::string_view glob) { return glob_match(glob, name); });
  };
  for (const Family& family : families())
    for (const Dialect dialect : kDialects) {
      if (const auto name = spell(family, dialect, {.role = Role::token_embedding})) {
        EXPECT_TRUE(fits(embedding_globs(), *name)) << *name;
      }
      if (const auto name = spell(family, dialect, {.role = Role::output_head})) {
        EXPECT_TRUE(fits(head_globs(), *name)) << *name;
        EXPECT_TRUE(is_head(*name)) << *name;
      }
    }
  EXPECT_FALSE(fits(head_globs(), "layers.0.attention.output.weight"));
}

TEST(ArchUsualNames, TiedEmbeddings) {
  Model model;
  EXPECT_EQ(ties_embeddings(model), std::nullopt);
  const auto add = [&](std::string name) {
    model.tensors.push_back(dense(std::move(name), {1}, DType::u8, Blob::memory(Bytes(1))));
  };
  add("model.layers.0.mlp.up_proj.weight");
  EXPECT_EQ(ties_embeddings(model), std::nullopt);
  add("model.embed_tokens.weight");
  EXPECT_EQ(ties_embeddings(model), true);
  add("layers.0.attention.output.weight");  // not a head
  EXPECT_EQ(ties_embeddings(model), true);
  add("lm_head.weight");
  EXPECT_EQ(ties_embeddings(model), false);
}

}  // namespace
}  // namespace tare::arch
