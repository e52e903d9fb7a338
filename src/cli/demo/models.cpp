#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "base/splitmix64.hpp"
#include "base/text.hpp"
#include "cli/demo/demo.hpp"
#include "resources/resources.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tiny_llama/model.hpp"

namespace tare::cli {
namespace {

// Bell-shaped around 0, within 0.12; as integers, scaled to a byte. <random> would differ between machines.
Blob elements(DType type, std::uint64_t count, std::uint64_t seed) {
  SplitMix64 numbers{seed};
  std::vector<double> values(count);
  for (double& value : values) {
    for (int i = 0; i < 4; ++i) value += static_cast<double>(numbers.next() >> 48) / 65536;
    value = (value - 2) * 0.0625;
    if (!is_float(type)) value = std::trunc(value * 1000);
    if (type >= DType::u64) value = std::abs(value);
    if (type == DType::boolean) value = std::fmod(value, 2);
  }
  return Blob::memory(cast(dense("", {count}, values), type).components[0].blob.bytes());
}

Tensor made(std::string name, Shape shape, DType type, std::uint64_t seed) {
  const std::uint64_t count = shape.elements().value_or(0);
  return dense(std::move(name), std::move(shape), type, elements(type, count, seed));
}

// 8-bit floats: bit patterns from the middle of the range, where none is NaN.
Blob float_codes(std::uint64_t count, std::uint64_t seed) {
  SplitMix64 numbers{seed};
  std::vector<std::uint8_t> codes(count);
  for (std::uint8_t& code : codes) {
    const std::uint64_t bits = numbers.next();
    code = static_cast<std::uint8_t>((0x10 + bits % 0x50) | (bits >> 32 & 0x80));
  }
  return blob_of(codes);
}

Tensor sparse(std::string name, std::string layout, std::initializer_list<Component> parts) {
  Tensor tensor;
  tensor.name = std::move(name), tensor.layout = std::move(layout), tensor.shape = {4, 16};
  tensor.components = parts;
  return tensor;
}
Component places(std::string role, const std::vector<std::uint64_t>& numbers) {
  return {std::move(role), DType::u64, {}, blob_of(numbers)};
}

// Adds one matrix for every method that accepts rows of any length.
void add_quantized(Model& model) {
  std::uint64_t seed = 50;
  for (const Codec& codec : codecs())
    for (const std::string_view method : codec.methods) {
      if (codec.encode == nullptr || codec.row_multiple != 1) continue;
      EncodeOptions options;
      options.method = method;
      model.tensors.push_back(
          codec.encode(made(fmt::format("quantized.{}.weight", method), {16, 64}, DType::f32, seed++), options));
    }
}

// The three special tokens, then pieces that are separated by blanks. `step`: the score decreases by this.
Vocabulary vocabulary_of(std::string_view kind, std::string_view pieces, float step) {
  Vocabulary words;
  words.kind = kind;
  words.unk = 0, words.bos = 1, words.eos = 2;
  words.tokens = {{"<unk>", 0, TokenType::unknown}, {"<s>", 0, TokenType::control}, {"</s>", 0, TokenType::control}};
  std::istringstream text{std::string(pieces)};
  for (std::string piece; text >> piece;)
    words.tokens.push_back({piece, -static_cast<float>(words.tokens.size()) * step, TokenType::normal});
  return words;
}

Attachment file(std::string name, std::string_view text) { return {std::move(name), Blob::memory(to_bytes(text))}; }

const std::pair<std::string_view, Shape> kLayer[] = {
    {"input_layernorm", {64}},      {"self_attn.q_proj", {64, 64}}, {"self_attn.k_proj", {32, 64}},
    {"self_attn.v_proj", {32, 64}}, {"self_attn.o_proj", {64, 64}}, {"post_attention_layernorm", {64}},
    {"mlp.gate_proj", {128, 64}},   {"mlp.up_proj", {128, 64}},     {"mlp.down_proj", {64, 128}}};

}  // namespace

Model demo_model() {
  Model model;
  auto& tensors = model.tensors;
  tensors.push_back(made("embed.weight", {12, 64}, DType::bf16, 1));
  tensors.push_back(made("layers.0.attention.weight", {64, 64}, DType::f16, 2));
  tensors.push_back(made("layers.0.mlp.weight", {128, 64}, DType::f32, 3));
  tensors.push_back(made("layers.0.norm.weight", {64}, DType::f32, 4));
  std::uint64_t seed = 10;
  for (const DType type : kAllDTypes)
    tensors.push_back(made(fmt::format("types.{}", name_of(type)), {3, 5}, type, seed++));
  for (const LogicalType& type : known_logical_types()) {
    Blob blob =
        size_of(type.storage) == 1 ? float_codes(15, seed) : elements(type.storage, 15 * type.per_element, seed);
    tensors.push_back(
        dense(fmt::format("types.{}", type.name), {3, 5}, type.storage, std::move(blob), std::string(type.name)));
    ++seed;
  }
  tensors.push_back(made("shapes.scalar", {}, DType::f64, 30));
  tensors.push_back(made("shapes.empty", {0, 4}, DType::f32, 31));
  tensors.push_back(made("shapes.deep", {2, 1, 3, 1, 2}, DType::i16, 32));
  tensors.push_back(sparse("router.weight", "sparse_csr",
                           {{"values", DType::f32, {}, elements(DType::f32, 6, 40)},
                            places("indices", {1, 9, 0, 3, 15, 8}),
                            places("indptr", {0, 2, 2, 5, 6})}));
  tensors.push_back(
      sparse("router.bias", "sparse_coo",
             {{"values", DType::f16, {}, elements(DType::f16, 3, 41)}, places("coords", {0, 1, 3, 5, 0, 15})}));
  add_quantized(model);
  model.metadata.set("general.name", "demo");
  model.metadata.set("general.layers", 1);
  model.metadata.set("general.languages", List{Value("en"), Value("de")});
  model.config.model_type = "demo";
  model.config.vocab_size = 12;
  model.config.hidden_size = 64;
  model.config.intermediate_size = 128;
  model.config.num_hidden_layers = 1;
  model.config.num_attention_heads = 4;
  model.config.rms_norm_eps = 1e-5;
  model.vocabulary = vocabulary_of("spm", "▁the ▁weight ▁of ▁a ▁container ing s ▁tare", 1);
  model.vocabulary.tokens.push_back({"\xff", -20, TokenType::byte});
  model.attachments = {file("README.txt", "Made by `tare demo`.\n")};
  return model;
}

Model tiny_llama_model() {
  const tiny_llama::TinyLlamaModel llama(
      {.model_dim = 16, .num_layers = 2, .num_heads = 2, .ffn_hidden_dim = 32, .max_seq_length = 24, .vocab_size = 40});
  Model model = llama.to_model();
  for (Tensor& tensor : model.tensors)  // they borrow from `llama`
    tensor.components[0].blob = Blob::memory(tensor.components[0].blob.bytes());
  return model;
}

Model mistral_model() {
  Model model;
  auto& tensors = model.tensors;
  tensors.push_back(made("model.embed_tokens.weight", {96, 64}, DType::bf16, 190));
  for (std::uint64_t layer = 0, seed = 200; layer < 2; ++layer, seed = 220)
    for (const auto& [name, shape] : kLayer)
      tensors.push_back(made(fmt::format("model.layers.{}.{}.weight", layer, name), shape, DType::bf16, seed++));
  tensors.push_back(made("model.norm.weight", {64}, DType::bf16, 191));
  tensors.push_back(made("lm_head.weight", {96, 64}, DType::bf16, 192));
  const std::vector<EmbeddedFile> files = mistral_files();  // config.json, generation_config.json, pieces.txt
  const Vocabulary vocabulary = vocabulary_of("unigram", files[2].text, 0.125F);
  model.attachments = {file("config.json", files[0].text), file("generation_config.json", files[1].text),
                       file("tokenizer.json", resources::tokenizer_json(vocabulary)),
                       file("tokenizer_config.json", resources::tokenizer_config_json(vocabulary))};
  model.metadata.set("format", "pt");
  Diagnostics quiet;
  resources::describe(model, quiet);
  return model;
}

Model lora_model() {
  constexpr std::uint64_t kWidth = 64, kRank = 2;
  const std::string matrix = "base_model.model.model.layers.0.self_attn.q_proj";
  Model model;
  const auto add = [&](std::string_view part, Shape shape) {
    model.tensors.push_back(dense(fmt::format("{}.{}.weight", matrix, part), std::move(shape), DType::f32,
                                  blob_of(std::vector<float>(kRank * kWidth, 0.01F))));
  };
  add("lora_A", {kRank, kWidth});
  add("lora_B", {kWidth, kRank});
  return model;
}

}  // namespace tare::cli
