// Mixes of methods, the fallback for rows that are not whole blocks, and llama.cpp's importance values.
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "conformance/gguf_cases.hpp"
#include "conformance/models.hpp"
#include "conformance/scratch.hpp"
#include "convert/adapt.hpp"
#include "convert/recipe.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Tensor matrix(const std::string& name, std::uint64_t rows, std::uint64_t columns) {
  return make_dense(name, {rows, columns}, DType::f32, "", rows + columns);
}

// 32 layers; four heads share a key.
Model small_llama(bool tied = false) {
  Model model;
  model.config.model_type = "llama";
  model.config.num_attention_heads = 8;
  model.config.num_key_value_heads = 2;
  model.tensors = {matrix("token_embd.weight", 2, 256), make_dense("output_norm.weight", {256}, DType::f32)};
  if (!tied) model.tensors.push_back(matrix("output.weight", 2, 256));
  for (int layer = 0; layer < 32; ++layer)
    for (const char* const name : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"})
      model.tensors.push_back(matrix("blk." + std::to_string(layer) + "." + name + ".weight", 1, 256));
  return model;
}

std::map<std::string, std::string> types_of(const std::string& mix, Model model) {
  AdaptOptions options;
  options.quant.method = mix;
  std::map<std::string, std::string> types;
  for (const Tensor& tensor : adapt(std::move(model), *find_format("gguf"), options, {.threads = 1}).model.tensors)
    types[tensor.name] = tensor.is_dense() ? "f32" : tensor.layout.substr(5);
  return types;
}

std::string layers_with(const std::map<std::string, std::string>& types, const std::string& name,
                        const std::string& type) {
  std::string layers;
  for (int layer = 0; layer < 32; ++layer)
    if (types.at("blk." + std::to_string(layer) + "." + name + ".weight") == type)
      layers += std::to_string(layer) + " ";
  return layers;
}

TEST(Mixes, AreLlamaCpps) {
  const std::string spread = "0 1 2 3 6 9 12 15 18 21 24 27 28 29 30 31 ";
  auto types = types_of("q4_k_m", small_llama());
  EXPECT_EQ(types["output.weight"], "q6_k");
  EXPECT_EQ(types["token_embd.weight"], "q4_k");
  EXPECT_EQ(types["output_norm.weight"], "f32");
  EXPECT_EQ(layers_with(types, "attn_v", "q6_k"), spread);
  EXPECT_EQ(layers_with(types, "ffn_down", "q6_k"), spread);
  EXPECT_EQ(layers_with(types, "attn_q", "q6_k"), "");
  types = types_of("q4_k_s", small_llama());
  EXPECT_EQ(layers_with(types, "attn_v", "q5_k"), "0 1 2 3 ");
  EXPECT_EQ(layers_with(types, "ffn_down", "q5_k"), "0 1 2 3 ");
  types = types_of("q3_k_m", small_llama());
  EXPECT_EQ(layers_with(types, "attn_v", "q5_k"), "0 1 ");
  EXPECT_EQ(types["blk.9.attn_v.weight"], "q4_k");
  EXPECT_EQ(types["blk.9.attn_output.weight"], "q4_k");
  EXPECT_EQ(layers_with(types, "ffn_down", "q5_k"), "0 1 ");
  types = types_of("q2_k", small_llama());
  EXPECT_EQ(types["blk.9.attn_v.weight"], "q4_k") << "four heads share it";
  EXPECT_EQ(types["blk.9.attn_output.weight"], "q3_k");
  EXPECT_EQ(types["blk.9.ffn_up.weight"], "q2_k");
  EXPECT_EQ(types_of("q5_k_s", small_llama(true))["token_embd.weight"], "q6_k") << "the table is the head";
}

// A line of data/llama_mixes.txt: the choices of llama.cpp's quantizer for a model of this kind.
struct RecordedMix {
  std::string line, architecture, shape, mix, weighted;
  int layers = 0, sharing = 0, tied = 0;
  std::uint64_t experts = 0, width = 0, inner = 0;
  std::map<std::string, std::string> types;  // for roles with several types: "q6_k*2,q4_k*3"
};

RecordedMix recorded_mix(const std::string& line) {
  RecordedMix recorded;
  recorded.line = line;
  std::istringstream words(line);
  std::string layers, sharing, experts, tied, word;
  words >> recorded.architecture >> layers >> sharing >> experts >> tied >> recorded.shape >> recorded.mix >>
      recorded.weighted;
  const auto number = [](const std::string& text) { return std::stoi(text.substr(text.find('=') + 1)); };
  recorded.layers = number(layers);
  recorded.sharing = number(sharing);
  recorded.experts = static_cast<std::uint64_t>(number(experts));
  recorded.tied = number(tied);
  recorded.width = std::stoull(recorded.shape);
  recorded.inner = std::stoull(recorded.shape.substr(recorded.shape.find('x') + 1));
  while (words >> word) recorded.types[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  return recorded;
}

Model model_of(const RecordedMix& recorded) {
  Model model;
  model.config.model_type = recorded.architecture;
  model.config.num_attention_heads = 8 * recorded.sharing;
  model.config.num_key_value_heads = 8;
  model.config.num_hidden_layers = recorded.layers;
  const auto add = [&](const std::string& name, std::uint64_t columns, bool stack = false) {
    std::vector<std::uint64_t> shape{2, columns};
    if (stack) shape.insert(shape.begin(), recorded.experts);
    model.tensors.push_back(make_dense(name + ".weight", Shape(shape), DType::f32));
  };
  add("token_embd", recorded.width);
  if (recorded.tied == 0) add("output", recorded.width);
  for (int layer = 0; layer < recorded.layers; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    const std::string stack = recorded.experts > 0 ? "_exps" : "";
    for (const char* const role : {"attn_q", "attn_k", "attn_v", "attn_output"}) add(block + role, recorded.width);
    for (const char* const role : {"ffn_gate", "ffn_up"}) add(block + role + stack, recorded.width, !stack.empty());
    add(block + "ffn_down" + stack, recorded.inner, !stack.empty());
  }
  return model;
}

std::string main_type(const std::string& mix) {
  if (mix == "iq2_m") return "iq2_s";
  if (mix == "iq2_s") return "iq2_xs";
  if (mix == "iq3_m" || mix == "iq3_xs") return "iq3_s";
  if (mix.starts_with("iq")) return mix;
  return mix.ends_with("_s") || mix.ends_with("_m") || mix.ends_with("_l") ? mix.substr(0, mix.size() - 2) : mix;
}

// In the form of a line of the data.
std::map<std::string, std::string> chosen_types(const Model& model, const RecordedMix& recorded, bool weighted) {
  Quantization how;
  how.method = recorded.mix;
  if (weighted) how.importance["blk.0.attn_q.weight"] = std::vector<float>(recorded.width, 1);
  const auto decisions = recipe::decide(model, how, {}, {*find_format("gguf"), [](const Tensor&) { return 0; }}, 1);
  std::map<std::string, std::vector<std::string>> by_role;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const std::string& name = model.tensors[i].name;
    const std::size_t role = name.starts_with("blk.") ? name.find('.', 4) + 1 : 0;
    // For short rows of q2_k and q3_k, the recorded quantizer chose iq4_nl; see as_of_today.
    const bool small = recorded.mix.starts_with("iq");
    by_role[name.substr(role, name.rfind('.') - role)].push_back(
        small && decisions[i].method == "q4_0" ? std::string("iq4_nl") : decisions[i].method);
  }
  std::map<std::string, std::string> chosen;
  for (const auto& [role, types] : by_role) {
    if (std::ranges::all_of(types, [&](const std::string& type) { return type == main_type(recorded.mix); })) continue;
    std::string& text = chosen[role];
    for (std::size_t i = 0, end = 0; i < types.size(); i = end) {
      while (end < types.size() && types[end] == types[i]) ++end;
      text += (text.empty() ? "" : ",") + types[i];
      if (role != "token_embd" && role != "output") text += "*" + std::to_string(end - i);
    }
  }
  return chosen;
}

// The recorded quantizer differs from llama.cpp b21e4de745 in one case: for rows that are not whole blocks of q2_k or
// q3_k it chose iq4_nl, which is q4_0 now.
std::map<std::string, std::string> as_of_today(RecordedMix recorded) {
  if (!recorded.mix.starts_with("q2_k") && !recorded.mix.starts_with("q3_k")) return recorded.types;
  for (auto& [role, types] : recorded.types)
    for (std::size_t at = types.find("iq4_nl"); at != std::string::npos; at = types.find("iq4_nl"))
      types.replace(at, 6, "q4_0");
  return recorded.types;
}

TEST(Mixes, ChooseTheTypesOfLlamaCppsQuantizer) {
  std::ifstream file(std::string(TARE_TEST_DIR) + "/convert/data/llama_mixes.txt");
  std::set<std::string> names;
  std::size_t lines = 0;
  std::string kind;  // identifies the model
  Model model;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    ++lines;
    const RecordedMix recorded = recorded_mix(line);
    names.insert(recorded.mix);
    if (const std::string now = line.substr(0, line.find(' ' + recorded.mix + ' ')); now != kind) {
      kind = now;
      model = model_of(recorded);
    }
    for (const bool weighted : {false, true}) {
      if (recorded.weighted == (weighted ? "-" : "+")) continue;
      EXPECT_EQ(chosen_types(model, recorded, weighted), as_of_today(recorded)) << line;
    }
  }
  EXPECT_GT(lines, 400U);
  // Aliases, and mixes that the recorded quantizer did not have, are tested below.
  for (const Mix& mix : mixes())
    EXPECT_TRUE(names.contains(std::string(mix.name)) || mix.name == "q3_k" || mix.name == "q4_k" ||
                mix.name == "q5_k" || mix.name == "mxfp4_moe")
        << mix.name;
}

TEST(Mixes, ANameWithoutASizeIsTheMediumOne) {
  for (const std::string name : {"q3_k", "q4_k", "q5_k"})
    EXPECT_EQ(types_of(name, small_llama()), types_of(name + "_m", small_llama()));
  const auto types = types_of("q2_k_s", small_llama());
  EXPECT_EQ(layers_with(types, "ffn_down", "q4_k"), "0 1 2 3 ");
  EXPECT_EQ(types.at("blk.9.attn_v.weight"), "q4_k") << "four heads share it";
  EXPECT_EQ(types.at("blk.9.attn_output.weight"), "q2_k");
}

// As in llama.cpp b21e4de745: q, k and v in one tensor count as v; the shared expert's ffn_down counts like the others.
TEST(Mixes, FusedAndSharedTensors) {
  Model fused;
  fused.config.model_type = "phi3";
  fused.config.num_attention_heads = fused.config.num_key_value_heads = 8;
  for (int layer = 0; layer < 16; ++layer)
    for (const char* const name : {"attn_qkv", "attn_output", "ffn_up", "ffn_down"})
      fused.tensors.push_back(matrix("blk." + std::to_string(layer) + "." + name + ".weight", 2, 256));
  const auto types = types_of("q4_k_m", fused);
  EXPECT_EQ(types.at("blk.0.attn_qkv.weight"), "q6_k");
  EXPECT_EQ(types.at("blk.2.attn_qkv.weight"), "q4_k");
  EXPECT_EQ(types.at("blk.4.attn_qkv.weight"), "q6_k");
  Model experts;
  experts.config.model_type = "qwen2_moe";
  for (int layer = 0; layer < 16; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    experts.tensors.push_back(make_dense(block + "ffn_down_exps.weight", {4, 2, 256}, DType::f32));
    experts.tensors.push_back(matrix(block + "ffn_down_shexp.weight", 2, 256));
    experts.tensors.push_back(matrix(block + "attn_q.weight", 2, 256));
  }
  const auto down = types_of("q4_k_m", experts);
  EXPECT_EQ(down.at("blk.0.ffn_down_shexp.weight"), "q6_k");
  EXPECT_EQ(down.at("blk.2.ffn_down_shexp.weight"), "q4_k");
  EXPECT_EQ(down.at("blk.2.ffn_down_exps.weight"), "q4_k");
  const auto floats = types_of("mxfp4_moe", experts);
  EXPECT_EQ(floats.at("blk.0.ffn_down_exps.weight"), "mxfp4");
  EXPECT_EQ(floats.at("blk.0.ffn_down_shexp.weight"), "q8_0");
  EXPECT_EQ(floats.at("blk.0.attn_q.weight"), "q8_0");
}

// One type for all: by `pure`, and by a method's full name.
TEST(Mixes, PureIsOneMethodForAll) {
  for (const Mix& mix : mixes()) {
    AdaptOptions options;
    options.quant.method = mix.name;
    options.quant.pure = true;
    std::set<std::string> layouts;
    for (const Tensor& tensor : adapt(small_llama(true), *find_format("gguf"), options, {.threads = 1}).model.tensors)
      if (tensor.shape.rank() > 1) layouts.insert(tensor.layout);
    EXPECT_EQ(layouts.size(), 1U) << mix.name;
  }
  for (const auto& [name, type] : types_of("ggml.q4_0", small_llama(true)))
    EXPECT_EQ(type, name == "output_norm.weight" ? "f32" : "q4_0") << name;
  AdaptOptions options;
  options.quant.pure = true;
  for (const char* const method : {"k4", "ggml.q4_0", ""}) {
    options.quant.method = method;
    options.quant.rules = {{"*", "keep"}};
    EXPECT_EQ(rule_of([&] { adapt(small_llama(), *find_format("zt"), options); }), "convert.quant") << method;
  }
}

TEST(Mixes, RowsThatAreNotWholeBlocksFallBackAndItIsTold) {
  Model model = small_llama();
  model.tensors.push_back(matrix("blk.0.odd.weight", 2, 96));
  model.tensors.push_back(matrix("blk.0.odder.weight", 2, 20));
  AdaptOptions options;
  options.quant.method = "q4_k_m";
  const Adapted adapted = adapt(model, *find_format("gguf"), options);
  EXPECT_EQ(adapted.model.tensor("blk.0.odd.weight")->layout, "ggml.q5_0");
  EXPECT_EQ(adapted.model.tensor("blk.0.odder.weight")->layout, "dense");
  std::vector<std::string> told;
  for (const Change& change : adapted.changes)
    if (change.kind == ChangeKind::fell_back) told.push_back(to_text(change));
  EXPECT_EQ(
      told,
      (std::vector<std::string>{
          "1 tensor quantized to q5_0 instead of q4_k, which needs rows that are a multiple of 256: blk.0.odd.weight",
          "1 tensor kept, not quantized to q4_k, which needs rows that are a multiple of 256: blk.0.odder.weight"}));
  options.quant.no_fallback = true;
  EXPECT_EQ(rule_of([&] { adapt(model, *find_format("gguf"), options); }), "quantize.rows");
}

TEST(Mixes, ABudgetChoosesAmongTheTypesOfTheContainer) {
  AdaptOptions options;
  options.quant.bits = 5.0;
  const Adapted adapted = adapt(small_llama(), *find_format("gguf"), options, {.threads = 1});
  std::uint64_t bytes = 0, weights = 0;
  for (const Tensor& tensor : adapted.model.tensors) {
    bytes += tensor.bytes();
    weights += *tensor.shape.elements();
  }
  EXPECT_LE(static_cast<double>(bytes) * 8, 5.0 * static_cast<double>(weights));
  EXPECT_GE(static_cast<double>(bytes) * 8, 4.5 * static_cast<double>(weights));
}

// The tensors of ten layers are kept in 32 bits, so about 3 bits are left for the others, a quarter of the budget.
TEST(Mixes, ABudgetTakesFewBitsIfNothingElseFits) {
  AdaptOptions options;
  options.quant.bits = 12.0;
  options.quant.rules = {{"blk.?.*", "keep"}};
  const Adapted adapted = adapt(small_llama(), *find_format("gguf"), options, {.threads = 1});
  std::uint64_t bytes = 0, weights = 0;
  for (const Tensor& tensor : adapted.model.tensors) {
    bytes += tensor.bytes();
    weights += *tensor.shape.elements();
    EXPECT_EQ(tensor.is_dense(), tensor.name == "output_norm.weight" || tensor.name.find('.', 4) == 5) << tensor.name;
  }
  EXPECT_LE(static_cast<double>(bytes) * 8, 12.0 * static_cast<double>(weights));
}

TEST(Importance, AsLlamaCppMeasuresIt) {
  const Scratch scratch;
  GgufFile file;
  file.string("general.type", "imatrix");
  file.tensor("blk.0.attn_q.weight.in_sum2", {3}, 0, 0, gguf_floats(3, 2));
  file.tensor("blk.0.attn_q.weight.counts", {1}, 0, 32, gguf_floats(1, 2));
  file.tensor("e.in_sum2", {2, 2}, 0, 64, gguf_floats(4, 4));  // two experts; the second was never used
  file.tensor("e.counts", {1, 2}, 0, 96, [](GgufText& out) { out.f32(2).f32(0); });
  put_file(scratch / "i.gguf", file.bytes());
  const Importance measured = read_importance(scratch / "i.gguf");
  EXPECT_EQ(measured.at("blk.0.attn_q.weight"), (std::vector<float>{1, 1.5F, 2}));
  EXPECT_EQ(measured.at("e"), (std::vector<float>{1.5F, 1.75F}));
  GgufText old;
  old.u32(1).u32(3).raw("a.b").u32(4).u32(2).f32(8).f32(2).u32(7);
  const Bytes bytes = old.take();
  put_file(scratch / "i.dat", bytes);
  EXPECT_EQ(read_importance(scratch / "i.dat").at("a.b"), (std::vector<float>{2, 0.5F}));
  for (std::size_t length = 0; length + 4 < bytes.size(); ++length) {
    put_file(scratch / "cut.dat", Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)));
    EXPECT_EQ(rule_of([&] { read_importance(scratch / "cut.dat"); }), "importance.truncated") << length;
  }
}

TEST(Recipe, RulesMatchTheNamesThatTensorsHadBefore) {
  Model model;
  model.tensors = {dense("blk.0.attn_q.weight", {32, 32}, std::vector<float>(1024)),
                   dense("blk.0.attn_k.weight", {32, 32}, std::vector<float>(1024))};
  const std::vector<Renamed> renamed = {{"model.layers.0.q_proj.weight", "blk.0.attn_q.weight"},
                                        {"model.layers.0.k_proj.weight", "blk.0.attn_k.weight"}};
  const auto methods = [&](const Quantization& how, const std::vector<Renamed>& names) {
    const auto decisions =
        recipe::decide(model, how, names, {*find_format("gguf"), [](const Tensor&) { return 0; }}, 1);
    return decisions[0].method + " " + decisions[1].method;
  };
  Quantization how;
  how.method = "q8_0";
  how.rules = {{"*q_proj*", "q4_0"}};
  EXPECT_EQ(methods(how, renamed), "q4_0 q8_0");
  EXPECT_EQ(testing::rule_of([&] { (void)methods(how, {}); }), "quantize.rule");
  how.rules = {{"*attn_k*", "q4_1"}, {"*proj*", "q5_0"}};  // the first rule decides, by whichever name
  EXPECT_EQ(methods(how, renamed), "q5_0 q4_1");
}

}  // namespace
}  // namespace tare
