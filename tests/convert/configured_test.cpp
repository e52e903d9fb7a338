// A directory is checked against its own config.json before it is written.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "arch/expected.hpp"
#include "conformance/scratch.hpp"
#include "convert/directory_form.hpp"
#include "formats/gguf/small_models.hpp"
#include "resources/resources.hpp"

namespace tare {
namespace {

using namespace tare::testing;

constexpr std::string_view kSmallLlama =
    R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":3,"hidden_size":8,"intermediate_size":6,)"
    R"("num_hidden_layers":1,"num_attention_heads":2,"num_key_value_heads":2,"tie_word_embeddings":false)";

// A small Llama with these keys added to its config.json, or replaced.
Model llama_with(const std::string& more) { return small("llama", std::string(kSmallLlama) + more + "}"); }

// The sentence of the error; empty if there is none.
std::string complaint_of(const Model& model, const AdaptOptions& options = {}) {
  const auto error = error_of([&] { static_cast<void>(adapt(model, hf(), options)); });
  if (!error) return {};
  EXPECT_EQ(error->rule(), "convert.config");
  EXPECT_EQ(error->item(), "config.json");
  return error->sentence();
}

void expect_word(const Model& model, const std::string& word) {
  const std::string sentence = complaint_of(model);
  EXPECT_NE(sentence.find(word), std::string::npos) << "expected " << word << ", found " << sentence;
}

TEST(Configured, AWholeModelIsFine) {
  EXPECT_EQ(complaint_of(llama_with("")), "");
  EXPECT_EQ(complaint_of(small("llama", "{}")), "") << "a config.json that says nothing";
}

TEST(Configured, NumbersThatAreNotThoseOfTheTensors) {
  expect_word(llama_with(R"(,"num_hidden_layers":2)"), "model.layers.1.self_attn.q_proj.weight (8x8)");
  expect_word(llama_with(R"(,"vocab_size":4)"), "model.embed_tokens.weight: expected 4x8, found 3x8");
  expect_word(llama_with(R"(,"vocab_size":4)"), "lm_head.weight: expected 4x8, found 3x8");
  expect_word(llama_with(R"(,"num_key_value_heads":1)"), "k_proj.weight: expected 4x8, found 8x8");
  expect_word(llama_with(R"(,"num_attention_heads":4)"), "k_proj.weight: expected 4x8, found 8x8");
  expect_word(llama_with(R"(,"head_dim":8)"), "q_proj.weight: expected 16x8, found 8x8");
  expect_word(llama_with(R"(,"intermediate_size":7)"), "down_proj.weight: expected 8x7, found 8x6");
  expect_word(llama_with(R"(,"hidden_size":16)"), "model.norm.weight: expected 16, found 8");
  expect_word(llama_with(R"(,"attention_bias":true)"), "o_proj.bias (8)");
  expect_word(llama_with(R"(,"mlp_bias":true)"), "up_proj.bias (6)");
  expect_word(llama_with(R"(,"model_type":"qwen3")"), "q_norm.weight (128)");
  expect_word(llama_with(R"(,"model_type":"mixtral","num_local_experts":4)"), "experts.3.w1.weight (6x8)");
}

TEST(Configured, AHeadThatIsMissing) {
  Model model = llama_with("");
  std::erase_if(model.tensors, [](const Tensor& tensor) { return tensor.name == "lm_head.weight"; });
  expect_word(model, "lm_head.weight (3x8)");
  const auto with = [&](const std::string& more) {
    Model other = model;
    other.attachments = {text_file("config.json", std::string(kSmallLlama) + more + "}")};
    return complaint_of(other);
  };
  EXPECT_EQ(with(R"(,"tie_word_embeddings":true)"), "");
  EXPECT_EQ(with(R"(,"architectures":["LlamaModel"])"), "");
  EXPECT_EQ(with(R"(,"architectures":["LlamaForSequenceClassification"])"), "");
  EXPECT_NE(with(R"(,"tie_word_embeddings":null)"), "") << "Llama's head is a matrix of its own where nothing is said";
}

TEST(Configured, EachFamilyWithoutOneTensor) {
  // A model of each family with all expected tensors is refused when any one is removed.
  for (const arch::Family& family : arch::families()) {
    if (family.gguf.empty() || family.name == "gemma-embedding" || family.name == "nemotron_h-dense" ||
        family.name == "t5encoder")
      continue;
    const std::string type(family.model_types.front());
    const std::string config =
        R"({"model_type":")" + type +
        R"(","vocab_size":10,"hidden_size":8,"intermediate_size":6,"num_hidden_layers":2,"num_attention_heads":2,)"
        R"("num_key_value_heads":1,"head_dim":4,"num_experts":2,"num_local_experts":2,"n_routed_experts":2,)"
        R"("moe_num_experts":2,"moe_intermediate_size":3,"first_k_dense_replace":0,"moe_layer_start_index":0,)"
        R"("shared_expert_intermediate_size":5,"shared_intermediate_size":5,"moe_shared_expert_intermediate_size":5,"num_dense_layers":0,"block_auto_adjust_ff_dim":false,)"
        R"("layers_block_type":["attention","moe"],"full_attention_interval":1,"mlp_layer_types":["sparse","sparse"],)"
        R"("multi_query":false,"tie_word_embeddings":false})";
    Model model;
    model.attachments = {text_file("config.json", config)};
    model.config.model_type = type;
    arch::Sizes sizes;
    sizes.vocabulary = 10, sizes.hidden = 8, sizes.intermediate = 6, sizes.layers = 2, sizes.heads = 2;
    sizes.kv_heads = 1, sizes.head = 4, sizes.experts = 2, sizes.expert_rows = 3, sizes.shared_rows = 5;
    if (family.runtime.mixes_layers) sizes.kinds = {arch::LayerKind::attention, arch::LayerKind::experts};
    if (family.runtime.usually_no_attention) sizes.without_attention = {0, 1};
    set_defaults(type, sizes);
    add_expected(model, family, sizes);
    EXPECT_GE(model.tensors.size(), 12U) << type;
    EXPECT_EQ(complaint_of(model), "") << type;
    for (std::size_t i = 0; i < model.tensors.size(); ++i) {
      Model less = model;
      less.tensors.erase(less.tensors.begin() + static_cast<std::ptrdiff_t>(i));
      expect_word(less, model.tensors[i].name + " (");
    }
  }
}

// A mixture of Qwen with these layers (true: experts), and with more keys in its config.json.
Model qwen_with(const char* type, const std::vector<bool>& layers, const std::string& more) {
  const arch::Family& family = *arch::find_family(type);
  Model model;
  model.attachments = {text_file(
      "config.json", fmt::format(R"({{"model_type":"{}","vocab_size":10,"hidden_size":8,"intermediate_size":6,)"
                                 R"("num_hidden_layers":{},"num_attention_heads":2,"num_key_value_heads":1,)"
                                 R"("num_experts":2,"moe_intermediate_size":3,"shared_expert_intermediate_size":5{}}})",
                                 type, layers.size(), more))};
  Diagnostics silent;
  resources::describe(model, silent);
  arch::Sizes sizes;
  sizes.vocabulary = 10, sizes.hidden = 8, sizes.intermediate = 6, sizes.layers = layers.size(), sizes.heads = 2;
  sizes.kv_heads = 1, sizes.head = 4, sizes.experts = 2, sizes.expert_rows = 3, sizes.shared_rows = 5;
  sizes.mixture = true;
  if (family.name.starts_with("qwen2")) sizes.biased = {arch::Role::q, arch::Role::k, arch::Role::v};
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (!layers[i]) sizes.plain_layers.insert(i);
  add_expected(model, family, sizes);
  return model;
}

// Which layers of a mixture have experts is a matter of config.json, layer by layer. Without head_dim, a head has the
// hidden size divided by the number of heads.
TEST(Configured, LayersOfAMixture) {
  struct Row {
    const char* keys;
    std::vector<bool> layers;
  };
  for (const char* const type : {"qwen2_moe", "qwen3_moe"})
    for (const auto& [keys, layers] :
         {Row{"", {true, true, true, true}}, Row{R"(,"mlp_only_layers":[0,2])", {false, true, false, true}},
          Row{R"(,"decoder_sparse_step":2)", {false, true, false, true}},
          Row{R"(,"decoder_sparse_step":2,"mlp_only_layers":[3])", {false, true, false, false}},
          Row{R"(,"num_experts":0)", {false, false, false, false}}, Row{R"(,"mlp_only_layers":null)", {true, true}}}) {
      SCOPED_TRACE(std::string(type) + keys);
      const Model model = qwen_with(type, layers, keys);
      EXPECT_EQ(complaint_of(model), "");
      EXPECT_TRUE(std::ranges::none_of(adapt(model, hf()).changes, [](const Change& change) {
        return change.impact == Impact::results;
      })) << "no tensor is ignored";
      for (std::size_t i = 0; i < model.tensors.size(); ++i) {
        Model less = model;
        less.tensors.erase(less.tensors.begin() + static_cast<std::ptrdiff_t>(i));
        expect_word(less, model.tensors[i].name + " (");
      }
      // Layers that are the other kind.
      std::vector<bool> others = layers;
      others.front() = !others.front();
      expect_word(qwen_with(type, others, keys), "model.layers.0.mlp.");
      const bool mixed = std::ranges::find(layers, false) != layers.end();
      // llama.cpp needs experts in each layer.
      if (mixed) {
        EXPECT_EQ(rule_of([&] { static_cast<void>(adapt(model, gguf())); }), "convert.names");
      }
    }
  // Weights of a layer that has experts are not read.
  Model more = qwen_with("qwen3_moe", {true}, "");
  more.tensors.push_back(counted("model.layers.0.mlp.up_proj.weight", {6, 8}, 1));
  const auto changes = adapt(more, hf()).changes;
  EXPECT_TRUE(std::ranges::any_of(changes, [](const Change& change) {
    return change.impact == Impact::results && to_text(change).find("up_proj") != std::string::npos;
  }));
}

// A head_dim that is null is computed by the classes that have another default.
TEST(Configured, HeadsOfUnstatedSize) {
  const std::string null = R"({"model_type":"ministral3","architectures":["Ministral3ForCausalLM"],"vocab_size":3,)"
                           R"("hidden_size":8,"intermediate_size":6,"num_hidden_layers":1,"num_attention_heads":2,)"
                           R"("num_key_value_heads":2,"head_dim":null,"tie_word_embeddings":false,"rope_parameters":)"
                           R"({"rope_type":"default","rope_theta":5.0},"max_position_embeddings":16})";
  Model model = llama_with("");
  model.config = {};
  model.config.model_type = "ministral3";
  model.attachments = {text_file("config.json", null)};
  EXPECT_EQ(complaint_of(model), "");
  std::string text = null;
  text.replace(text.find("null"), 4, "128");
  model.attachments = {text_file("config.json", text)};
  expect_word(model, "q_proj.weight: expected 256x8, found 8x8");
}

// A model without one of its tensors is refused for every target that programs run: they would refuse it as well, or
// compute something else.
TEST(Configured, NoContainerTakesAModelThatLacksATensor) {
  for (const char* const to : {"gguf", "mcf", "hf"}) {
    const Format& target = *find_format(to);
    const Model whole = llama_with(R"(,"max_position_embeddings":16)");
    EXPECT_EQ(rule_of([&] { static_cast<void>(adapt(whole, target)); }), "") << to;
    for (std::size_t i = 0; i < whole.tensors.size(); ++i) {
      Model less = whole;
      less.tensors.erase(less.tensors.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_EQ(rule_of([&] { static_cast<void>(adapt(less, target)); }), "convert.config")
          << to << " without " << whole.tensors[i].name;
      AdaptOptions part;
      part.skip = {whole.tensors[i].name};
      EXPECT_NE(rule_of([&] { static_cast<void>(adapt(whole, target, part)); }), "convert.config") << to;
    }
    EXPECT_EQ(rule_of([&] { static_cast<void>(adapt(llama_with(R"(,"attention_bias":true)"), target)); }),
              "convert.config")
        << to << ": biases that config.json asks for";
  }
}

// The same for a model that follows another container's conventions and has no config.json.
TEST(Configured, NoContainerTakesAModelInAnotherFormThatLacksATensor) {
  Model plain = llama_with(R"(,"max_position_embeddings":16)");
  plain.config.vocab_size = 3;
  Model whole = adapt(plain, gguf()).model;
  whole.attachments.clear();
  for (Tensor& tensor : whole.tensors) tensor.attributes = {};
  whole = open(memory_source(write_bytes(gguf(), whole), "m.gguf"));
  AdaptOptions bare;
  bare.drop = {ModelPart::metadata};
  for (const char* const to : {"mcf", "hf", "alt"}) {
    const Format& target = *find_format(to);
    const AdaptOptions& options = std::string_view(to) == "alt" ? bare : AdaptOptions();
    EXPECT_EQ(rule_of([&] { static_cast<void>(adapt(whole, target, options)); }), "") << to;
    for (std::size_t i = 0; i < whole.tensors.size(); ++i) {
      if (whole.tensors[i].name == "output.weight") continue;  // the token table takes its place
      Model less = whole;
      less.tensors.erase(less.tensors.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_EQ(rule_of([&] { static_cast<void>(adapt(less, target, options)); }), "convert.config")
          << to << " without " << whole.tensors[i].name;
    }
  }
  // Through a container that keeps names.
  const Format& zt = *find_format("zt");
  Model less = whole;
  std::erase_if(less.tensors, [](const Tensor& tensor) { return tensor.name == "blk.0.ffn_up.weight"; });
  const Model stored = open(memory_source(write_bytes(zt, adapt(less, zt).model), "m.zt"));
  EXPECT_EQ(rule_of([&] { static_cast<void>(adapt(stored, gguf())); }), "convert.config");
}

// And for one without config.json, whose fields state the sizes.
TEST(Configured, FieldsAloneStateWhatAModelHas) {
  Model whole = llama_with("");
  whole.attachments.clear();
  for (const char* const to : {"gguf", "mcf", "hf"}) {
    const Format& target = *find_format(to);
    EXPECT_EQ(rule_of([&] { static_cast<void>(adapt(whole, target)); }), "") << to;
    for (std::size_t i = 0; i < whole.tensors.size(); ++i) {
      Model less = whole;
      less.tensors.erase(less.tensors.begin() + static_cast<std::ptrdiff_t>(i));
      // Without a head, the token table is the head.
      EXPECT_EQ(rule_of([&] { static_cast<void>(adapt(less, target)); }),
                whole.tensors[i].name == "lm_head.weight" ? "" : "convert.config")
          << to << " without " << whole.tensors[i].name;
    }
  }
  Model biases = whole;
  biases.tensors.push_back(counted("model.layers.0.self_attn.q_proj.bias", {8}, 1));
  EXPECT_EQ(rule_of([&] { static_cast<void>(adapt(biases, gguf())); }), "") << "no field states that there are none";
}

// ---- tensors that config.json does not ask for

// The sentence of the warning; empty if there is none.
std::string surplus_in(const Model& model, const char* to = "hf") {
  for (const Change& change : adapt(model, *find_format(to)).changes)
    if (change.impact == Impact::results && change.part == "config.json" && !change.remedies.empty())
      return change.detail;
  return {};
}
Model with_tensor(Model model, const std::string& name, const Shape& shape) {
  model.tensors.push_back(counted(name, shape, 1));
  return model;
}

TEST(Configured, TensorsThatNobodyReadsAreAWarning) {
  const std::string more = R"(,"max_position_embeddings":16)";
  for (const char* const to : {"hf", "mcf"}) {
    EXPECT_EQ(surplus_in(llama_with(more), to), "");
    for (const auto& [name, shape] : {std::pair<std::string, Shape>("model.layers.1.input_layernorm.weight", {8}),
                                      {"model.layers.0.self_attn.q_proj.bias", {8}},
                                      {"model.layers.0.mlp.up_proj.bias", {6}},
                                      {"lm_head.bias", {3}},
                                      {"model.layers.0.block_sparse_moe.gate.weight", {2, 8}},
                                      {"foo.weight", {8}}})
      EXPECT_EQ(surplus_in(with_tensor(llama_with(more), name, shape), to),
                "it does not ask for 1 of the tensors, so programs ignore them: " + name)
          << to;
    EXPECT_EQ(surplus_in(with_tensor(llama_with(more), "model.layers.0.self_attn.rotary_emb.inv_freq", {2}), to), "");
    EXPECT_EQ(surplus_in(llama_with(more + R"(,"tie_word_embeddings":true)"), to), "") << "a head next to the table";
  }
  Model many = llama_with(more);
  for (int i = 0; i < 9; ++i) many = with_tensor(many, "foo." + std::to_string(i), {2});
  EXPECT_EQ(surplus_in(many),
            "it does not ask for 9 of the tensors, so programs ignore them: foo.0, foo.1, foo.2, "
            "foo.3 and 5 more");
}

TEST(Configured, TensorsOfOtherPartsAreNoSurplus) {
  EXPECT_EQ(surplus_in(with_tensor(llama_with(R"(,"architectures":["LlamaForSequenceClassification"])"), "score.weight",
                                   {2, 8})),
            "");
  EXPECT_EQ(surplus_in(with_tensor(llama_with(R"(,"quantization_config":{"quant_method":"unheard_of"})"),
                                   "model.layers.0.self_attn.q_proj.scales", {2})),
            "");
  Model seeing =
      small("mistral3",
            R"({"model_type":"mistral3","text_config":{"model_type":"ministral3",)"
            R"("num_hidden_layers":1,"hidden_size":8,"head_dim":4,"num_attention_heads":2,"num_key_value_heads":2}})");
  for (Tensor& tensor : seeing.tensors) tensor.name = "language_model." + tensor.name;
  EXPECT_EQ(surplus_in(with_tensor(seeing, "vision_tower.patch_conv.weight", {2})), "");
}

// transformers fills a part that config.json describes with random numbers if there are no tensors of it.
TEST(Configured, PartsWithoutTensorsAreToldOf) {
  const auto told = [](const Model& model) {
    const Adapted done = adapt(model, hf());
    return std::ranges::any_of(done.changes, [](const Change& change) {
      return change.impact == Impact::results &&
             to_text(change).find("there are no tensors of what vision_config describes") != std::string::npos;
    });
  };
  Model seeing =
      small("mistral3",
            R"({"model_type":"mistral3","vision_config":{"hidden_size":8},"text_config":{"model_type":"ministral3",)"
            R"("num_hidden_layers":1,"hidden_size":8,"head_dim":4,"num_attention_heads":2,"num_key_value_heads":2}})");
  for (Tensor& tensor : seeing.tensors) tensor.name = "language_model." + tensor.name;
  EXPECT_TRUE(told(seeing));
  EXPECT_FALSE(told(with_tensor(seeing, "vision_tower.patch_conv.weight", {2})));
  EXPECT_FALSE(told(llama_with(R"(,"vision_config":{"hidden_size":8})"))) << "Llama's class ignores the key";
}

// llama.cpp refuses a file with tensors that it does not know, and adds biases that transformers ignores.
TEST(Configured, TensorsThatOtherProgramsWouldUseAreRefused) {
  const std::string more = R"(,"max_position_embeddings":16)";
  for (const auto& [name, shape] : {std::pair<std::string, Shape>("model.layers.1.input_layernorm.weight", {8}),
                                    {"model.layers.0.self_attn.q_proj.bias", {8}}}) {
    const Model model = with_tensor(llama_with(more), name, shape);
    const auto error = error_of([&] { static_cast<void>(adapt(model, gguf())); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->rule(), "convert.surplus");
    EXPECT_EQ(error->remedies().front().argument, name);
    AdaptOptions part;
    part.skip = {name};
    EXPECT_NO_THROW(static_cast<void>(adapt(model, gguf(), part)));
  }
  Model biases = llama_with(more);
  for (const char* const name : {"q", "k", "v", "o"})
    biases = with_tensor(biases, "model.layers.0.self_attn." + std::string(name) + "_proj.bias", {8});
  const auto error = error_of([&] { static_cast<void>(adapt(biases, gguf())); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->remedies().front().argument, "*.bias");
  Model asked = biases;
  asked.attachments = {text_file("config.json", std::string(kSmallLlama) + more + R"(,"attention_bias":true})")};
  EXPECT_EQ(rule_of([&] { static_cast<void>(adapt(asked, gguf())); }), "");
}

TEST(Configured, WhatIsNotLookedAt) {
  EXPECT_EQ(complaint_of(llama_with(R"(,"model_type":"unheard_of","num_hidden_layers":9)")), "");
  Model adapter = llama_with(R"(,"num_hidden_layers":9)");
  adapter.attachments.push_back(text_file("adapter_config.json", "{}"));
  EXPECT_EQ(complaint_of(adapter), "");
  AdaptOptions keep;
  keep.keep_names = true;
  EXPECT_EQ(complaint_of(llama_with(R"(,"num_hidden_layers":9)"), keep), "");
  AdaptOptions part;
  part.match = {"model.norm.weight"};
  EXPECT_EQ(complaint_of(llama_with(""), part), "");
}

TEST(Configured, TensorsOfSomethingElseAreARemark) {
  Model model = llama_with("");
  model.tensors = {counted("w", {2, 2}, 1), counted("norm.weight", {2}, 1)};
  const std::vector<Change> changes = adapt(model, hf()).changes;
  EXPECT_TRUE(std::ranges::any_of(
      changes, [](const Change& change) { return change.impact == Impact::results && change.part == "config.json"; }));
}

TEST(Configured, WeightsThatAnotherProgramPacked) {
  const std::string packed = R"(,"quantization_config":{"quant_method":"unheard_of"})";
  Model model = llama_with(packed);
  for (Tensor& tensor : model.tensors)
    if (tensor.name == "model.layers.0.self_attn.q_proj.weight") tensor.name = "model.layers.0.self_attn.q_proj.codes";
  EXPECT_EQ(complaint_of(model), "");
  std::erase_if(model.tensors, [](const Tensor& tensor) { return tensor.name.ends_with(".codes"); });
  expect_word(model, "q_proj.weight");
}

TEST(Configured, HostileNumbersCostNothing) {
  expect_word(llama_with(R"(,"num_hidden_layers":9000000000000000000)"), "model.layers.1.");
  expect_word(llama_with(R"(,"hidden_size":9000000000000000000,"num_attention_heads":9000000000000000000)"), "found");
  expect_word(llama_with(R"(,"model_type":"mixtral","num_local_experts":9000000000000000000)"), "experts.7");
}

TEST(Configured, PartsOfModelsThatAlsoSee) {
  Model model = small("gemma3", R"({"model_type":"gemma3","architectures":["Gemma3ForConditionalGeneration"],)"
                                R"("text_config":{"model_type":"gemma3_text","hidden_size":8,"num_hidden_layers":1}})");
  for (Tensor& tensor : model.tensors) tensor.name = "language_model." + tensor.name;
  expect_word(model, "language_model.model.layers.0.pre_feedforward_layernorm.weight (8)");
}

TEST(Configured, NothingIsWritten) {
  const Scratch scratch;
  EXPECT_EQ(rule_of([&] { static_cast<void>(save(llama_with(R"(,"vocab_size":4)"), scratch / "d/")); }),
            "convert.config");
  EXPECT_FALSE(std::filesystem::exists(scratch / "d"));
}

TEST(Configured, FilesOfAPartAreThereAllTheSame) {
  std::vector<Change> lines;
  EXPECT_EQ(directory_files(llama_with(R"(,"num_hidden_layers":9)"), lines).size(), 1U);
}

TEST(Configured, FilesOfADirectoryAreThoseThatConvertMakes) {
  Model model = llama_with("");
  model.attachments.clear();
  model.config.vocab_size = 3;
  const Scratch scratch;
  const Model there = open(memory_source(write_bytes(gguf(), adapt(model, gguf()).model), "m.gguf"));
  static_cast<void>(save(there, scratch / "d/"));
  const Bytes expected = get_file(scratch / "d/config.json");
  for (const char* const container : {"gguf", "zt", "zt2", "npz", "mcf"}) {
    const Format& format = *find_format(container);
    const Model other = open(memory_source(write_bytes(format, adapt(there, format).model), container));
    bool found = false;
    std::vector<Change> lines;
    for (const Attachment& file : directory_files(other, lines))
      if (file.name == "config.json") {
        found = true;
        EXPECT_EQ(to_text(file.blob.bytes()), to_text(expected)) << container;
      }
    EXPECT_TRUE(found) << container;
  }
}

}  // namespace
}  // namespace tare
