// Models that a conversion once changed silently: facts that llama.cpp's files and Hugging Face's directories keep in
// different places, in both directions.
#include <cmath>

#include "conformance/scratch.hpp"
#include "formats/gguf/conventions.hpp"
#include "formats/gguf/small_models.hpp"
#include "resources/json_file.hpp"
#include "tare/inspect.hpp"
#include "tare/metadata.hpp"

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

TEST(GgufWayBack, NamesOfAPartComeBackUnderIt) {
  Model model = small("mistral3", R"({"model_type":"mistral3","text_config":{"model_type":"ministral3"}})");
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
  EXPECT_EQ(results_of(there.changes), Words());
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
