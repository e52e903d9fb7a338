// Models that a conversion once changed silently: facts that llama.cpp's files and Hugging Face's directories keep in
// different places, in both directions.
#include <cmath>

#include "conformance/scratch.hpp"
#include "convert/adapt.hpp"
#include "formats/gguf/llama_cpp/conventions.hpp"
#include "formats/gguf/small_models.hpp"
#include "resources/json_file.hpp"
#include "tare/inspect.hpp"
#include "tare/metadata.hpp"
#include "tare/run.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using tare::testing::gguf;

Model written(const Model& model) { return open(memory_source(write_bytes(gguf(), model), "m.gguf")); }

// Written to a directory and read back, so that it is no longer a model of a GGUF file.
Model in_directory(const Model& model) {
  const Scratch scratch;
  hf().write_tree(adapt(model, hf()).model, scratch / "d", {}, false);
  Model back = open(scratch / "d");
  for (Tensor& tensor : back.tensors)
    for (Component& component : tensor.components) component.blob = Blob::memory(component.blob.bytes());
  for (Attachment& file : back.attachments) file.blob = Blob::memory(file.blob.bytes());
  return back;
}

// As llama.cpp's converter would have written it: its keys and none of Tare's.
Model by_llama_cpp(const Model& model) {
  Model there = adapt(model, gguf()).model;
  there.attachments.clear();
  there.metadata.erase("gguf.root");
  for (Tensor& tensor : there.tensors) tensor.attributes = {};
  there = written(there);
  there.metadata.erase("gguf.keys");
  return there;
}

Map json_of(const Model& model, const std::string& file) {
  const Attachment* const found = model.attachment(file);
  if (found == nullptr) return {};
  const Bytes bytes = found->blob.bytes();
  return resources::parse_small_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}
std::string said(const Map& map, std::string_view key) {
  const Value* const found = map.find(key);
  return found == nullptr ? "" : to_json(*found);
}

std::vector<std::string> sorted_names(const Model& model) {
  std::vector<std::string> names;
  for (const Tensor& tensor : model.tensors) names.push_back(tensor.name);
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> results_of(const std::vector<Change>& changes) {
  std::vector<std::string> items;
  for (const Change& change : changes)
    if (change.impact == Impact::results) items.push_back(change.items.empty() ? change.detail : change.items.front());
  return items;
}
using Words = std::vector<std::string>;

Model phi3(const std::string& config) {
  Model model = small("phi3", config);
  std::erase_if(model.tensors, [](const Tensor& tensor) {
    return tensor.name.find("q_proj") != std::string::npos || tensor.name.find("k_proj") != std::string::npos ||
           tensor.name.find("v_proj") != std::string::npos || tensor.name.find("mlp") != std::string::npos;
  });
  model.tensors.push_back(counted("model.layers.0.self_attn.qkv_proj.weight", {24, 8}, 3));
  model.tensors.push_back(counted("model.layers.0.mlp.gate_up_proj.weight", {12, 8}, 4));
  model.tensors.push_back(counted("model.layers.0.mlp.down_proj.weight", {8, 6}, 5));
  model.config.vocab_size = 3;
  return model;
}

const std::string kLongRope =
    R"({"model_type":"phi3","max_position_embeddings":16,"original_max_position_embeddings":4,"rope_scaling":)"
    R"({"type":"longrope","long_factor":[1.5,2.5],"short_factor":[1.0,1.25]}})";

TEST(GgufWayBack, Phi3sTablesMeanLongrope) {
  Model there = by_llama_cpp(phi3(kLongRope));
  ASSERT_NE(there.tensor("rope_factors_long.weight"), nullptr);
  there.metadata.erase("phi3.rope.scaling.type");  // llama.cpp's converter does not write it
  const Adapted back = adapt(there, hf());
  const Map config = json_of(back.model, "config.json");
  EXPECT_EQ(said(config, "original_max_position_embeddings"), "4");
  EXPECT_EQ(said(config, "max_position_embeddings"), "16");
  EXPECT_EQ(said(config, "rope_scaling"), R"({"long_factor":[1.5,2.5],"short_factor":[1.0,1.25],"type":"longrope"})");
  EXPECT_EQ(results_of(back.changes), Words());
}

TEST(GgufWayBack, LongropeThatStretchesInAnotherWay) {
  Model there = by_llama_cpp(phi3(kLongRope));
  there.metadata.erase("phi3.rope.scaling.type");
  const double usual = *resources::number_of(*there.metadata.find("phi3.rope.scaling.attn_factor"));
  EXPECT_NEAR(usual, std::sqrt(1 + std::log(4.0) / std::log(4.0)), 1e-6);
  there.metadata.set("phi3.rope.scaling.attn_factor", 1.5);
  const auto factor = [](const Model& model) {
    return said(*json_of(adapt(model, hf()).model, "config.json").find("rope_scaling")->get<Map>(), "attention_factor");
  };
  EXPECT_EQ(factor(there), "1.5");
  there.metadata.erase("phi3.rope.scaling.attn_factor");
  EXPECT_EQ(factor(there), "1.0") << "llama.cpp does not stretch then";
  // And in the other direction.
  Model own = phi3(R"({"original_max_position_embeddings":4,"rope_scaling":{"type":"longrope","long_factor":[1,2],)"
                   R"("short_factor":[1,2],"attention_factor":1.5}})");
  EXPECT_EQ(to_json(*adapt(own, gguf()).model.metadata.find("phi3.rope.scaling.attn_factor")), "1.5");
}

TEST(GgufWayBack, WhatLongropeCannotKnowIsSaid) {
  Model there = by_llama_cpp(phi3(kLongRope));
  there.metadata.erase("phi3.rope.scaling.original_context_length");
  EXPECT_EQ(results_of(adapt(there, hf()).changes), Words{"original_max_position_embeddings"});
  there = by_llama_cpp(phi3(kLongRope));
  std::erase_if(there.tensors, [](const Tensor& tensor) { return tensor.name == "rope_factors_short.weight"; });
  EXPECT_EQ(results_of(adapt(there, hf()).changes), Words{"short_factor"});
}

TEST(GgufWayBack, LlamasLongrope) {
  Model llama = small("llama", R"({"model_type":"llama","rope_scaling":{"rope_type":"longrope","long_factor":[2,4],)"
                               R"("short_factor":[1,1],"original_max_position_embeddings":8}})");
  llama.config.vocab_size = 3;
  const Map rope = *json_of(adapt(by_llama_cpp(llama), hf()).model, "config.json").find("rope_scaling")->get<Map>();
  EXPECT_EQ(said(rope, "rope_type"), "\"longrope\"");
  EXPECT_EQ(said(rope, "original_max_position_embeddings"), "8");
  EXPECT_EQ(said(rope, "factor"), "2.0");
}

// ---- rows beyond the tokens

Model gemma3(std::uint64_t rows, const std::string& config = "{}") {
  Model model = small("gemma3_text", config);
  model.config.head_dim = 4;
  model.config.sliding_window = 8;
  model.config.vocab_size = static_cast<std::int64_t>(rows);
  model.config.tie_word_embeddings = true;
  model.tensors[0] = counted("model.embed_tokens.weight", {rows, 8}, 1);
  model.tensors.erase(model.tensors.begin() + 2);  // its head is its token table
  for (const char* const name : {"pre_feedforward_layernorm", "post_feedforward_layernorm"})
    model.tensors.push_back(counted("model.layers.0." + std::string(name) + ".weight", {8}, 1));
  for (const char* const name : {"q_norm", "k_norm"})
    model.tensors.push_back(counted("model.layers.0.self_attn." + std::string(name) + ".weight", {4}, 1));
  model.vocabulary.kind = "spm";
  model.vocabulary.tokens = {{"<unk>", 0, TokenType::unknown}, {"a"}, {"b"}};
  model.vocabulary.unk = 0;
  return model;
}

TEST(GgufWayBack, RowsBeyondTheTokensAreKept) {
  for (const std::string type : {"gemma3_text", "llama"}) {
    Model model = type == "llama" ? small("llama", "{}") : gemma3(6);
    if (type == "llama") {
      model.tensors[0] = counted("model.embed_tokens.weight", {6, 8}, 1);
      model.tensors[2] = counted("lm_head.weight", {6, 8}, 1);
      model.vocabulary = gemma3(3).vocabulary;
      model.config.vocab_size = 6;
    }
    const Adapted there = adapt(model, gguf());
    EXPECT_EQ(there.model.tensor("token_embd.weight")->shape.text(), "6x8") << type;
    ASSERT_EQ(there.model.vocabulary.tokens.size(), 6U) << type;
    EXPECT_EQ(there.model.vocabulary.tokens[5], (Token{"[PAD5]", 0, TokenType::unused}));
    for (const Change& change : there.changes) EXPECT_NE(change.impact, Impact::lost) << to_text(change);
    // From the keys alone: as many rows as before, and the tokens that a text can become.
    const Model back = in_directory(by_llama_cpp(model));
    EXPECT_EQ(back.tensor("model.embed_tokens.weight")->shape.text(), "6x8");
    EXPECT_EQ(said(json_of(back, "config.json"), "vocab_size"), "6");
    EXPECT_EQ(back.vocabulary.tokens.size(), 3U);
    EXPECT_EQ(said(*json_of(back, "tokenizer.json").find("model")->get<Map>(), "vocab").find("PAD"), std::string::npos);
    // Converting again gives the same file.
    const Model again = adapt(back, gguf()).model;
    EXPECT_EQ(again.vocabulary.tokens, there.model.vocabulary.tokens) << type;
    EXPECT_EQ(content_digest(again), content_digest(there.model)) << type;
  }
}

TEST(GgufWayBack, ATokenThatIsInUseIsNoPadding) {
  Model model = gemma3(3);
  model.vocabulary.tokens[2] = {"[PAD2]", 0, TokenType::unused};
  model.vocabulary.pad = 2;
  EXPECT_EQ(adapt(by_llama_cpp(model), hf()).model.vocabulary.tokens.size(), 3U);
}

// ---- models without a head

Model headless(Model model, const std::string& architecture) {
  std::erase_if(model.tensors, [](const Tensor& tensor) { return tensor.name == "lm_head.weight"; });
  for (Tensor& tensor : model.tensors) tensor.name = tensor.name.substr(std::string("model.").size());
  std::erase_if(model.attachments, [](const Attachment& file) { return file.name == "config.json"; });
  Map config = model.config.to_map();
  config.set("architectures", List{Value(architecture)});
  model.attachments.push_back(text_file("config.json", to_json(Value(config))));
  return model;
}

TEST(GgufWayBack, NamesWithoutARootComeBackWithoutOne) {
  Model qwen = small("qwen3", "{}");
  for (const char* const name : {"q_norm", "k_norm"})
    qwen.tensors.push_back(counted("model.layers.0.self_attn." + std::string(name) + ".weight", {4}, 1));
  qwen.config.head_dim = 4;
  Model olmo = small("olmo2", "{}");
  olmo.tensors.erase(olmo.tensors.begin() + 3);  // no norm before the attention
  olmo.tensors.push_back(counted("model.layers.0.post_feedforward_layernorm.weight", {8}, 1));
  for (const char* const name : {"q_norm", "k_norm"})
    olmo.tensors.push_back(counted("model.layers.0.self_attn." + std::string(name) + ".weight", {8}, 1));
  for (const auto& [with_head, architecture] :
       {std::pair(small("llama", "{}"), "LlamaModel"), std::pair(qwen, "Qwen3Model"),
        std::pair(gemma3(3), "Gemma3TextModel"), std::pair(olmo, "Olmo2Model")}) {
    const Model model = headless(with_head, architecture);
    const Model there = written(adapt(model, gguf()).model);
    ASSERT_NE(there.tensor("token_embd.weight"), nullptr) << architecture;
    const Model back = adapt(there, hf()).model;
    EXPECT_EQ(sorted_names(back), sorted_names(model)) << architecture;
    EXPECT_EQ(content_digest(back), content_digest(model)) << architecture;
    EXPECT_EQ(back.metadata.find("gguf.root"), nullptr);
    // Also through another container.
    const Format& zt = *find_format("zt");
    const Model other = open(memory_source(write_bytes(zt, adapt(there, zt).model), "m.zt"));
    EXPECT_EQ(content_digest(adapt(other, hf()).model), content_digest(model)) << architecture;
  }
}

Model olmo2() {
  Model olmo = small("olmo2", R"({"model_type":"olmo2","tie_word_embeddings":true})");
  olmo.tensors.erase(olmo.tensors.begin() + 3);  // no norm before the attention
  olmo.tensors.push_back(counted("model.layers.0.post_feedforward_layernorm.weight", {8}, 1));
  for (const char* const name : {"q_norm", "k_norm"})
    olmo.tensors.push_back(counted("model.layers.0.self_attn." + std::string(name) + ".weight", {8}, 1));
  std::erase_if(olmo.tensors, [](const Tensor& tensor) { return tensor.name == "lm_head.weight"; });
  olmo.config.tie_word_embeddings = true;
  return olmo;
}

// What Tare notes about a tensor holds until another program changes the tensor.
TEST(GgufWayBack, AHeadThatIsNoLongerACopyIsKept) {
  const Model model = olmo2();
  Model there = written(adapt(model, gguf()).model);
  const auto head = std::ranges::find(there.tensors, "output.weight", &Tensor::name);
  ASSERT_NE(head, there.tensors.end());
  EXPECT_EQ(sorted_names(adapt(there, hf()).model), sorted_names(model));
  const Map attributes = head->attributes;
  *head = counted("output.weight", {3, 8}, 7);
  head->attributes = attributes;
  const Adapted back = adapt(there, hf());
  ASSERT_NE(back.model.tensor("lm_head.weight"), nullptr);
  EXPECT_EQ(back.model.tensor("lm_head.weight")->values<float>()[0], 7);
  EXPECT_EQ(said(json_of(back.model, "config.json"), "tie_word_embeddings"), "false");
  EXPECT_TRUE(std::ranges::any_of(back.changes, [](const Change& change) {
    return change.detail.find("was a copy of the token table") != std::string::npos;
  }));
}

TEST(GgufWayBack, ValuesThatTheFormerTypeLacksAreKept) {
  const Model model = small("llama", R"({"model_type":"llama"})");
  Model there = written(adapt(model, gguf()).model);
  const auto norm = std::ranges::find(there.tensors, "output_norm.weight", &Tensor::name);
  ASSERT_NE(norm, there.tensors.end());
  EXPECT_EQ(dtype_name(*adapt(there, hf()).model.tensor("model.norm.weight")), "bf16");
  std::vector<float> values = norm->values<float>();
  const Map attributes = norm->attributes;
  const auto back_with = [&](float value) {
    values[3] = value;
    *norm = dense<float>(norm->name, norm->shape, values);
    norm->attributes = attributes;
    return *adapt(there, hf()).model.tensor("model.norm.weight");
  };
  EXPECT_EQ(dtype_name(back_with(-2.5F)), "bf16");
  EXPECT_EQ(dtype_name(back_with(std::nanf(""))), "bf16");
  for (const float value : {1.0012345F, 3.4e38F}) {
    const Tensor back = back_with(value);
    EXPECT_EQ(dtype_name(back), "f32");
    EXPECT_EQ(back.values<float>()[3], value);
    EXPECT_TRUE(back.attributes.empty());
  }
}

TEST(GgufWayBack, NamesOfAPartComeBackUnderIt) {
  Model model = small("mistral3", R"({"model_type":"mistral3","text_config":{"model_type":"ministral3"}})");
  model.config.head_dim = 4;
  for (Tensor& tensor : model.tensors) tensor.name = "language_model." + tensor.name;
  EXPECT_EQ(sorted_names(adapt(written(adapt(model, gguf()).model), hf()).model), sorted_names(model));
}

TEST(GgufWayBack, EditedKeysDoNotChangeTheNames) {
  const Model model = headless(small("llama", "{}"), "LlamaModel");
  const Scratch scratch;
  put_file(scratch / "m.gguf", write_bytes(gguf(), adapt(model, gguf()).model));
  const MetadataEdit edits[] = {{.kind = MetadataEditKind::set, .key = "general.author", .value = Value("me")}};
  edit_metadata(scratch / "m.gguf", edits);
  EXPECT_EQ(sorted_names(adapt(open(scratch / "m.gguf"), hf()).model), sorted_names(model));
}

// ---- embeddings

Model pooled(Model model, const std::string& config, const std::string& more = "") {
  model.attachments.push_back(text_file(
      "modules.json", R"([{"idx":0,"name":"0","path":"","type":"sentence_transformers.models.Transformer"},)"
                      R"({"idx":1,"name":"1","path":"1_Pooling","type":"sentence_transformers.models.Pooling"})" +
                          more + "]"));
  model.attachments.push_back(text_file("1_Pooling/config.json", config));
  return model;
}

TEST(GgufWayBack, PoolingIsAKey) {
  const auto key = [](const std::string& config) {
    const Model there = adapt(pooled(small("qwen2", "{}"), config), gguf()).model;
    const Value* const found = there.metadata.find("qwen2.pooling_type");
    return found == nullptr ? "" : to_json(*found);
  };
  EXPECT_EQ(key(R"({"pooling_mode_mean_tokens":true,"pooling_mode_cls_token":false})"), "1");
  EXPECT_EQ(key(R"({"pooling_mode_mean_tokens":false,"pooling_mode_cls_token":true})"), "2");
  EXPECT_EQ(key(R"({"pooling_mode_lasttoken":true,"include_prompt":true})"), "3");
  EXPECT_EQ(key(R"({"pooling_mode":"lasttoken"})"), "3");
  for (const char* const other : {R"({"pooling_mode_max_tokens":true})", R"({"pooling_mode":"max"})", "{}",
                                  R"({"pooling_mode_mean_tokens":true,"pooling_mode_max_tokens":true})", "not JSON"}) {
    EXPECT_EQ(key(other), "") << other;
    EXPECT_EQ(results_of(adapt(pooled(small("qwen2", "{}"), other), gguf()).changes), Words{"pooling_mode"}) << other;
  }
  const Model dense_layer =
      pooled(small("qwen2", "{}"), R"({"pooling_mode_mean_tokens":true})",
             R"(,{"idx":2,"name":"2","path":"2_Dense","type":"sentence_transformers.models.Dense"})");
  EXPECT_EQ(results_of(adapt(dense_layer, gguf()).changes), Words{"2_Dense"});
}

TEST(GgufWayBack, PoolingComesBackAsFiles) {
  Model model = pooled(headless(small("llama", "{}"), "LlamaModel"), R"({"pooling_mode_lasttoken":true})");
  const Model back = in_directory(by_llama_cpp(model));
  EXPECT_EQ(sorted_names(back), sorted_names(model));
  EXPECT_EQ(said(json_of(back, "config.json"), "architectures"), R"(["LlamaModel"])");
  EXPECT_EQ(said(json_of(back, "1_Pooling/config.json"), "pooling_mode_lasttoken"), "true");
  EXPECT_EQ(said(json_of(back, "1_Pooling/config.json"), "word_embedding_dimension"), "8");
  ASSERT_NE(back.attachment("modules.json"), nullptr);
  const Model again = adapt(back, gguf()).model;
  const Value* const pooling = again.metadata.find("llama.pooling_type");
  ASSERT_NE(pooling, nullptr);
  EXPECT_EQ(to_json(*pooling), "3");
}

TEST(GgufWayBack, EmbeddingGemmaIsNotCausal) {
  Model model = gemma3(3, R"({"use_bidirectional_attention":true})");
  const Adapted there = adapt(model, gguf());
  const Model file = written(there.model);
  EXPECT_EQ(file.config.model_type, "gemma-embedding");
  EXPECT_NE(file.metadata.find("gemma-embedding.attention.value_length"), nullptr);
  // Only of its vocabulary, which has no files here.
  EXPECT_EQ(results_of(there.changes),
            Words{"how it splits text, and what it puts around it, is unknown without tokenizer.json; the rules of "
                  "llama.cpp's \"llama\" are assumed"});
  EXPECT_EQ(content_digest(adapt(file, hf()).model), content_digest(model));
  const Model back = adapt(by_llama_cpp(model), hf()).model;
  const Map config = json_of(back, "config.json");
  EXPECT_EQ(said(config, "model_type"), "\"gemma3_text\"");
  EXPECT_EQ(said(config, "architectures"), R"(["Gemma3TextModel"])");
  EXPECT_EQ(said(config, "use_bidirectional_attention"), "true");
  EXPECT_EQ(said(config, "sliding_window"), "8");
  EXPECT_NE(back.tensor("embed_tokens.weight"), nullptr);
  EXPECT_EQ(adapt(gemma3(3, R"({"use_bidirectional_attention":false})"), gguf()).model.config.model_type,
            "gemma3_text");
}

TEST(GgufWayBack, Olmo3sThetaIsThatOfAllLayers) {
  Model model = small("olmo3", R"({"layer_types":["sliding_attention"]})");
  model.config.vocab_size = 3;
  model.config.sliding_window = 8;
  model.config.rope_theta = 1234;
  model.tensors.erase(model.tensors.begin() + 3);
  model.tensors.push_back(counted("model.layers.0.post_feedforward_layernorm.weight", {8}, 1));
  for (const char* const name : {"q_norm", "k_norm"})
    model.tensors.push_back(counted("model.layers.0.self_attn." + std::string(name) + ".weight", {8}, 1));
  const Map config = json_of(adapt(by_llama_cpp(model), hf()).model, "config.json");
  EXPECT_EQ(said(config, "model_type"), "\"olmo3\"");
  EXPECT_EQ(said(config, "rope_parameters"), R"({"full_attention":{"rope_theta":1234.0,"rope_type":"default"},)"
                                             R"("sliding_attention":{"rope_theta":1234.0,"rope_type":"default"}})");
  EXPECT_EQ(said(config, "rope_theta"), "1234.0") << "where older versions look";
}

// ---- biases, keys, names

TEST(GgufWayBack, BiasesOfQAndKAloneGetOneOfZerosForTheOutput) {
  Model model = small("llama", R"({"attention_bias":true})");
  model.config.vocab_size = 3;
  for (const char* const name : {"q_proj", "k_proj", "v_proj"})
    model.tensors.push_back(counted("model.layers.0.self_attn." + std::string(name) + ".bias", {8}, 1));
  const Model back = adapt(by_llama_cpp(model), hf()).model;
  EXPECT_EQ(said(json_of(back, "config.json"), "attention_bias"), "true");
  const Tensor* const zeros = back.tensor("model.layers.0.self_attn.o_proj.bias");
  ASSERT_NE(zeros, nullptr);
  EXPECT_EQ(zeros->values<float>(), std::vector<float>(8));
}

TEST(GgufWayBack, BiasesOfSomeMatricesGetZerosForTheOthers) {
  const auto with = [](const std::string& type, const Words& names) {
    Model model = by_llama_cpp([&] {
      Model plain = small(type, "{}");
      plain.config.vocab_size = 3;
      return plain;
    }());
    for (const std::string& name : names)
      model.tensors.push_back(counted("blk.0." + name, {name.starts_with("ffn_up") ? 6U : 8U}, 1, DType::f32));
    return model;
  };
  const Adapted attention = adapt(with("llama", {"attn_v.bias"}), hf());
  EXPECT_EQ(said(json_of(attention.model, "config.json"), "attention_bias"), "true");
  for (const char* const name : {"q_proj", "k_proj", "o_proj"})
    EXPECT_NE(attention.model.tensor("model.layers.0.self_attn." + std::string(name) + ".bias"), nullptr) << name;
  EXPECT_EQ(results_of(attention.changes), Words());
  const Model ffn = adapt(with("llama", {"ffn_up.bias"}), hf()).model;
  EXPECT_EQ(said(json_of(ffn, "config.json"), "mlp_bias"), "true");
  EXPECT_NE(ffn.tensor("model.layers.0.mlp.down_proj.bias"), nullptr);
  const Model qwen = adapt(with("qwen2", {"attn_q.bias"}), hf()).model;
  EXPECT_NE(qwen.tensor("model.layers.0.self_attn.k_proj.bias"), nullptr);
  EXPECT_EQ(qwen.tensor("model.layers.0.self_attn.o_proj.bias"), nullptr) << "its class has none";
}

TEST(GgufWayBack, BiasesThatTheClassDoesNotHaveAreAnError) {
  Model qwen = small("qwen2", "{}");
  for (const char* const name : {"q_proj", "k_proj", "v_proj"})
    qwen.tensors.push_back(counted("model.layers.0.self_attn." + std::string(name) + ".bias", {8}, 1));
  Model there = by_llama_cpp(qwen);
  EXPECT_EQ(rule_of([&] { adapt(there, hf()); }), "");
  there.tensors.push_back(counted("output.bias", {3}, 1, DType::f32));
  for (const char* const to : {"hf", "mcf"}) {
    const auto error = error_of([&] { adapt(there, *find_format(to)); });
    ASSERT_TRUE(error) << to;
    EXPECT_EQ(error->rule(), "convert.surplus");
    EXPECT_EQ(error->remedies().front().argument, "output.bias");
  }
  Model phi = by_llama_cpp(phi3(kLongRope));
  phi.tensors.push_back(counted("blk.0.attn_qkv.bias", {24}, 1, DType::f32));
  EXPECT_EQ(rule_of([&] { adapt(phi, hf()); }), "convert.surplus");
}

// ---- keys that decide shapes and the order of rows

const std::string kKeyOfK = "model.layers.0.self_attn.k_proj.weight", kKvHeads = "llama.attention.head_count_kv";

// A Llama with two heads for queries and one for keys and values, as llama.cpp would have written it.
Model grouped_hf() {
  Model model = small("llama", "{}");
  model.config.vocab_size = 3;
  model.config.num_key_value_heads = 1;
  for (Tensor& tensor : model.tensors)
    if (tensor.name.find("k_proj") != std::string::npos || tensor.name.find("v_proj") != std::string::npos)
      tensor = counted(tensor.name, {4, 8}, 4);
  return model;
}
Model grouped() { return by_llama_cpp(grouped_hf()); }

// With a key of this type, written to a file and read back.
Model with_key(Model model, const std::string& key, Value value, const std::string& type = "") {
  if (key == kKvHeads) model.config.num_key_value_heads.reset();
  model.metadata.set(key, std::move(value));
  if (!type.empty()) model.metadata.set("gguf.keys", List{Value(key + "=" + type)});
  return written(model);
}

TEST(GgufWayBack, NumbersOfAnyTypeDecideTheOrderOfRows) {
  const std::vector<float> expected = grouped_hf().tensor(kKeyOfK)->values<float>();
  const std::pair<const char*, Value> cases[] = {
      {"u64", Value(1)},
      {"i32", Value(1)},
      {"u16", Value(1)},
      {"u8", Value(1)},
      {"i8", Value(1)},
      {"f32", Value(1.0)},
      {"f64", Value(1.0)},
      {"[i32]", Value(List{Value(1), Value(1)})},
      {"[u32]", Value(List{Value(1)})},
      {"[u64]", Value(List{Value(1), Value(1), Value(1)})},
      {"[u8]", Value(Bytes{std::byte{1}, std::byte{1}})},
      {"[f32]", Value(List{Value(1.0), Value(1.0)})},
  };
  for (const auto& [type, value] : cases) {
    const Model file = with_key(grouped(), kKvHeads, value, type);
    EXPECT_EQ(file.config.num_key_value_heads, 1) << type;
    const auto entries = gguf().metadata->list(file);
    const auto entry = std::ranges::find(entries, kKvHeads, &MetadataEntry::key);
    ASSERT_NE(entry, entries.end()) << type;
    EXPECT_EQ(entry->type, type) << "it is written as it was";
    for (const char* const to : {"hf", "mcf"}) {
      const Model back = adapt(file, *find_format(to)).model;
      EXPECT_EQ(back.tensor(kKeyOfK)->values<float>(), expected) << type << " " << to;
      EXPECT_EQ(back.config.num_key_value_heads, 1) << type << " " << to;
    }
    for (const char* const through : {"zt", "npz"}) {
      const Format& format = *find_format(through);
      const Model there = open(memory_source(write_bytes(format, adapt(file, format).model), through));
      EXPECT_EQ(adapt(there, hf()).model.tensor(kKeyOfK)->values<float>(), expected) << type << " " << through;
    }
  }
}

TEST(GgufWayBack, KeysThatDoNotGiveOneNumberAreRefused) {
  const std::pair<const char*, Value> cases[] = {
      {"", Value(List{Value(1), Value(2)})},
      {"", Value(List())},
      {"", Value("1")},
      {"bool", Value(true)},
      {"i32", Value(-1)},
      {"f32", Value(0.5)},
      {"[u8]", Value(Bytes{std::byte{1}, std::byte{2}})},
  };
  for (const auto& [type, value] : cases) {
    const Model file = with_key(grouped(), kKvHeads, value, type);
    EXPECT_FALSE(file.config.num_key_value_heads) << type;
    for (const char* const to : {"hf", "mcf", "alt"}) {
      const auto error = error_of([&] { adapt(file, *find_format(to)); });
      ASSERT_TRUE(error) << type << " " << to << " " << to_json(value);
      EXPECT_EQ(error->rule(), "gguf.key.value") << type << " " << to << " " << to_json(value);
      EXPECT_EQ(error->item(), "key " + kKvHeads);
    }
    EXPECT_NO_THROW(static_cast<void>(adapt(file, *find_format("zt")))) << "it keeps names, keys and order";
    EXPECT_NO_THROW(static_cast<void>(adapt(file, gguf())));
  }
  // So are the others that decide shapes, and those that config.json needs as one number.
  for (const char* const key : {"llama.feed_forward_length", "llama.block_count", "llama.attention.head_count",
                                "llama.attention.key_length", "llama.embedding_length", "llama.rope.freq_base",
                                "llama.context_length", "llama.attention.layer_norm_rms_epsilon"}) {
    Model file = grouped();
    file.metadata.set(key, List{Value(1), Value(2)});
    EXPECT_EQ(rule_of([&] { adapt(file, hf()); }), "gguf.key.value") << key;
  }
  for (const char* const key : {"llama.rope.scaling.factor", "llama.rope.dimension_count", "llama.expert_count",
                                "llama.attention.value_length", "llama.rope.scaling.type", "llama.attention.causal"})
    EXPECT_EQ(rule_of([&] {
                adapt(with_key(grouped(), key, List{Value(1), Value(2)}), hf());
              }),
              "gguf.key.value")
        << key;
}

TEST(GgufWayBack, ANumberOfHeadsThatDoesNotFitTheRowsIsRefused) {
  Model file = grouped();
  file.config.num_key_value_heads = 2;  // divides the rows, but gives heads of another size than those of q
  for (const char* const to : {"hf", "mcf"})
    EXPECT_EQ(rule_of([&] { adapt(file, *find_format(to)); }), "convert.names") << to;
  file.config.num_key_value_heads.reset();  // llama.cpp assumes as many as for queries
  EXPECT_EQ(rule_of([&] { adapt(file, hf()); }), "convert.names");
  // In the other direction, for a model without config.json.
  Model model = grouped_hf();
  model.attachments.clear();
  EXPECT_EQ(rule_of([&] { adapt(model, gguf()); }), "");
  model.config.num_key_value_heads.reset();
  EXPECT_EQ(rule_of([&] { adapt(model, gguf()); }), "convert.config");
}

TEST(GgufWayBack, SizesThatAreMissingAreNotAssumed) {
  for (const auto field :
       {&Config::hidden_size, &Config::num_hidden_layers, &Config::intermediate_size, &Config::num_attention_heads}) {
    Model file = grouped();
    file.config.*field = std::nullopt;
    EXPECT_EQ(rule_of([&] { adapt(file, hf()); }), "convert.config");
  }
  EXPECT_EQ(rule_of([&] { adapt(with_key(grouped(), "llama.expert_count", Value(2)), hf()); }), "convert.config")
      << "how many of them a token uses";
}

// ---- keys that config.json cannot express, or in another form

TEST(GgufWayBack, KeysWithoutAPlaceInConfigAreWarnings) {
  const std::pair<const char*, Value> cases[] = {
      {"llama.attention.scale", Value(0.5)},
      {"llama.expert_weights_scale", Value(2.5)},
      {"llama.expert_gating_func", Value(2)},
      {"llama.logit_scale", Value(2.0)},
      {"llama.final_logit_softcapping", Value(30.0)},
      {"llama.rope.dimension_count", Value(2)},
      {"llama.attention.value_length", Value(2)},
      {"llama.attention.sliding_window", Value(8)},
      {"llama.use_parallel_residual", Value(true)},
      {"llama.attention.max_alibi_bias", Value(8.0)},
      {"llama.attention.clamp_kqv", Value(2.0)},
      {"llama.rope.scaling.type", Value("foo")},
      {"llama.rope.scaling.type", Value("longrope")},
      {"llama.rope.scaling.attn_factor", Value(1.5)},
      {"llama.rope.freq_base_swa", Value(5.0)},
      {"llama.rope.freq_scale", Value(0.5)},
      {"llama.pooling_type", Value(4)},
      {"llama.something.new", Value("of tomorrow")},
      {"llama.something.else", Value(List{Value(1), Value(2)})},
  };
  for (const auto& [key, value] : cases)
    for (const char* const to : {"hf", "mcf"})
      EXPECT_EQ(results_of(adapt(with_key(grouped(), key, value), *find_format(to)).changes), Words{key}) << to;
  // All in one line.
  Model file = with_key(with_key(grouped(), "llama.something.new", Value(1)), "llama.something.else", Value(2));
  const std::vector<Change> changes = adapt(file, hf()).changes;
  const auto line = std::ranges::find(changes, Impact::results, &Change::impact);
  ASSERT_NE(line, changes.end());
  EXPECT_EQ(line->items.size(), 2U);
}

TEST(GgufWayBack, KeysThatChangeNothingAreNotMentioned) {
  const std::pair<const char*, Value> cases[] = {
      {"llama.attention.causal", Value(true)},
      {"llama.attention.value_length", Value(4)},
      {"llama.attention.key_length", Value(4)},
      {"llama.rope.dimension_count", Value(4)},
      {"llama.rope.scaling.finetuned", Value(true)},
      {"llama.rope.scaling.type", Value("none")},
      {"llama.rope.scaling.type", Value("linear")},
      {"llama.rope.scaling.factor", Value(1.0)},
      {"llama.rope.scaling.attn_factor", Value(1.0)},
      {"llama.rope.scaling.original_context_length", Value(8)},
      {"llama.tensor_data_layout", Value("Meta AI original pth")},
      {"llama.expert_count", Value(0)},
      {"llama.expert_used_count", Value(0)},
      {"llama.final_logit_softcapping", Value(0.0)},
      {"llama.vocab_size", Value(3)},
      {"llama.pooling_type", Value(0)},
  };
  for (const auto& [key, value] : cases) {
    const Adapted back = adapt(with_key(grouped(), key, value), hf());
    EXPECT_EQ(results_of(back.changes), Words()) << key;
    EXPECT_EQ(said(json_of(back.model, "config.json"), "rope_scaling"), "") << key;
  }
}

TEST(GgufWayBack, KeysInAnotherFormAreCarried) {
  const auto config_with = [](std::initializer_list<std::pair<const char*, Value>> keys) {
    Model file = grouped();
    for (const auto& [key, value] : keys) file = with_key(file, key, value);
    const Adapted back = adapt(file, hf());
    EXPECT_EQ(results_of(back.changes), Words());
    return json_of(back.model, "config.json");
  };
  const std::string linear = R"({"factor":4.0,"rope_type":"linear"})";
  EXPECT_EQ(said(config_with({{"llama.rope.scale_linear", 4.0}}), "rope_scaling"), linear);
  EXPECT_EQ(said(config_with({{"llama.rope.scaling.factor", 4.0}}), "rope_scaling"), linear) << "llama.cpp's default";
  EXPECT_EQ(said(config_with({{"llama.rope.scaling.factor", 4.0}, {"llama.rope.scale_linear", 2.0}}), "rope_scaling"),
            linear);
  EXPECT_EQ(
      said(config_with({{"llama.rope.scaling.type", "none"}, {"llama.rope.scaling.factor", 4.0}}), "rope_scaling"), "");
  EXPECT_EQ(said(config_with({{"llama.attention.causal", false}}), "is_causal"), "false");
  // And in the other direction.
  const Model there = adapt(small("llama", R"({"is_causal":false})"), gguf()).model;
  ASSERT_NE(there.metadata.find("llama.attention.causal"), nullptr);
  EXPECT_EQ(*there.metadata.find("llama.attention.causal"), Value(false));
}

TEST(GgufWayBack, DivisorsNextToAnotherScalingAreSaid) {
  Model file = with_key(grouped(), "llama.rope.scaling.factor", Value(4.0));
  file.tensors.push_back(dense<float>("rope_freqs.weight", {2}, std::vector<float>{1, 1}));
  EXPECT_EQ(results_of(adapt(file, hf()).changes), Words());
  file.tensors.back() = dense<float>("rope_freqs.weight", {2}, std::vector<float>{1, 8});
  EXPECT_EQ(results_of(adapt(file, hf()).changes), Words{"rope_scaling"});
  EXPECT_EQ(results_of(run::Scorer(file).doubts()), Words{"rope_scaling"}) << "other programs use them";
}

TEST(GgufWayBack, ZeroMeansNotSet) {
  Model granite = by_llama_cpp(small("granite", "{}"));
  for (const char* const key : {"granite.logit_scale", "granite.residual_scale", "granite.embedding_scale"})
    granite.metadata.set(key, 0.0);
  const Map config = json_of(adapt(granite, hf()).model, "config.json");
  for (const char* const key : {"logits_scaling", "residual_multiplier", "embedding_multiplier"})
    EXPECT_EQ(said(config, key), "") << key << ": transformers would multiply or divide by it";
  Model gemma = by_llama_cpp(gemma3(3));
  gemma.metadata.set("gemma3.final_logit_softcapping", 0.0);
  EXPECT_EQ(said(json_of(adapt(gemma, hf()).model, "config.json"), "final_logit_softcapping"), "null");
  EXPECT_EQ(results_of(adapt(small("granite", R"({"residual_multiplier":0.0})"), gguf()).changes),
            Words{"residual_multiplier"});
}

TEST(GgufWayBack, LayersWithAWindowMayBeAList) {
  Model model = gemma3(3);
  Model file = by_llama_cpp(model);
  file.metadata.set("gemma3.attention.sliding_window_pattern", List{Value(false)});
  EXPECT_EQ(said(json_of(adapt(file, hf()).model, "config.json"), "layer_types"), R"(["full_attention"])");
  file.metadata.set("gemma3.attention.sliding_window_pattern", List{Value(true)});
  EXPECT_EQ(said(json_of(adapt(file, hf()).model, "config.json"), "layer_types"), R"(["sliding_attention"])");
  for (const Value& bad : {Value(List()), Value(List{Value("yes")}), Value("all")}) {
    file.metadata.set("gemma3.attention.sliding_window_pattern", bad);
    EXPECT_EQ(rule_of([&] { adapt(file, hf()); }), "gguf.key.value") << to_json(bad);
  }
}

TEST(GgufConventions, WeightsThatAreNotFloatsAreRefused) {
  Model model = small("llama", "{}");
  for (Tensor& tensor : model.tensors)
    if (tensor.name.ends_with("up_proj.weight"))
      tensor = dense<std::int32_t>(tensor.name, {6, 8}, std::vector<std::int32_t>(48, 1));
  EXPECT_EQ(rule_of([&] { adapt(model, gguf()); }), "gguf.weights");
  AdaptOptions keep;
  keep.keep_names = true;
  EXPECT_NO_THROW(static_cast<void>(adapt(model, gguf(), keep)));
}

TEST(GgufWayBack, TheLibraryOfTheWeightsIsNoKey) {
  Model model = small("llama", "{}");
  model.metadata.set("format", "pt");
  const Model there = adapt(model, gguf()).model;
  const auto has = [](const Model& one) {
    return std::ranges::any_of(gguf().metadata->list(one), [](const auto& entry) { return entry.key == "format"; });
  };
  EXPECT_FALSE(has(there));
  EXPECT_EQ(*written(there).metadata.find("format"), Value("pt")) << "it comes back";
  // A file that has the key keeps it.
  Model theirs = by_llama_cpp(model);
  Map keys;
  keys.append("format", "string");
  theirs.metadata.set("gguf.keys", keys);
  theirs.metadata.set("format", "own");
  EXPECT_TRUE(has(theirs));
}

TEST(GgufWayBack, OnePlantedNameDoesNotTurnRenamingOff) {
  Model model = small("llama", "{}");
  model.tensors.push_back(counted("blk.0.attn_q.weight", {8, 8}, 1));
  const auto error = error_of([&] { adapt(model, gguf()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rule(), "convert.names");
  EXPECT_NE(error->sentence().find("1 of 13 tensors"), std::string::npos) << error->sentence();
  EXPECT_NE(error->sentence().find("blk.0.attn_q.weight"), std::string::npos);
  AdaptOptions keep;
  keep.keep_names = true;
  EXPECT_NO_THROW(static_cast<void>(adapt(model, gguf(), keep)));
  // Meta's own files share a name with GGUF.
  Model meta = small("llama", "{}");
  meta.tensors = {counted("tok_embeddings.weight", {3, 8}, 1), counted("output.weight", {3, 8}, 1),
                  counted("norm.weight", {8}, 1)};
  EXPECT_NE(adapt(meta, gguf()).model.tensor("token_embd.weight"), nullptr);
}

}  // namespace
}  // namespace tare
