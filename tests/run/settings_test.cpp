// What a config.json states and nothing computes: an error if it is of the wrong kind, a doubt if it is not known.
#include "run/settings.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "run/tiny_models.hpp"

namespace tare {
namespace {

using testing::set_config;
using testing::tiny_config;
using testing::tiny_model;
using testing::TinyShape;

std::string message_of(std::string_view type, std::string_view more) {
  Model model = tiny_model(type, {});
  set_config(model, tiny_config(type, {}, more));
  try {
    const run::Scorer scorer(model);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::vector<std::string> doubts_of(const Model& model) {
  std::vector<std::string> all;
  const run::Scorer scorer(model);
  for (const Change& change : scorer.doubts()) all.push_back(to_text(change));
  return all;
}
std::vector<std::string> doubts_of(std::string_view type, std::string_view more) {
  return doubts_of(tiny_model(type, {}, more));
}

TEST(RunSettings, AValueOfAnotherKindIsAnError) {
  for (const auto& [type, setting, key] : std::initializer_list<std::array<std::string_view, 3>>{
           {"llama", R"("rope_theta": "500.0")", "rope_theta"},
           {"llama", R"("rope_parameters": {"rope_theta": "500.0"})", "rope_theta"},
           {"llama", R"("rope_scaling": {"rope_type": 3})", "rope_parameters.rope_type"},
           {"llama", R"("rope_scaling": {"rope_type": "linear", "factor": "2"})", "rope_parameters.factor"},
           {"llama", R"("rope_scaling": {"rope_type": "longrope", "long_factor": 1})", "rope_parameters.long_factor"},
           {"llama", R"("rope_scaling": {"rope_type": "longrope", "long_factor": ["1"]})",
            "rope_parameters.long_factor"},
           {"llama", R"("rope_scaling": "linear")", "rope_scaling"},
           {"llama", R"("tie_word_embeddings": "true")", "tie_word_embeddings"},
           {"llama", R"("attention_bias": 1)", "attention_bias"},
           {"llama", R"("rms_norm_eps": "1e-6")", "rms_norm_eps"},
           {"llama", R"("hidden_act": 1)", "hidden_act"},
           {"llama", R"("head_dim": 6.5)", "head_dim"},
           {"llama", R"("max_position_embeddings": "256")", "max_position_embeddings"},
           {"llama", R"("max_position_embeddings": 1e300)", "max_position_embeddings"},
           {"llama", R"("max_position_embeddings": 9223372036854775808)", "max_position_embeddings"},
           {"mistral", R"("sliding_window": 4.5)", "sliding_window"},
           {"qwen2", R"("use_sliding_window": "yes")", "use_sliding_window"},
           {"smollm3", R"("no_rope_layers": ["1"])", "no_rope_layers"},
           {"granite", R"("logits_scaling": [1])", "logits_scaling"},
       }) {
    const std::string said = message_of(type, fmt::format(", {}", setting));
    EXPECT_NE(said.find("run.config"), said.npos) << setting << ": " << said;
    EXPECT_NE(said.find(fmt::format("{}: expected", key)), said.npos) << setting << ": " << said;
  }
  EXPECT_EQ(message_of("llama", R"(, "rope_theta": 500, "head_dim": 6.0, "attention_bias": null)"), "");
}

TEST(RunSettings, AnUnknownKeyIsADoubt) {
  const auto names = [](const std::vector<std::string>& doubts, std::string_view key) {
    return doubts.size() == 1 && doubts.front().find(key) != std::string::npos;
  };
  EXPECT_TRUE(names(doubts_of("llama", R"(, "use_alibi_positions": true)"), "use_alibi_positions"));
  EXPECT_TRUE(names(doubts_of("llama", R"(, "attn_logit_softcapping": 50.0)"), "attn_logit_softcapping"));
  EXPECT_TRUE(names(doubts_of("llama", R"(, "n_embd": 20)"), "n_embd"));
  EXPECT_TRUE(names(doubts_of("llama", R"(, "partial_rotary_factor": 0.5)"), "partial_rotary_factor"));
  EXPECT_TRUE(
      names(doubts_of("llama", R"(, "rope_scaling": {"rope_type": "linear", "factor": 2, "mrope_section": [1]})"),
            "mrope_section"));
  EXPECT_TRUE(names(doubts_of("mistral", R"(, "attention_bias": true)"), "attention_bias"));
}

// Keys of real files, which have no effect on these classes.
TEST(RunSettings, WhatEveryFileHasIsNoDoubt) {
  for (const std::string_view more :
       {R"("architectures": ["LlamaForCausalLM"], "torch_dtype": "bfloat16", "transformers_version": "4.45.0",
           "use_cache": true, "bos_token_id": 1, "eos_token_id": [2, 3], "pad_token_id": 0, "initializer_range": 0.02,
           "attention_dropout": 0.0, "pretraining_tp": 1, "_name_or_path": "x", "rope_interleaved": false,
           "mlp_bias": false, "is_llama_config": true, "transformers.js_config": {"dtype": "q4"})",
        R"("auto_map": {"AutoConfig": "a.B"}, "embd_pdrop": 0.0, "resid_pdrop": 0.0, "unsloth_fixed": true,
           "quantization_config": null, "_attn_implementation_autoset": true, "tokenizer_model_max_length": 4096,
           "cache_implementation": "hybrid", "layer_types": ["full_attention", "full_attention", "full_attention"],
           "use_mrope": false, "partial_rotary_factor": 1.0)"}) {
    const std::vector<std::string> doubts = doubts_of("llama", fmt::format(", {}", more));
    EXPECT_TRUE(doubts.empty()) << doubts.front();
  }
}

// class_settings.json: what each class of transformers states by default (tests/arch/settings.py).
TEST(RunSettings, EveryKeyOfTheClassesIsKnown) {
  std::ifstream file(std::string(TARE_TEST_DIR) + "/run/class_settings.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::size_t count = 0;
  for (const Value& one : resources::parse_small_json_list(text)) {
    const Map& json = *one.get<Map>()->find("config")->get<Map>();
    const resources::ConfigFile config(json);
    EXPECT_NO_THROW(run::require_kinds(json, config.model_type())) << config.model_type();
    const std::vector<Change> unknown = run::unknown_settings(json, config);
    EXPECT_TRUE(unknown.empty()) << config.model_type() << ": " << to_text(unknown.front());
    ++count;
  }
  EXPECT_GT(count, 30u);
}

TEST(RunSettings, TensorsThatNothingReadsAreADoubt) {
  Model model = tiny_model("llama", {.layers = 3});
  set_config(model, tiny_config("llama", {.layers = 2}));
  const std::vector<std::string> doubts = doubts_of(model);
  ASSERT_EQ(doubts.size(), 1u);
  EXPECT_NE(doubts.front().find("model.layers.2."), std::string::npos) << doubts.front();
  Model more = tiny_model("llama", {});
  testing::add_tensor(more, "model.layers.0.self_attn.q_proj.bias", {24});
  EXPECT_EQ(doubts_of(more).size(), 1u);
  // Frequencies that older programs stored.
  Model old = tiny_model("llama", {});
  testing::add_tensor(old, "model.layers.0.self_attn.rotary_emb.inv_freq", {3});
  EXPECT_TRUE(doubts_of(old).empty());
}

TEST(RunSettings, AKindOfLayerThatIsNotKnownIsRefused) {
  const std::string said =
      message_of("qwen3", R"(, "use_sliding_window": true, "sliding_window": 4, "max_window_layers": 0,
                  "layer_types": ["full_attention", "chunked_attention", "full_attention"])");
  EXPECT_NE(said.find("run.setting"), said.npos) << said;
  EXPECT_NE(said.find("chunked_attention"), said.npos) << said;
}

}  // namespace
}  // namespace tare
