// Numbers that no key, or no config.json, can have: in both directions, they are refused or kept as they are.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "conformance/gguf_cases.hpp"
#include "convert/adapt.hpp"
#include "formats/gguf/small_models.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "tare/convert.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using tare::testing::gguf;

constexpr std::array<std::string_view, 11> kOdd = {
    "1e300",  "-1",           R"("NaN")", R"("12")", "9223372036854775808", "18446744073709551615",
    "1e-300", "4294967296.5", "true",     "-0.5",    R"({"a": 1})",
};

// The value of the key as a number; nothing if the config.json is refused. Fails if a key has a number that is none.
std::optional<Value> written(const std::string& type, const std::string& setting, const std::string& key) {
  Model model = small(
      type,
      fmt::format(
          R"({{"model_type":"{}","hidden_size":8,"num_attention_heads":2,"num_key_value_heads":2,"num_hidden_layers":1,
      "intermediate_size":6,"max_position_embeddings":16,"rms_norm_eps":1e-5,"rope_theta":1e4,"vocab_size":3,{}}})",
          type, setting));
  model.config = {};
  Diagnostics silent;
  resources::describe(model, silent);
  try {
    const Model there = adapt(model, gguf()).model;
    for (const auto& [name, value] : there.metadata) {
      const double number = resources::number_of(value).value_or(0);
      EXPECT_TRUE(std::isfinite(static_cast<float>(number))) << setting << " makes " << name << " " << number;
    }
    Map all = there.metadata;
    for (const auto& [name, value] : there.config.to_map()) all.set("config." + name, value);
    const Value* const found = all.find(key);
    return found == nullptr ? Value() : *found;
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), "convert.config") << setting << ": " << error.what();
    return std::nullopt;
  }
}

TEST(GgufNumbers, OfConfigJsonAreRefusedOrKept) {
  struct Case {
    std::string type, setting, key;  // % in the setting: the number
  };
  std::vector<Case> cases;
  for (const char* const key : {"max_position_embeddings", "rms_norm_eps", "rope_theta", "vocab_size", "head_dim"})
    cases.push_back({"llama", fmt::format(R"("{}": %)", key), fmt::format("config.{}", key)});
  cases.push_back({"llama", R"("rope_parameters": {"rope_theta": %})", "config.rope_theta"});
  cases.push_back({"llama", R"("rope_scaling": {"rope_type": "linear", "factor": %})", "llama.rope.scaling.factor"});
  for (const auto& [name, key] : {std::pair("factor", "factor"),
                                  {"beta_fast", "yarn_beta_fast"},
                                  {"original_max_position_embeddings", "original_context_length"}})
    cases.push_back({"llama",
                     fmt::format(R"("rope_scaling": {{"rope_type": "yarn", {} "{}": %}})",
                                 std::string_view(name) == "factor" ? "" : R"("factor": 2,)", name),
                     fmt::format("llama.rope.scaling.{}", key)});
  for (const auto& [name, key] : {std::pair("logits_scaling", "logit_scale"),
                                  {"residual_multiplier", "residual_scale"},
                                  {"embedding_multiplier", "embedding_scale"},
                                  {"attention_multiplier", "attention.scale"}})
    cases.push_back({"granite", fmt::format(R"("{}": %)", name), fmt::format("granite.{}", key)});
  for (const Case& one : cases)
    for (const std::string_view odd : kOdd) {
      std::string setting = one.setting;
      setting.replace(setting.find('%'), 1, odd);
      const auto found = written(one.type, setting, one.key);
      if (!found) continue;
      const auto number = resources::number_of(*found);
      const double stated = resources::number_of(resources::parse_small_json_list(fmt::format("[{}]", odd)).front())
                                .value_or(std::numeric_limits<double>::quiet_NaN());
      ASSERT_TRUE(number) << setting << " was lost";
      EXPECT_NEAR(*number, stated, 1e-6 * std::fabs(stated)) << setting;
    }
}

TEST(GgufNumbers, OfKeysAreRefusedOrKept) {
  struct Case {
    std::string key, name;  // in GGUF, in config.json
  };
  const Model file = adapt(small("llama", R"({"model_type":"llama"})"), gguf()).model;
  const Value odd[] = {Value(1e300), Value(-1), Value(std::uint64_t{1} << 63), Value(2.5), Value("12"), Value(true)};
  for (const Case& one : {Case{"context_length", "max_position_embeddings"}, Case{"rope.freq_base", "rope_theta"},
                          Case{"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
                          Case{"block_count", "num_hidden_layers"}, Case{"expert_used_count", "num_experts_per_tok"},
                          Case{"rope.scaling.original_context_length", "original_max_position_embeddings"}})
    for (const Value& value : odd) {
      Model changed = file;
      changed.attachments.clear();
      changed.metadata.set("llama.rope.scaling.type", "yarn");
      changed.metadata.set("llama.rope.scaling.factor", 2.0);
      changed.metadata.set("llama." + one.key, value);
      try {
        const Model back = adapt(changed, hf()).model;
        const Bytes bytes = back.attachment("config.json")->blob.bytes();
        const Map json = resources::parse_small_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        const Map* const rope = resources::get<Map>(json, "rope_scaling");
        const Value* found = json.find(one.name);
        if (found == nullptr && rope != nullptr) found = rope->find(one.name);
        ASSERT_NE(found, nullptr) << one.key << " " << to_json(value);
        // Containers with text-only metadata have a text under such a key, and the field, which counts.
        if (value.text() != nullptr)
          EXPECT_TRUE(resources::number_of(*found)) << one.key;
        else
          EXPECT_EQ(resources::number_of(*found), resources::number_of(value)) << one.key << " " << to_json(value);
      } catch (const Error& error) {
        EXPECT_TRUE(error.rule() == "gguf.key.value" || error.rule() == "convert.config" ||
                    error.rule() == "open.count")
            << one.key << " " << to_json(value) << ": " << error.what();
      }
    }
}

}  // namespace
}  // namespace tare
