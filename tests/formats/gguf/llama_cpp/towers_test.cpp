// Multimodal models: a text model and a tower. tests/formats/gguf/families has them all.
#include "arch/towers.hpp"

#include <gtest/gtest.h>

#include <set>

#include "convert/adapt.hpp"
#include "formats/gguf/small_models.hpp"
#include "formats/towers.hpp"

namespace tare::testing {
namespace {

constexpr std::string_view kConfig =
    R"({"architectures": ["Qwen2_5_VLForConditionalGeneration"], "model_type": "qwen2_5_vl",
  "text_config": {"model_type": "qwen2_5_vl_text", "vocab_size": 3, "hidden_size": 8, "num_attention_heads": 2,
    "num_key_value_heads": 2, "num_hidden_layers": 1, "intermediate_size": 6, "max_position_embeddings": 16},
  "vision_config": {"depth": 1, "hidden_size": 4, "num_heads": 2, "intermediate_size": 5, "patch_size": 2,
    "fullatt_block_indexes": [0]}})";
constexpr std::string_view kPreprocessor = R"({"image_mean": [0.5, 0.25, 0.125], "image_std": [1, 1, 1]})";

Model multimodal(const std::string& config = std::string(kConfig)) {
  Model model = small("qwen2_5_vl", config);
  model.attachments.push_back(text_file("preprocessor_config.json", std::string(kPreprocessor)));
  for (const char* const name : {"q", "k", "v"})
    model.tensors.push_back(counted(fmt::format("model.layers.0.self_attn.{}_proj.bias", name), {8}, 1));
  const std::string block = "visual.blocks.0.";
  for (const auto& [name, shape] :
       std::initializer_list<std::pair<std::string, Shape>>{{"visual.patch_embed.proj.weight", {4, 3, 2, 2, 2}},
                                                            {block + "norm1.weight", {4}},
                                                            {block + "norm2.weight", {4}},
                                                            {block + "attn.qkv.weight", {12, 4}},
                                                            {block + "attn.qkv.bias", {12}},
                                                            {block + "attn.proj.weight", {4, 4}},
                                                            {block + "attn.proj.bias", {4}},
                                                            {block + "mlp.gate_proj.weight", {5, 4}},
                                                            {block + "mlp.up_proj.weight", {5, 4}},
                                                            {block + "mlp.down_proj.weight", {4, 5}},
                                                            {"visual.merger.ln_q.weight", {4}},
                                                            {"visual.merger.mlp.0.weight", {16, 16}},
                                                            {"visual.merger.mlp.2.weight", {8, 16}}})
    model.tensors.push_back(counted(name, shape, 2));
  return model;
}

const TowerConventions& conventions() { return *tower_conventions(gguf()); }

std::string rule_of_tower(const Model& model) {
  std::vector<Change> changes;
  try {
    static_cast<void>(conventions().adopt(model, changes));
  } catch (const Error& error) {
    return std::string(error.rule());
  }
  return {};
}

Model replaced(std::string_view from, std::string_view to) {
  std::string config(kConfig);
  const std::size_t at = config.find(from);
  EXPECT_NE(at, config.npos) << from;
  return multimodal(config.replace(at, from.size(), to));
}

TEST(GgufTowers, TextModelAndTowerAreTheModelAgain) {
  const Model model = multimodal();
  Adapted text = adapt(model, gguf());
  for (const Tensor& tensor : text.model.tensors)
    EXPECT_EQ(tensor.name.find("visual"), tensor.name.npos) << tensor.name;
  const auto line = std::ranges::find(text.changes, kTowerPart, &Change::part);
  ASSERT_NE(line, text.changes.end());
  EXPECT_EQ(line->items.size(), 13U);
  EXPECT_TRUE(line->lossy);

  std::vector<Change> changes;
  const Model tower = adapt(conventions().adopt(model, changes), gguf()).model;
  ASSERT_NE(tower.tensor("v.patch_embd.weight.1"), nullptr);
  ASSERT_NE(tower.tensor("v.blk.0.attn_k.bias"), nullptr);
  EXPECT_EQ(tower.tensor("v.blk.0.attn_k.bias")->values<float>(), (std::vector<float>{6, 7, 8, 9}));
  EXPECT_EQ(*tower.metadata.find("clip.projector_type"), Value("qwen2.5vl_merger"));
  EXPECT_EQ(*tower.metadata.find("general.type"), Value("mmproj"));

  Model whole = text.model;
  conventions().join(whole, tower, changes);
  EXPECT_EQ(whole.tensors.size(), model.tensors.size());
  for (const Tensor& tensor : model.tensors) {
    const Tensor* const found = whole.tensor(tensor.name);
    ASSERT_NE(found, nullptr) << tensor.name;
    EXPECT_EQ(found->shape, tensor.shape) << tensor.name;
    EXPECT_EQ(found->components.front().dtype, tensor.components.front().dtype) << tensor.name;
    EXPECT_EQ(found->values<float>(), tensor.values<float>()) << tensor.name;
  }
}

// Without the tower, it is a model of another family.
TEST(GgufTowers, TextModelAloneIsAModelForTexts) {
  Model text = adapt(multimodal(), gguf()).model;
  const Model directory = adapt(std::move(text), hf()).model;
  EXPECT_EQ(directory.config.model_type, "qwen2");
  EXPECT_EQ(directory.attachment("preprocessor_config.json"), nullptr);
  EXPECT_NE(directory.tensor("model.layers.0.self_attn.q_proj.bias"), nullptr);
  EXPECT_EQ(directory.tensors.size(), multimodal().tensors.size() - 13);
}

TEST(GgufTowers, Refusals) {
  EXPECT_EQ(rule_of_tower(multimodal()), "");
  EXPECT_EQ(rule_of_tower(small("llama", R"({"model_type": "llama"})")), "convert.tower");
  EXPECT_EQ(rule_of_tower(small("llama4", R"({"model_type": "llama4"})")), "convert.tower");
  EXPECT_EQ(rule_of_tower(replaced("\"fullatt_block_indexes\": [0]", "\"x\": 0")), "convert.tower");
  EXPECT_EQ(rule_of_tower(replaced("\"fullatt_block_indexes\": [0]", "\"fullatt_block_indexes\": [0, 2]")),
            "convert.tower");
  EXPECT_EQ(rule_of_tower(replaced("\"fullatt_block_indexes\": [0]", "\"fullatt_block_indexes\": [-1]")),
            "convert.tower");
  EXPECT_EQ(rule_of_tower(replaced("\"patch_size\": 2", "\"patch_size\": -2")), "convert.tower");
  EXPECT_EQ(rule_of_tower(replaced("\"patch_size\": 2", "\"patch_size\": \"2\"")), "convert.tower");
  EXPECT_EQ(rule_of_tower(replaced("\"depth\": 1", "\"depth\": 1e300")), "convert.tower");
  EXPECT_EQ(rule_of_tower(replaced("\"hidden_size\": 8,", "")), "convert.tower");
  Model model = multimodal();
  model.attachments.pop_back();
  EXPECT_EQ(rule_of_tower(model), "convert.tower");
  model = multimodal();
  model.tensors.push_back(counted("visual.stranger.weight", {4}, 1));
  EXPECT_EQ(rule_of_tower(model), "convert.names");
  model = multimodal();
  std::erase_if(model.tensors, [](const Tensor& tensor) { return tensor.name.starts_with("visual."); });
  EXPECT_EQ(rule_of_tower(model), "convert.tower");
}

TEST(GgufTowers, FilesThatDoNotBelongTogether) {
  std::vector<Change> changes;
  const Model text = adapt(multimodal(), gguf()).model;
  const Model tower = adapt(conventions().adopt(multimodal(), changes), gguf()).model;
  const auto rule = [&](Model a, Model b) {
    try {
      conventions().join(a, std::move(b), changes);
    } catch (const Error& error) {
      return std::string(error.rule());
    }
    return std::string();
  };
  Model bare = text;
  bare.attachments.clear();
  EXPECT_EQ(rule(bare, tower), "convert.tower");
  Model other = tower;
  other.metadata.set("clip.projector_type", "gemma3");
  EXPECT_EQ(rule(text, other), "convert.tower");
  Model part = tower;
  std::erase_if(part.tensors, [](const Tensor& tensor) { return tensor.name == "v.blk.0.attn_k.weight"; });
  EXPECT_EQ(rule(text, part), "convert.names");
  EXPECT_EQ(rule(text, text), "convert.tower");
}

// Types and names of the table are those of one tower each; all have GGUF's one architecture.
TEST(ArchTowers, Rows) {
  std::set<std::string_view> names;
  for (const arch::Tower& tower : arch::towers()) {
    EXPECT_FALSE(tower.model_types.empty());
    EXPECT_FALSE(tower.prefixes.empty());
    EXPECT_EQ(tower.projector.empty(), tower.form.gguf.empty());
    if (!tower.projector.empty()) {
      EXPECT_EQ(tower.form.gguf, arch::kTowerArchitecture);
      EXPECT_TRUE(names.insert(tower.form.name).second) << tower.form.name;
    }
  }
  EXPECT_EQ(arch::find_tower("llama"), nullptr);
  EXPECT_TRUE(arch::is_of_tower(*arch::find_tower("gemma3"), "model.vision_tower.x"));
  EXPECT_FALSE(arch::is_of_tower(*arch::find_tower("gemma3"), "language_model.model.norm.weight"));
}

}  // namespace
}  // namespace tare::testing
