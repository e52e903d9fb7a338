// What a file of llama.cpp or a directory states and the other cannot: it is kept, reported or refused, but never
// silently gone.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "conformance/scratch.hpp"
#include "convert/adapt.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "formats/gguf/small_models.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using tare::testing::gguf;

const Format& mcf() { return *find_format("mcf"); }

// As another program would have written the file: no attachments, no attributes, nothing of Tare's.
Model foreign(const std::string& type = "llama") {
  Model model = small(type);
  add_ffn(model);
  Model there = adapt(model, gguf()).model;
  for (Tensor& tensor : there.tensors) tensor.attributes = {};
  there.format = "gguf";
  return there;
}

Model with_tokens(Model model) {
  model.vocabulary.kind = "spm";
  model.vocabulary.tokens = {
      {"<unk>", 0, TokenType::unknown}, {"<s>", 0, TokenType::control}, {"</s>", 0, TokenType::control}};
  model.vocabulary.bos = 1;
  model.vocabulary.eos = 2;
  return model;
}

Map file_of(const Model& model, const std::string& file) {
  const Attachment* const found = model.attachment(file);
  if (found == nullptr) return {};
  const Bytes bytes = found->blob.bytes();
  return resources::parse_small_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}
std::string value_in(const Map& map, std::string_view key) {
  const Value* const found = map.find(key);
  return found == nullptr ? "" : to_json(*found);
}

// The sentences of this impact, one per line.
std::string lines_of(const std::vector<Change>& changes, Impact impact) {
  std::string lines;
  for (const Change& change : changes)
    if (change.impact == impact) lines += to_text(change) + "\n";
  return lines;
}

TEST(GgufLosses, NoDirectoryHasTheNamesOfAnUnknownArchitecture) {
  Model model = foreign();
  model.config.model_type = "starcoder2";
  for (const Format* const target : {&hf(), &mcf()}) {
    EXPECT_EQ(rule_of([&] { adapt(model, *target); }), "convert.names") << target->name;
    const Adapted kept = adapt(model, *target, {.keep_names = true});
    EXPECT_NE(kept.model.tensor("blk.0.attn_q.weight"), nullptr);
    EXPECT_NE(lines_of(kept.changes, Impact::results).find("are those of GGUF"), std::string::npos) << target->name;
  }
  // So it is from a container that kept its names, and no other container minds.
  model.format = "zt";
  EXPECT_EQ(rule_of([&] { adapt(model, hf()); }), "convert.names");
  EXPECT_EQ(rule_of([&] { adapt(model, *find_format("zt")); }), "");
  // The names of a known family may be kept as well: its keys are in no file then.
  EXPECT_NE(lines_of(adapt(foreign("granite"), hf(), {.keep_names = true}).changes, Impact::results).find("GGUF"),
            std::string::npos);
  EXPECT_EQ(rule_of([&] { adapt(foreign("granite"), hf()); }), "");
}

TEST(GgufLosses, TokensWithARoleGoToTheFilesThatHaveOne) {
  Model model = with_tokens(foreign());
  model.metadata.set("tokenizer.ggml.eot_token_id", 0);
  model.metadata.set("tokenizer.ggml.mask_token_id", 1);
  model.metadata.set("tokenizer.ggml.seperator_token_id", 2);
  const Adapted back = adapt(model, hf());
  EXPECT_EQ(value_in(file_of(back.model, "generation_config.json"), "eos_token_id"), "[2,0]");
  EXPECT_EQ(value_in(file_of(back.model, "generation_config.json"), "bos_token_id"), "1");
  EXPECT_EQ(value_in(file_of(back.model, "tokenizer_config.json"), "mask_token"), R"("<s>")");
  EXPECT_EQ(value_in(file_of(back.model, "tokenizer_config.json"), "sep_token"), R"("</s>")");
  EXPECT_EQ(lines_of(back.changes, Impact::lost), "");
  // One token that ends a text needs no further file.
  model.metadata.set("tokenizer.ggml.eot_token_id", 2);
  EXPECT_EQ(adapt(model, hf()).model.attachment("generation_config.json"), nullptr);
}

TEST(GgufLosses, KeysOfTheTokenizerWithoutAFileAreNamed) {
  Model model = with_tokens(foreign());
  model.metadata.set("tokenizer.ggml.fim_pre_token_id", 0);
  model.metadata.set("tokenizer.ggml.eot_token_id", 99);  // does not exist
  model.metadata.set("tokenizer.ggml.add_sep_token", true);
  model.metadata.set("tokenizer.ggml.normalizer.lowercase", false);
  for (const Format* const target : {&hf(), &mcf()}) {
    const std::vector<Change> changes = adapt(model, *target).changes;
    const std::string lost = lines_of(changes, Impact::lost), results = lines_of(changes, Impact::results);
    EXPECT_NE(lost.find("tokenizer.ggml.fim_pre_token_id"), std::string::npos) << lost;
    EXPECT_NE(lost.find("tokenizer.ggml.eot_token_id"), std::string::npos) << lost;
    EXPECT_NE(results.find("tokenizer.ggml.add_sep_token"), std::string::npos) << results;
    EXPECT_EQ((lost + results).find("lowercase"), std::string::npos) << "no file does it either";
  }
  // Keys that Tare made of the attached files are no news.
  Model own = small("llama", R"({"model_type":"llama"})");
  own = with_tokens(own);
  own.attachments.push_back(text_file("tokenizer.json", resources::tokenizer_json(own.vocabulary)));
  const Model there = adapt(own, gguf()).model;
  EXPECT_EQ(lines_of(adapt(there, hf()).changes, Impact::lost), "");
}

TEST(GgufLosses, AnUnknownKindOfTokenizerIsAGuess) {
  Model model = with_tokens(foreign());
  EXPECT_EQ(lines_of(adapt(model, hf()).changes, Impact::results), "");
  model.vocabulary.kind.clear();
  model.metadata.set("tokenizer.ggml.model", "rwkv");
  EXPECT_NE(lines_of(adapt(model, hf()).changes, Impact::results).find("\"rwkv\""), std::string::npos);
}

TEST(GgufLosses, SizesThatTheFileDoesNotState) {
  Model model = foreign();
  model.config.rms_norm_eps.reset();
  EXPECT_NE(lines_of(adapt(model, hf()).changes, Impact::results).find("rms_norm_eps 1e-06"), std::string::npos);
}

// ---- numbers that f32 does not have

Tensor& norm_of(Model& model) {
  return *std::ranges::find(model.tensors, std::string_view("model.norm.weight"), &Tensor::name);
}
Tensor doubles(double first) {
  std::vector<double> values(8, 0.5);
  values.front() = first;
  return dense<double>("model.norm.weight", {8}, values);
}

TEST(GgufLosses, NormsOfF64AreCastLikeAnyTensor) {
  for (const char* const type : {"llama", "gemma"}) {
    Model model = small(type);
    add_ffn(model);
    model.config.head_dim = 4;
    if (type == std::string_view("gemma"))
      std::erase_if(model.tensors, [](auto& t) { return t.name == "lm_head.weight"; });
    norm_of(model) = doubles(0.25);
    const Adapted exact = adapt(model, gguf());
    EXPECT_EQ(adapt(exact.model, hf()).model.tensor("model.norm.weight")->values<double>(),
              doubles(0.25).values<double>());
    EXPECT_EQ(adapt(exact.model, hf()).model.tensor("model.norm.weight")->components.front().dtype, DType::f64);
    // A number between two floats is rounded, which is reported; the type that it had is not claimed.
    norm_of(model) = doubles(1 + 1e-12);
    const Adapted rounded = adapt(model, gguf());
    const Tensor& there = *rounded.model.tensor("output_norm.weight");
    EXPECT_EQ(there.components.front().dtype, DType::f32) << type;
    EXPECT_TRUE(there.attributes.empty()) << type;
    EXPECT_TRUE(std::ranges::any_of(rounded.changes, [](const Change& change) {
      return change.kind == ChangeKind::cast && change.lossy && change.before == "f64";
    })) << type;
    // A number beyond f32 becomes what the caller asked for.
    norm_of(model) = doubles(1e300);
    EXPECT_EQ(rule_of([&] { write_bytes(gguf(), adapt(model, gguf()).model); }), "cast.overflow") << type;
    const Adapted clamped = adapt(model, gguf(), {.overflow = Overflow::clamp});
    EXPECT_EQ(clamped.model.tensor("output_norm.weight")->values<float>().front(), std::numeric_limits<float>::max());
  }
}

TEST(GgufLosses, ASumKeepsSignsAndNaN) {
  const auto of = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  const std::vector<float> values = {-0.0F, 0.0F, of(0x7F800001), of(0xFFC00001), -1};
  const Tensor sum = gguf::llama_cpp::add_number(dense<float>("norm", {5}, values), 1);
  const std::vector<float> back = gguf::llama_cpp::subtract_number(sum, 1).values<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(back[i]), std::bit_cast<std::uint32_t>(values[i])) << i;
}

// ---- files that are dropped, keys that are set

TEST(GgufLosses, WithoutItsFilesAModelIsWhatItsKeysSay) {
  const Model model = small(
      "llama", R"({"model_type":"llama","rope_theta":10000.0,"rope_scaling":{"rope_type":"linear","factor":4.0}})");
  const Model there = adapt(model, gguf()).model;
  for (const Format* const target : {&hf(), &mcf()}) {
    const Adapted back = adapt(there, *target, {.drop = {ModelPart::attachments}});
    EXPECT_EQ(value_in(file_of(back.model, "config.json"), "rope_scaling"), R"({"factor":4.0,"rope_type":"linear"})")
        << target->name;
    EXPECT_NE(lines_of(back.changes, Impact::lost).find("config.json"), std::string::npos);
  }
  // Without the config, too, nothing is made.
  const Adapted bare = adapt(there, hf(), {.drop = {ModelPart::attachments, ModelPart::config}});
  EXPECT_EQ(bare.model.attachment("config.json"), nullptr);
}

TEST(GgufLosses, SetKeysMustFitTheTensors) {
  const Model model = small("llama", R"({"model_type":"llama","hidden_size":8,"num_attention_heads":2,)"
                                     R"("num_hidden_layers":1,"intermediate_size":6,"vocab_size":3})");
  const auto rule = [&](const std::string& key, const std::string& value) {
    return rule_of([&] { adapt(model, gguf(), {.set = {{key, value}}}); });
  };
  EXPECT_EQ(rule("llama.context_length", "64"), "");
  EXPECT_EQ(rule("llama.rope.freq_base", "500000"), "");
  EXPECT_EQ(rule("llama.block_count", "2"), "convert.set");
  EXPECT_EQ(rule("llama.attention.head_count_kv", "1"), "convert.set");
  EXPECT_EQ(rule("llama.feed_forward_length", "5"), "convert.set");
}

TEST(GgufLosses, OlmosEpsilonIsThatOfItsClass) {
  Model olmo = small("olmo", R"({"model_type":"olmo","rms_norm_eps":1e-2})");
  std::erase_if(olmo.tensors, [](const Tensor& tensor) { return tensor.name.find("norm") != std::string::npos; });
  const Model there = adapt(olmo, gguf()).model;
  EXPECT_EQ(resources::number_of(*there.metadata.find("olmo.attention.layer_norm_epsilon")), 1e-5);
}

TEST(GgufLosses, AClassReadsItsOwnNamesOnly) {
  std::vector<std::string> ignored;
  const Config llama = resources::parse_config(
      R"({"model_type":"llama","layer_norm_eps":0.01,"n_positions":99,"num_kv_heads":2})", &ignored);
  EXPECT_FALSE(llama.rms_norm_eps || llama.max_position_embeddings || llama.num_key_value_heads);
  EXPECT_EQ(ignored.size(), 3U);
  // A name next to the class's own one changes nothing.
  ignored.clear();
  EXPECT_EQ(
      resources::parse_config(R"({"model_type":"llama","rms_norm_eps":0.5,"norm_eps":0.01})", &ignored).rms_norm_eps,
      0.5);
  EXPECT_TRUE(ignored.empty());
  // Classes whose defaults are not known may have any name.
  EXPECT_EQ(resources::parse_config(R"({"model_type":"gpt2","n_positions":99})").max_position_embeddings, 99);
}

}  // namespace
}  // namespace tare
