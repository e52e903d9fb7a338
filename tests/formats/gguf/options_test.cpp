// Options of `convert` and `quantize` for GGUF as the target: types, rules, keys that are set, importance.
#include <fmt/format.h>

#include "base/endian.hpp"
#include "conformance/models.hpp"
#include "conformance/scratch.hpp"
#include "convert/adapt.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"
#include "tare/metadata.hpp"

namespace tare {
namespace {

using namespace tare::testing;

const Format& row() { return *find_format("gguf"); }

Tensor waves(const std::string& name, const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(*shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i)) / 8;
  return cast(dense<float>(name, shape, values), DType::bf16);
}

// A Mixtral of one layer, two experts and 256 dimensions, in a directory's form.
Model mixture() {
  Model model;
  model.format = "hf";
  model.config.model_type = "mixtral";
  model.config.hidden_size = model.config.intermediate_size = 256;
  model.config.num_attention_heads = model.config.num_key_value_heads = 2;
  model.config.num_hidden_layers = 1;
  model.config.max_position_embeddings = 16;
  model.config.rms_norm_eps = 1e-5;
  const std::string layer = "model.layers.0.";
  for (const char* const name : {"model.embed_tokens", "lm_head"})
    model.tensors.push_back(waves(std::string(name) + ".weight", {4, 256}));
  for (const std::string& name :
       {std::string("model.norm"), layer + "input_layernorm", layer + "post_attention_layernorm"})
    model.tensors.push_back(waves(name + ".weight", {256}));
  for (const char* const name : {"q", "k", "v", "o"})
    model.tensors.push_back(waves(fmt::format("{}self_attn.{}_proj.weight", layer, name), {256, 256}));
  model.tensors.push_back(waves(layer + "block_sparse_moe.gate.weight", {2, 256}));
  for (int expert = 0; expert < 2; ++expert)
    for (const char* const name : {"w1", "w2", "w3"})
      model.tensors.push_back(
          waves(fmt::format("{}block_sparse_moe.experts.{}.{}.weight", layer, expert, name), {256, 256}));
  model.attachments = {{"config.json", Blob::memory(to_bytes(R"({"model_type": "mixtral", "num_local_experts": 2,
      "num_experts_per_tok": 1, "max_position_embeddings": 16, "hidden_size": 256, "intermediate_size": 256,
      "num_attention_heads": 2, "num_key_value_heads": 2, "num_hidden_layers": 1, "rms_norm_eps": 1e-5})"))},
                       {"generation_config.json", Blob::memory(to_bytes(R"({"top_p": 0.9})"))}};
  return model;
}

std::string type_of(const Model& model, std::string_view name) {
  const Tensor* const tensor = model.tensor(std::string(name));
  return tensor == nullptr ? "none" : dtype_name(*tensor);
}
std::int64_t file_type(const Model& model) {
  const Value* const value = model.metadata.find("general.file_type");
  return value == nullptr ? -1 : *value->get<std::int64_t>();
}

TEST(GgufOptions, AnotherTypeIsNotForWhatItsReadersWantAsF32) {
  for (const DType type : {DType::f16, DType::bf16, DType::f32}) {
    const Model there = adapt(mixture(), row(), {.dtype = type, .overflow = Overflow::infinity}).model;
    EXPECT_EQ(type_of(there, "blk.0.attn_q.weight"), name_of(type));
    for (const char* const name : {"output_norm.weight", "blk.0.attn_norm.weight", "blk.0.ffn_gate_inp.weight"})
      EXPECT_EQ(type_of(there, name), "f32") << name;
    EXPECT_EQ(file_type(there), type == DType::f32 ? 0 : type == DType::f16 ? 1 : 32);
    // Also from one file to another.
    const Model again =
        adapt(open(memory_source(write_bytes(row(), there), "m.gguf")), row(), {.dtype = DType::f16}).model;
    EXPECT_EQ(type_of(again, "output_norm.weight"), "f32");
    EXPECT_EQ(type_of(again, "blk.0.attn_q.weight"), "f16");
  }
}

TEST(GgufOptions, RulesKnowTheNamesOfBeforeAndOfNow) {
  AdaptOptions options;
  options.quant.method = "q4_k_m";
  options.quant.rules = {{"*experts.1.w2*", "q8_0"},
                         {"blk.0.attn_q.weight", "q5_k"},
                         {"*k_proj*", std::string(kKeep)},
                         {"model.embed_tokens.weight", "f16"}};
  const Adapted adapted = adapt(mixture(), row(), options);
  EXPECT_EQ(type_of(adapted.model, "blk.0.ffn_down_exps.weight"), "ggml.q8_0");
  EXPECT_EQ(type_of(adapted.model, "blk.0.ffn_up_exps.weight"), "ggml.q4_k");
  EXPECT_EQ(type_of(adapted.model, "blk.0.attn_q.weight"), "ggml.q5_k");
  EXPECT_EQ(type_of(adapted.model, "blk.0.attn_k.weight"), "bf16");
  EXPECT_EQ(type_of(adapted.model, "token_embd.weight"), "f16");
  EXPECT_EQ(type_of(adapted.model, "output.weight"), "ggml.q6_k");
  options.quant.rules = {{"*nothing*", "q8_0"}};
  EXPECT_EQ(rule_of([&] { adapt(mixture(), row(), options); }), "quantize.rule");
  options.quant.rules = {{"*embed*", "f8"}};
  EXPECT_EQ(rule_of([&] { adapt(mixture(), row(), options); }), "convert.quant");
}

// Even if most of the tensors have another type, because their rows are not whole blocks of the mix's type.
TEST(GgufOptions, TheFileTypeIsThatOfTheMix) {
  const std::map<std::string_view, std::int64_t> numbers = {
      {"q4_0", 2},     {"q4_1", 3},    {"q5_0", 8},       {"q5_1", 9},     {"q8_0", 7},    {"q2_k", 10},
      {"q2_k_s", 21},  {"q3_k_s", 11}, {"q3_k_m", 12},    {"q3_k", 12},    {"q3_k_l", 13}, {"q4_k_s", 14},
      {"q4_k_m", 15},  {"q4_k", 15},   {"q5_k_s", 16},    {"q5_k_m", 17},  {"q5_k", 17},   {"q6_k", 18},
      {"iq4_nl", 25},  {"iq4_xs", 30}, {"mxfp4_moe", 38}, {"iq2_xxs", 19}, {"iq2_xs", 20}, {"iq3_xs", 22},
      {"iq3_xxs", 23}, {"iq1_s", 24},  {"iq3_s", 26},     {"iq3_m", 27},   {"iq2_s", 28},  {"iq2_m", 29},
      {"iq1_m", 31},   {"tq1_0", 36},  {"tq2_0", 37}};
  Model narrow;
  narrow.config.model_type = "llama";
  for (const char* const name : {"token_embd.weight", "blk.0.attn_q.weight", "blk.0.ffn_down.weight"})
    narrow.tensors.push_back(make_dense(name, {2, 96}, DType::f32));
  for (const Mix& mix : mixes()) {
    AdaptOptions options;
    options.quant.method = mix.name;
    const Model there = adapt(mixture(), row(), options).model;
    EXPECT_EQ(file_type(there), numbers.at(mix.name)) << mix.name;
    EXPECT_EQ(file_type(adapt(narrow, row(), options).model), numbers.at(mix.name)) << mix.name;
    // Decoded again, in a container of another program.
    EXPECT_EQ(file_type(adapt(there, *find_format("zt"), {.dtype = DType::f16}).model), 1);
    // The tensors have the type already, whatever the file type was.
    Model renamed = there;
    renamed.metadata.set("general.file_type", 1);
    EXPECT_EQ(file_type(adapt(renamed, row(), options).model), numbers.at(mix.name)) << mix.name;
  }
}

TEST(GgufOptions, ImportanceKnowsTheNamesOfBeforeAndSaysWhatItLacks) {
  AdaptOptions options;
  options.quant.method = "q4_k";
  options.quant.importance["model.layers.0.self_attn.q_proj.weight"] = std::vector<float>(256, 1);
  const Adapted adapted = adapt(mixture(), row(), options);
  EXPECT_TRUE(std::ranges::any_of(adapted.changes, [](const Change& change) {
    return change.detail.find("have no importance values") != std::string::npos;
  }));
  options.quant.importance = {{"elsewhere.weight", std::vector<float>(256, 1)}};
  EXPECT_EQ(rule_of([&] { adapt(mixture(), row(), options); }), "quantize.importance");
}

// Weights of zero everywhere have no effect.
TEST(GgufOptions, ImportanceOfNothingIsAsNone) {
  AdaptOptions plain, zeros;
  plain.quant.method = zeros.quant.method = "q4_k";
  zeros.quant.importance["blk.0.attn_q.weight"] = std::vector<float>(256, 0);
  const auto blocks = [&](const AdaptOptions& options) {
    return adapt(mixture(), row(), options).model.tensor("blk.0.attn_q.weight")->components.front().blob.bytes();
  };
  EXPECT_EQ(blocks(zeros), blocks(plain));
}

TEST(GgufOptions, AnImatrixOfTheOlderFormNeedsNoSuffix) {
  Bytes bytes;
  const auto put = [&](auto number) {
    bytes.resize(bytes.size() + sizeof number);
    store_le(bytes.data() + bytes.size() - sizeof number, number);
  };
  put(std::int32_t{1});
  put(std::int32_t{3});
  for (const char letter : {'a', '.', 'w'}) bytes.push_back(static_cast<std::byte>(letter));
  put(std::int32_t{2});
  put(std::int32_t{2});
  put(4.0F);
  put(6.0F);
  const Scratch scratch;
  put_file(scratch / "some.imatrix", bytes);
  EXPECT_EQ(read_importance(scratch / "some.imatrix").at("a.w"), (std::vector<float>{2, 3}));
  put_file(scratch / "page.imatrix", to_bytes("<!DOCTYPE html>"));
  EXPECT_NE(rule_of([&] { (void)read_importance(scratch / "page.imatrix"); }), "");
}

TEST(GgufOptions, AKeyThatIsSetCountsForMoreThanTheFileThatRepeatsIt) {
  const Adapted adapted = adapt(mixture(), row(), {.set = {{"llama.context_length", "32"}, {"general.name", "two"}}});
  EXPECT_EQ(adapted.model.config.max_position_embeddings, 32);
  EXPECT_EQ(adapted.model.attachment("config.json"), nullptr);
  EXPECT_NE(adapted.model.attachment("generation_config.json"), nullptr);
  EXPECT_TRUE(std::ranges::any_of(adapted.changes, [](const Change& change) {
    return change.kind == ChangeKind::left_out && change.items == std::vector<std::string>{"config.json"};
  }));
  // A key that no file repeats keeps all files.
  EXPECT_NE(adapt(mixture(), row(), {.set = {{"general.name", "two"}}}).model.attachment("config.json"), nullptr);
  // Typed values take precedence like texts do.
  Map values;
  values.set("llama.context_length", 32);
  values.set("general.name", "two");
  EXPECT_EQ(write_bytes(row(), adapt(mixture(), row(), {.values = values}).model), write_bytes(row(), adapted.model));
}

TEST(GgufOptions, AFileOfAnotherProgramStaysWhatItIs) {
  Model model;
  model.config.model_type = "somebodys";
  model.tensors = {waves("a.b.c", {4, 32})};
  const Bytes bytes = write_bytes(row(), model);
  const Model there = open(memory_source(bytes, "m.gguf"));
  EXPECT_EQ(write_bytes(row(), adapt(there, row()).model), bytes);
}

TEST(GgufOptions, TheOrderOfKeysDoesNotDependOnTheWay) {
  const Bytes bytes = write_bytes(row(), adapt(mixture(), row(), {.set = {{"z.last", "1"}, {"a.first", "2"}}}).model);
  const Model there = open(memory_source(bytes, "m.gguf"));
  const Format& other = *find_format("zt");
  const Model between = open(memory_source(write_bytes(other, adapt(there, other).model), "m"));
  EXPECT_TRUE(write_bytes(row(), adapt(between, row()).model) == bytes);
}

TEST(GgufOptions, NamesThatAreKeptAreTold) {
  const Model there = open(memory_source(write_bytes(row(), adapt(mixture(), row()).model), "m.gguf"));
  const auto told = [&](const Format& target) {
    const Adapted adapted = adapt(there, target, {.weights_only = true});
    return std::ranges::any_of(adapted.changes, [](const Change& change) {
      return change.detail.find("keep their names and row order") != std::string::npos;
    });
  };
  EXPECT_TRUE(told(*find_format("safetensors")));
  EXPECT_FALSE(told(*find_format("hf")));
}

}  // namespace
}  // namespace tare
