// Encoders, and what their files have that llama.cpp does not load; states, whose vectors have other shapes in GGUF.
#include <algorithm>

#include "conformance/scratch.hpp"
#include "convert/adapt.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "formats/gguf/small_models.hpp"
#include "resources/resources.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using tare::testing::gguf;

constexpr std::string_view kSizes =
    R"("vocab_size":10,"hidden_size":8,"intermediate_size":6,"num_hidden_layers":2,"num_attention_heads":2)";

// A model of the type with all tensors that its family expects, and these in addition.
Model encoder(const std::string& type, const std::string& more, std::vector<Tensor> further = {}) {
  const arch::Family& family = *arch::find_family(type);
  Model model;
  const std::string config = R"({"model_type":")" + type + "\"," + std::string(kSizes) + more + "}";
  model.attachments = {text_file("config.json", config)};
  model.config = resources::parse_config(config);
  arch::Sizes sizes;
  sizes.vocabulary = 10, sizes.hidden = 8, sizes.intermediate = 6, sizes.layers = 2, sizes.heads = 2;
  sizes.kv_heads = 2, sizes.head = 4;
  set_defaults(type, sizes);
  add_expected(model, family, sizes);
  if (family.root == arch::Root::bare)
    for (Tensor& tensor : model.tensors) tensor.name.erase(0, std::string_view("model.").size());
  for (Tensor& tensor : further) model.tensors.push_back(std::move(tensor));
  return model;
}

Model file_of(const Model& model) {
  return open(memory_source(write_bytes(gguf(), adapt(model, gguf()).model), "m.gguf"));
}

std::string spelled(const Model& model) {
  std::vector<std::string> lines;
  for (const Tensor& tensor : model.tensors) {
    const Component& data = tensor.components.front();
    const Bytes bytes = data.blob.bytes(1 << 20);
    std::string line = tensor.name + " " + tensor.shape.text() + " " + std::string(name_of(data.dtype));
    for (const std::byte byte : bytes) line += " " + std::to_string(std::to_integer<int>(byte));
    lines.push_back(std::move(line));
  }
  std::ranges::sort(lines);
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

TEST(GgufEncoders, WhatLlamaCppDoesNotLoadComesBack) {
  Model model = encoder("bert", "",
                        {counted("pooler.dense.weight", {8, 8}, 3), counted("pooler.dense.bias", {8}, 3),
                         dense("embeddings.position_ids", {1, 8}, DType::i64, Blob::memory(Bytes(64)))});
  const Model file = file_of(model);
  for (const char* const name : {"pooler.dense.weight", "embeddings.position_ids"})
    EXPECT_NE(file.attachment(std::string("gguf.aside/") + name), nullptr) << name;
  EXPECT_EQ(file.tensor("pooler.dense.weight"), nullptr);
  EXPECT_EQ(spelled(adapt(file, hf()).model), spelled(model));
}

TEST(GgufEncoders, EarlyNamesOfNormsComeBack) {
  Model model = encoder("bert", "");
  for (Tensor& tensor : model.tensors)
    for (const auto& [usual, early] :
         {std::pair("LayerNorm.weight", "LayerNorm.gamma"), {"LayerNorm.bias", "LayerNorm.beta"}})
      if (const std::string_view end = usual; tensor.name.ends_with(end))
        tensor.name.replace(tensor.name.size() - end.size(), end.size(), early);
  const Model file = file_of(model);
  EXPECT_NE(file.tensor("blk.0.attn_output_norm.bias"), nullptr);
  EXPECT_EQ(spelled(adapt(file, hf()).model), spelled(model));
}

TEST(GgufEncoders, HeadsAndTheirRootComeBack) {
  Model model = encoder("bert", "");
  for (Tensor& tensor : model.tensors) tensor.name = "bert." + tensor.name;
  model.tensors.insert(model.tensors.begin(), counted("cls.predictions.bias", {10}, 1));
  EXPECT_EQ(spelled(adapt(file_of(model), hf()).model), spelled(model));
}

TEST(GgufEncoders, RowsForPaddingAreCutAndComeBack) {
  const Model model = encoder("xlm-roberta", R"(,"pad_token_id":2,"max_position_embeddings":8)");
  const Model file = file_of(model);
  ASSERT_NE(file.tensor("position_embd.weight"), nullptr);
  EXPECT_EQ(file.tensor("position_embd.weight")->shape, (Shape{5, 8}));
  EXPECT_EQ(file.config.max_position_embeddings, 5);
  EXPECT_EQ(spelled(adapt(file, hf()).model), spelled(model));
  // Files of other programs do not have the rows, which no text uses.
  Model other = file;
  for (Tensor& tensor : other.tensors) tensor.attributes = {};
  const Model back = adapt(other, hf()).model;
  EXPECT_EQ(back.tensor("embeddings.position_embeddings.weight")->shape, (Shape{8, 8}));
}

TEST(GgufEncoders, PaddingThatCannotBeIsRefused) {
  for (const char* const padding : {"-3", "1.5", "4294967296", "8", "99"})
    EXPECT_NE(rule_of([&] {
                adapt(encoder("roberta", std::string(R"(,"max_position_embeddings":8,"pad_token_id":)") + padding),
                      gguf());
              }),
              "")
        << padding;
}

TEST(GgufEncoders, NamesOfGgufInADirectoryAreRefused) {
  for (const char* const type : {"bert", "modernbert", "mamba2"}) {
    Model model = encoder(type, "");
    model.tensors.push_back(counted("blk.0.attn_q.weight", {8, 8}, 1));
    EXPECT_EQ(rule_of([&] { adapt(model, gguf()); }), "convert.names") << type;
  }
}

TEST(GgufEncoders, KindsOfLayersThatAreNotListedAreRefused) {
  const auto rule = [](const std::string& more) {
    return rule_of([&] { adapt(encoder("nemotron_h", more), gguf()); });
  };
  EXPECT_EQ(rule(""), "convert.config");
  EXPECT_EQ(rule(R"(,"layers_block_type":["mamba","moe","moe"])"), "convert.config") << "one too many";
  EXPECT_EQ(rule(R"(,"layers_block_type":["mamba","convolution"])"), "convert.config");
  EXPECT_EQ(rule(R"(,"layers_block_type":["mlp","moe"])"), "convert.config") << "llama.cpp knows one or the other";
  EXPECT_EQ(rule(R"(,"hybrid_override_pattern":"M?")"), "convert.config");
  EXPECT_EQ(rule(R"(,"hybrid_override_pattern":7)"), "convert.config");
}

TEST(GgufEncoders, ListsOfWhatIsAsideThatDoNotFitAreReported) {
  const Model file = file_of(encoder("bert", "", {counted("pooler.dense.bias", {8}, 3)}));
  const auto reported = [&](Value list) {
    Model model = file;
    model.metadata.set("gguf.aside", std::move(list));
    const Adapted back = adapt(model, hf());
    EXPECT_EQ(back.model.tensor("pooler.dense.bias"), nullptr);
    EXPECT_EQ(back.model.attachment("gguf.aside/pooler.dense.bias"), nullptr);
    return std::ranges::any_of(back.changes, [](const Change& change) { return change.impact == Impact::lost; });
  };
  const auto entry = [](const char* name, const char* type, std::int64_t size) {
    Map one;
    one.append("name", name);
    one.append("type", type);
    one.append("shape", List{Value(size)});
    return Value(List{Value(std::move(one))});
  };
  EXPECT_TRUE(reported(entry("pooler.dense.bias", "bf16", 9)));
  EXPECT_TRUE(reported(entry("pooler.dense.bias", "f8", 8)));
  EXPECT_TRUE(reported(entry("pooler.dense.weight", "bf16", 8)));
  EXPECT_TRUE(reported(entry("pooler.dense.bias", "f64", std::int64_t{1} << 62)));
  EXPECT_TRUE(reported(Value(List{Value("pooler.dense.bias")})));
}

TEST(GgufEncoders, NumbersOfLayersAreKeys) {
  std::vector<Tensor> further;
  for (int layer = 0; layer < 2; ++layer)
    for (const auto& [name, shape] : {std::pair("beta", Shape{}), {"eps", Shape{}}})
      further.push_back(counted("model.layers." + std::to_string(layer) + ".mlp.act_fn." + name, shape,
                                static_cast<float>(layer) + 2));
  const Model model = encoder("apertus", "", further);
  const Model file = file_of(model);
  EXPECT_EQ(to_json(*file.metadata.find("xielu.beta")), "[2.0,3.0]");
  EXPECT_EQ(spelled(adapt(file, hf()).model), spelled(model));
  Model less = model;
  less.tensors.pop_back();
  EXPECT_EQ(rule_of([&] { adapt(less, gguf()); }), "convert.names");
  Model without = file;
  without.metadata.set("xielu.eps", "0.1");
  EXPECT_EQ(rule_of([&] { adapt(without, hf()); }), "convert.names");
}

TEST(GgufEncoders, VectorsOfStatesGetAnotherShape) {
  using namespace gguf::llama_cpp;
  const Tensor vector = dense<float>("norm", {6}, std::vector<float>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(reshaped(vector, 2).shape, (Shape{2, 3}));
  EXPECT_EQ(reshaped(vector, 0).shape, (Shape{6, 1}));
  EXPECT_EQ(flattened(reshaped(vector, 3)).values<float>(), vector.values<float>());
  EXPECT_EQ(rule_of([&] { reshaped(vector, 4); }), "convert.names");
  EXPECT_EQ(rule_of([&] { reshaped(reshaped(vector, 2), 2); }), "convert.names");
}

TEST(GgufEncoders, StatesComeBack) {
  for (
      const auto& [type, more] :
      {std::pair("mamba2", R"(,"n_groups":2,"num_heads":8,"head_dim":2,"expand":2)"),
       {"granitemoehybrid",
        R"(,"num_local_experts":0,"shared_intermediate_size":6,"mamba_n_groups":4,"layer_types":["mamba","mamba"])"}}) {
    Model model = encoder(type, more);
    if (std::string_view(type) == "granitemoehybrid") {
      model.tensors.clear();
      arch::Sizes sizes;
      sizes.vocabulary = 10, sizes.hidden = 8, sizes.intermediate = 6, sizes.layers = 2, sizes.heads = 2;
      sizes.kv_heads = 2, sizes.head = 4, sizes.without_attention = {0, 1};
      sizes.biased = {arch::Role::state_convolution};
      add_expected(model, *arch::find_family(type), sizes);
    }
    const Model file = file_of(model);
    EXPECT_NE(file.tensor("blk.1.ssm_a"), nullptr) << type;
    EXPECT_EQ(spelled(adapt(file, hf()).model), spelled(model)) << type;
  }
}

}  // namespace
}  // namespace tare
