// Keys that config.json lacks or has twice, compared with how the transformers library reads them.
#include <algorithm>

#include "arch/defaults.hpp"
#include "arch/expected.hpp"
#include "conformance/scratch.hpp"
#include "convert/adapt.hpp"
#include "formats/gguf/llama_cpp/conventions.hpp"
#include "formats/gguf/small_models.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using tare::testing::gguf;

// A model of two layers, whose tensors have the sizes in config.json.
Model model_of(const std::string& type, const Map& config) {
  const arch::Family& family = *arch::find_family(type);
  Model model;
  const std::string text = to_json(config);
  model.attachments = {text_file("config.json", text)};
  model.config = resources::parse_config(text);
  arch::Sizes sizes;
  sizes.vocabulary = 10, sizes.hidden = 64, sizes.intermediate = 6, sizes.layers = 2;
  const auto number = [&](std::string_view key, std::optional<std::uint64_t>& field) {
    if (const Value* const found = config.find(key); found != nullptr && found->get<std::int64_t>() != nullptr)
      field = static_cast<std::uint64_t>(*found->get<std::int64_t>());
  };
  number("num_attention_heads", sizes.heads);
  sizes.kv_heads = sizes.heads;
  sizes.head = 64 / *sizes.heads;
  number("num_key_value_heads", sizes.kv_heads);
  number("head_dim", sizes.head);
  number("d_kv", sizes.head);
  number("num_experts", sizes.experts);
  for (const char* const key : {"num_local_experts", "n_routed_experts", "moe_num_experts"}) number(key, sizes.experts);
  number("moe_intermediate_size", sizes.expert_rows);
  number("shared_expert_intermediate_size", sizes.shared_rows);
  number("shared_intermediate_size", sizes.shared_rows);
  const auto says = [&](std::string_view key) {
    const Value* const found = config.find(key);
    return found != nullptr && *found == true;
  };
  if (says("multi_query") && !says("new_decoder_architecture")) sizes.kv_heads = 1;
  if (says("block_auto_adjust_ff_dim")) sizes.intermediate = 256;
  sizes.leading_plain = family.runtime.leading_plain;
  if (!family.runtime.state.empty() || family.runtime.usually_no_attention) sizes.without_attention = {0, 1};
  for (const char* const key : {"first_k_dense_replace", "moe_layer_start_index", "num_dense_layers"})
    if (const Value* const found = config.find(key); found != nullptr)
      sizes.leading_plain = static_cast<std::uint64_t>(*found->get<std::int64_t>());
  number("moe_shared_expert_intermediate_size", sizes.shared_rows);
  if (!sizes.shared_rows) sizes.shared_rows = 6;
  if (const Value* const kinds = config.find("layers_block_type")) sizes.kinds = arch::layer_kinds(*kinds).value();
  set_defaults(type, sizes);
  sizes.has_head = !family.ties;
  add_expected(model, family, sizes);
  return model;
}

Map sizes_for(const std::string& type) {
  Map config;
  config.set("model_type", type);
  for (const auto& [key, value] :
       {std::pair("vocab_size", 10), std::pair("hidden_size", 64), std::pair("intermediate_size", 6),
        std::pair("num_hidden_layers", 2), std::pair("num_attention_heads", 32)})
    config.set(key, std::int64_t{value});
  if (arch::find_family(type)->runtime.mixes_layers)
    config.set("layers_block_type", List{Value("mamba"), Value("moe")});
  return config;
}

Value constant(const arch::Constant& fact) {
  if (const auto* const text = std::get_if<std::string_view>(&fact)) return Value(std::string(*text));
  if (const auto* const flag = std::get_if<bool>(&fact)) return Value(*flag);
  if (const auto* const number = std::get_if<double>(&fact)) return Value(*number);
  return Value(std::get<std::int64_t>(fact));
}

// A config.json with every key that its model_type would assume.
Map spoken(const std::string& type) {
  Map config = sizes_for(type), rope;
  for (const arch::Assumed& fact : arch::assumed_keys(type))
    if (const std::size_t dot = fact.key.find('.'); dot != fact.key.npos)
      rope.set(fact.key.substr(dot + 1), constant(fact.value));
    else
      config.set(fact.key, constant(fact.value));
  if (!rope.empty()) config.set("rope_parameters", std::move(rope));
  return config;
}

// The fields, keys and warnings of the converted model.
std::string read_from(const Model& model, const Format& target) {
  const Adapted adapted = adapt(model, target);
  std::string text = to_json(adapted.model.config.to_map());
  if (&target == &gguf()) text += to_json(adapted.model.metadata, JsonKeys::sorted);
  for (const Change& change : adapted.changes)
    if (change.impact == Impact::results) text += to_text(change);
  return text;
}

// The same tensors with another config.json.
Model with_config(Model model, const Map& config) {
  const std::string text = to_json(config);
  model.attachments = {text_file("config.json", text)};
  model.config = resources::parse_config(text);
  return model;
}

std::vector<std::string> known_types() {
  std::vector<std::string> types;
  for (const arch::Family& family : arch::families())
    for (const std::string_view type : family.model_types)
      if (!family.gguf.empty() && type != "gemma3" && type != "llama4" && type != "mistral3" &&
          type != "gemma-embedding" && type != "nemotron_h-dense" && type != "qwen3_5" && type != "qwen3_5_moe" &&
          type != "gemma3n" && type != "gemma4" && type != "t5encoder")
        types.emplace_back(type);
  return types;
}

// Removes each key in turn: the result is the same as with the assumed value, or the model is refused.
TEST(GgufSilent, EveryKeyThatIsAbsentMeansWhatItsTypeMeans) {
  std::size_t same = 0, refused = 0;
  for (const std::string& type : known_types())
    for (const char* const target : {"gguf", "mcf"}) {
      const Format& format = *find_format(target);
      const Map all = spoken(type);
      const Model whole = model_of(type, all);
      const std::string expected = read_from(whole, format);
      for (const auto& [key, value] : all) {
        if (key == "model_type" || key == "vocab_size") continue;  // the token table has the second
        if (key == "intermediate_size" && arch::find_family(type)->runtime.has_only_experts) continue;  // an extra key
        Map less = all;
        less.erase(key);
        const bool assumed = std::ranges::any_of(arch::assumed_keys(type), [&key = key](const arch::Assumed& fact) {
          return fact.key.substr(0, fact.key.find('.')) == key;
        });
        std::string found;
        const std::string rule = rule_of([&] { found = read_from(with_config(whole, less), format); });
        if (assumed || (rule.empty() && &format == &gguf())) {
          EXPECT_EQ(rule, "") << type << " without " << key;
          EXPECT_EQ(found, expected) << type << " without " << key;
          ++same;
        } else if (!rule.empty()) {
          EXPECT_EQ(rule, "convert.config") << type << " without " << key;
          ++refused;
        }
      }
    }
  EXPECT_GT(same, 200U);
  EXPECT_GT(refused, 60U);
}

// As llama.cpp's converter would have written it: without the files of the directory.
Model by_llama_cpp(Model there) {
  there.attachments.clear();
  there.metadata.erase("gguf.root");
  for (Tensor& tensor : there.tensors) tensor.attributes = {};
  there = open(memory_source(write_bytes(gguf(), there), "m.gguf"));
  there.metadata.erase("gguf.keys");
  return there;
}

// The effective value of a key on the way back from a GGUF file: that of config.json, or what its class assumes.
struct WayBack {
  Map config;
  std::string told;

  explicit WayBack(const Model& file) {
    const Adapted back = adapt(file, hf());
    for (const Attachment& attachment : back.model.attachments)
      if (attachment.name == "config.json") config = resources::parse_small_json(to_text(attachment.blob.bytes()));
    for (const Change& change : back.changes)
      if (change.impact == Impact::results) told += to_text(change) + "; ";
  }
  std::string value(const std::string& key) const {
    if (const Value* const found = config.find(key)) return to_json(*found);
    // Gemma 4 states the settings of rotation for each kind of layer.
    const Value* const ropes = config.find("rope_parameters");
    const Map* const kinds = ropes == nullptr ? nullptr : ropes->get<Map>();
    const Value* const full = kinds == nullptr ? nullptr : kinds->find("full_attention");
    if (full != nullptr && full->get<Map>() != nullptr)
      if (const Value* const found = full->get<Map>()->find(key)) return to_json(*found);
    const Value* const type = config.find("model_type");
    if (type == nullptr) return "no config.json";
    for (const arch::Assumed& fact : arch::assumed_keys(*type->text()))
      if (fact.key == key) return to_json(constant(fact.value));
    return "absent";
  }
};

// A config.json with every key that its model_type would assume, and a few more that a conversion needs. Few experts.
Map complete(const std::string& type) {
  Map config = spoken(type);
  for (const char* const key : {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"})
    if (config.find(key) != nullptr) config.set(key, std::int64_t{4});
  for (const char* const key : {"num_attention_heads", "num_key_value_heads"})
    if (config.find(key) != nullptr) config.set(key, std::int64_t{8});
  if (type == "qwen2_moe") config.set("shared_expert_intermediate_size", std::int64_t{6});
  if (type == "dots1")
    for (const auto& [key, value] : {std::pair("n_routed_experts", 4), std::pair("num_experts_per_tok", 2)})
      config.set(key, std::int64_t{value});
  if (arch::find_family(type)->runtime.has_latent_attention)
    for (const auto& [key, value] :
         {std::pair("qk_nope_head_dim", 8), std::pair("qk_rope_head_dim", 4), std::pair("v_head_dim", 8),
          std::pair("kv_lora_rank", 8), std::pair("num_experts_per_tok", 2)})
      config.set(key, std::int64_t{value});
  return config;
}

// Values that a model's class does not assume come back, or the conversion reports the loss.
TEST(GgufSilent, WhatTheClassWouldAssumeIsStatedOnTheWayBack) {
  // Sizes and numbers of layers, which are never omitted, and keys that count only together with another one.
  constexpr std::string_view kOthers[] = {"num_key_value_heads",
                                          "num_attention_heads",
                                          "head_dim",
                                          "num_experts",
                                          "num_local_experts",
                                          "n_routed_experts",
                                          "moe_num_experts",
                                          "moe_intermediate_size",
                                          "shared_expert_intermediate_size",
                                          "sliding_window_pattern",
                                          "max_window_layers",
                                          "no_rope_layer_interval",
                                          "topk_method",
                                          "rope_local_base_freq",
                                          "query_pre_attn_scalar",
                                          "original_max_position_embeddings",
                                          "use_sliding_window",
                                          "num_nextn_predict_layers",
                                          "first_k_dense_replace",
                                          "moe_layer_start_index",
                                          "moe_layer_interval",
                                          "interleave_moe_layer_step",
                                          "num_dense_layers",
                                          "global_attn_every_n_layers",
                                          "block_auto_adjust_ff_dim",
                                          "block_multiple_of",
                                          "block_ffn_dim_multiplier",
                                          "multi_query",
                                          "new_decoder_architecture",
                                          "n_shared_experts",
                                          "pad_token_id",
                                          "shared_intermediate_size",
                                          "num_heads",
                                          "n_groups",
                                          "mamba_n_heads",
                                          "mamba_d_head",
                                          "mamba_num_heads",
                                          "mamba_head_dim",
                                          "moe_shared_expert_intermediate_size",
                                          "moe_num_shared_experts",
                                          "attention_k_eq_v",
                                          "enable_moe_block",
                                          "use_double_wide_mlp",
                                          "vocab_size_per_layer_input",
                                          "laurel_rank",
                                          "d_kv"};
  std::size_t compared = 0;
  for (const std::string& type : known_types()) {
    // Without its tower it comes back as a model of another type.
    if (!arch::find_family(type)->runtime.text_twin.empty()) continue;
    const Map all = complete(type);
    const Model whole = model_of(type, all);
    for (const arch::Assumed& fact : arch::assumed_keys(type)) {
      const std::string key(fact.key);
      const arch::Runtime& runtime = arch::find_family(type)->runtime;
      // Nothing in these files turns with positions, or the table of positions is shorter by rows for padding.
      const bool no_positions = runtime.endless || runtime.only_states || arch::class_of(type).pads_positions;
      if (key == "max_position_embeddings" && no_positions) continue;
      const bool elsewhere = (key == "sliding_window" && all.find("use_sliding_window") != nullptr) ||
                             (key == "rope_theta" && all.find("rope_parameters") != nullptr);
      if (key.find('.') != key.npos || lists(kOthers, key) || elsewhere) continue;
      std::vector<Value> others;
      if (const auto* const flag = std::get_if<bool>(&fact.value)) others = {Value(!*flag)};
      if (const auto* const real = std::get_if<double>(&fact.value)) {
        others = {Value(*real / 2)};
        if (*real != 1) others.emplace_back(1.0);
      }
      if (const auto* const number = std::get_if<std::int64_t>(&fact.value)) others = {Value(*number * 2)};
      for (const Value& other : others) {
        SCOPED_TRACE(type + "." + key + " = " + to_json(other));
        Map config = all;
        config.set(key, other);
        const Adapted there = adapt(with_config(whole, config), gguf());
        const WayBack back(by_llama_cpp(there.model));
        std::string told = back.told;
        for (const Change& change : there.changes)
          if (change.impact == Impact::results) told += to_text(change) + "; ";
        const auto number = [](const std::string& text) { return std::strtod(text.c_str(), nullptr); };
        const std::string found = back.value(key), wanted = to_json(other);
        const bool same =
            found == wanted || (number(wanted) != 0 && std::abs(number(found) / number(wanted) - 1) < 1e-6);
        EXPECT_TRUE(same || told.find(key) != told.npos) << found;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 150U);
}

// What llama.cpp takes for a key that a file lacks, or that is 0, where the class would take something else.
TEST(GgufSilent, WhatLlamaCppAssumesIsStatedOnTheWayBack) {
  const auto back = [](const std::string& type, const std::string& key, const char* absent) {
    Model file = by_llama_cpp(adapt(model_of(type, complete(type)), gguf()).model);
    EXPECT_NE(file.metadata.find(absent), nullptr) << absent;
    file.metadata.erase(absent);
    return WayBack(file).value(key);
  };
  EXPECT_EQ(back("stablelm", "partial_rotary_factor", "stablelm.rope.dimension_count"), "1.0");
  EXPECT_EQ(back("cohere", "logit_scale", "command-r.logit_scale"), "1.0");
  EXPECT_EQ(back("glm4_moe", "norm_topk_prob", "glm4moe.expert_weights_norm"), "false");
  EXPECT_EQ(back("deepseek_v3", "routed_scaling_factor", "deepseek2.expert_weights_scale"), "1.0");
  EXPECT_EQ(back("qwen2_moe", "shared_expert_intermediate_size", "qwen2moe.expert_shared_feed_forward_length"), "6");
}

TEST(GgufSilent, SettingsOfOneClassAreReported) {
  const auto reported = [](const std::string& type, const std::string& key, const Value& value) {
    Map config = complete(type);
    config.set(key, value);
    const Adapted there = adapt(model_of(type, config), gguf());
    return std::ranges::any_of(there.changes, [&](const Change& change) {
      return change.impact == Impact::results && change.items == std::vector<std::string>{key};
    });
  };
  EXPECT_TRUE(reported("olmoe", "clip_qkv", Value(8.0)));
  EXPECT_FALSE(reported("olmoe", "clip_qkv", Value()));
  EXPECT_TRUE(reported("deepseek_v3", "rope_interleave", Value(false)));
  EXPECT_FALSE(reported("deepseek_v3", "rope_interleave", Value(true)));
  EXPECT_TRUE(reported("glm_moe_dsa", "index_topk_pattern", Value("FS")));
  EXPECT_TRUE(reported("glm_moe_dsa", "index_topk_freq", Value(std::int64_t{2})));
}

TEST(GgufSilent, ContainersWithFieldsOfTheirOwnGetTheSame) {
  const Map all = spoken("smollm3");
  Map less = all;
  for (const char* const key : {"rope_theta", "rms_norm_eps", "num_key_value_heads"}) less.erase(key);
  const Config config = adapt(with_config(model_of("smollm3", all), less), *find_format("mcf")).model.config;
  EXPECT_EQ(config.rope_theta, 2e6);
  EXPECT_EQ(config.rms_norm_eps, 1e-6);
  EXPECT_EQ(config.num_key_value_heads, 4);
}

struct ConvertedRope {
  Map keys;
  std::vector<std::string> reported;
  std::string number(const std::string& key) const {
    const Value* const found = keys.find(key);
    return found == nullptr ? "" : to_json(*found);
  }
};
ConvertedRope converted_rope(const std::string& type, const std::string& rope) {
  const Map sizes = spoken(type);
  Map config;
  for (const auto& [key, value] : sizes)
    if (!key.starts_with("rope_")) config.set(key, value);
  Model model = model_of(type, config);
  std::string text = to_json(config);
  text.replace(text.size() - 1, 1, "," + rope + "}");
  const Adapted adapted = adapt(with_config(model, resources::parse_small_json(text)), gguf());
  ConvertedRope result{adapted.model.metadata, {}};
  for (const Change& change : adapted.changes)
    if (change.impact == Impact::results && !change.items.empty()) result.reported.push_back(change.items.front());
  result.keys.set("theta", adapted.model.config.rope_theta.value_or(0));
  return result;
}
bool tells(const ConvertedRope& one, const std::string& item) {
  return std::ranges::find(one.reported, item) != one.reported.end();
}

TEST(GgufSilent, RopeScalingTakesThePlaceOfRopeParameters) {
  const ConvertedRope one = converted_rope("qwen2", R"("rope_parameters":{"rope_type":"default","rope_theta":300.0},)"
                                                    R"("rope_scaling":{"rope_type":"yarn","factor":4.0})");
  EXPECT_EQ(one.number("qwen2.rope.scaling.type"), R"("yarn")");
  EXPECT_EQ(one.number("qwen2.rope.scaling.factor"), "4.0");
}

TEST(GgufSilent, TheThetaInsideCountsForMore) {
  EXPECT_EQ(
      converted_rope("llama", R"("rope_theta":700.0,"rope_parameters":{"rope_type":"default","rope_theta":300.0})")
          .number("theta"),
      "300.0");
  EXPECT_EQ(converted_rope("llama",
                           R"("rope_theta":700.0,"rope_scaling":{"rope_type":"linear","factor":2,"rope_theta":90.0})")
                .number("theta"),
            "90.0");
  EXPECT_EQ(
      converted_rope("llama", R"("rope_theta":700.0,"rope_scaling":{"rope_type":"linear","factor":2})").number("theta"),
      "700.0");
}

TEST(GgufSilent, LayersWithAWindowThatScalePositionsAreTold) {
  const ConvertedRope one =
      converted_rope("gemma3_text", R"("rope_parameters":{"full_attention":{"rope_type":"default","rope_theta":1e5},)"
                                    R"("sliding_attention":{"rope_type":"linear","factor":3.0,"rope_theta":300.0}})");
  EXPECT_EQ(one.number("gemma3.rope.freq_base_swa"), "300.0");
  EXPECT_TRUE(tells(one, "rope_parameters.sliding_attention"));
}

TEST(GgufSilent, KeysOfRopeThatAreNotCarriedAreTold) {
  EXPECT_TRUE(
      tells(converted_rope("ministral3",
                           R"("rope_parameters":{"rope_type":"default","rope_theta":7.0,"llama_4_scaling_beta":0.3})"),
            "rope_parameters.llama_4_scaling_beta"));
  EXPECT_TRUE(tells(converted_rope("llama", R"("rope_scaling":{"rope_type":"linear","factor":2.0,"new_idea":1})"),
                    "rope_scaling.new_idea"));
  EXPECT_FALSE(tells(converted_rope("ministral3", R"("rope_theta":7.0)"), "rope_parameters.llama_4_scaling_beta"));
}

TEST(GgufSilent, ModernBertsEarlierKeysForRotaryBases) {
  Map config = spoken("modernbert");
  for (const char* const key : {"rope_theta", "rope_local_base_freq"}) config.erase(key);
  config.set("global_rope_theta", 700.0);
  config.set("local_rope_theta", 300.0);
  const Model model = adapt(with_config(model_of("modernbert", config), config), gguf()).model;
  EXPECT_EQ(model.config.rope_theta, 700.0);
  EXPECT_EQ(to_json(*model.metadata.find("modern-bert.rope.freq_base_swa")), "300.0");
}

TEST(GgufSilent, Phi3sOlderNamesMeanLongrope) {
  for (const char* const name : {"su", "yarn", "longrope"}) {
    const ConvertedRope one = converted_rope(
        "phi3", R"("rope_scaling":{"type":")" + std::string(name) + R"(","long_factor":[2.0],"short_factor":[1.0]})");
    EXPECT_EQ(one.number("phi3.rope.scaling.type"), R"("longrope")") << name;
  }
}

TEST(GgufSilent, Olmo3sThetaAtTheTopIsThatOfLayersThatSeeEverything) {
  const ConvertedRope one = converted_rope("olmo3", R"("rope_theta":700.0)");
  EXPECT_EQ(one.number("theta"), "700.0");
  EXPECT_EQ(one.number("olmo2.rope.freq_base_swa"), "500000.0");
}

}  // namespace
}  // namespace tare
