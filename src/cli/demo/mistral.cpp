// A small version of a downloaded language model: Mistral's tensors and files, with a width of 64, 2 layers, 4 heads
// that share 2 pairs of keys and values, and 96 tokens.
#include <fmt/format.h>

#include "cli/demo/model.hpp"
#include "resources/resources.hpp"

namespace tare::cli {
namespace {

constexpr std::uint64_t kWidth = 64, kInner = 128, kKeyValues = 32, kTokens = 96, kLayers = 2;

constexpr std::string_view kConfig = R"({
  "architectures": ["MistralForCausalLM"],
  "bos_token_id": 1,
  "eos_token_id": 2,
  "head_dim": 16,
  "hidden_act": "silu",
  "hidden_size": 64,
  "initializer_range": 0.02,
  "intermediate_size": 128,
  "max_position_embeddings": 32768,
  "model_type": "mistral",
  "num_attention_heads": 4,
  "num_hidden_layers": 2,
  "num_key_value_heads": 2,
  "rms_norm_eps": 1e-05,
  "rope_theta": 10000.0,
  "sliding_window": 4096,
  "tie_word_embeddings": false,
  "torch_dtype": "bfloat16",
  "vocab_size": 96
}
)";

constexpr std::string_view kGeneration = R"({
  "_from_model_config": true,
  "bos_token_id": 1,
  "eos_token_id": 2
}
)";

constexpr std::string_view kPieces[] = {
    "▁",    "▁the",   "▁of",    "▁and",  "▁to",     "▁a",      "▁in",        "▁is",    "▁that", "▁for", "▁it",
    "▁as",  "▁with",  "▁was",   "▁on",   "▁be",     "▁by",     "▁at",        "▁this",  "▁from", "▁or",  "▁an",
    "▁are", "▁not",   "▁model", "▁file", "▁weight", "▁tensor", "▁layer",     "▁token", "▁head", "▁row", "▁byte",
    "▁bit", "▁scale", "▁block", "▁tare", "▁scales", "▁weighs", "▁container", "ing",    "ed",    "er",   "ly",
    "ion",  "s",      "t",      "e",     "a",       "o",       "i",          "n",      "r",     "h",    "l",
    "d",    "u",      "c",      "m",     "f",       "p",       "g",          "w",      "y",     "b",    "v",
    "k",    "x",      "j",      "q",     "z",       "0",       "1",          "2",      "3",     "4",    "5",
    "6",    "7",      "8",      "9",     ".",       ",",       "-",          "'",      "\"",    "(",    ")",
    ":",    ";",      "!",      "?",     "é"};

Vocabulary words() {
  Vocabulary vocabulary;
  vocabulary.kind = "unigram";
  vocabulary.unk = 0, vocabulary.bos = 1, vocabulary.eos = 2;
  vocabulary.tokens = {
      {"<unk>", 0, TokenType::unknown}, {"<s>", 0, TokenType::control}, {"</s>", 0, TokenType::control}};
  for (const std::string_view piece : kPieces)
    vocabulary.tokens.push_back(
        {std::string(piece), -static_cast<float>(vocabulary.tokens.size()) / 8, TokenType::normal});
  return vocabulary;
}
static_assert(std::size(kPieces) + 3 == kTokens);

Attachment file(std::string_view name, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {std::string(name), Blob::memory(Bytes(bytes.begin(), bytes.end()))};
}

void add_layer(std::vector<Tensor>& tensors, std::uint64_t layer) {
  const struct {
    std::string_view name;
    Shape shape;
  } parts[] = {{"input_layernorm", {kWidth}},
               {"self_attn.q_proj", {kWidth, kWidth}},
               {"self_attn.k_proj", {kKeyValues, kWidth}},
               {"self_attn.v_proj", {kKeyValues, kWidth}},
               {"self_attn.o_proj", {kWidth, kWidth}},
               {"post_attention_layernorm", {kWidth}},
               {"mlp.gate_proj", {kInner, kWidth}},
               {"mlp.up_proj", {kInner, kWidth}},
               {"mlp.down_proj", {kWidth, kInner}}};
  std::uint64_t seed = 200 + 20 * layer;
  for (const auto& part : parts)
    tensors.push_back(
        demo_tensor(fmt::format("model.layers.{}.{}.weight", layer, part.name), part.shape, DType::bf16, seed++));
}

}  // namespace

Model mistral_model() {
  Model model;
  auto& tensors = model.tensors;
  tensors.push_back(demo_tensor("model.embed_tokens.weight", {kTokens, kWidth}, DType::bf16, 190));
  for (std::uint64_t layer = 0; layer < kLayers; ++layer) add_layer(tensors, layer);
  tensors.push_back(demo_tensor("model.norm.weight", {kWidth}, DType::bf16, 191));
  tensors.push_back(demo_tensor("lm_head.weight", {kTokens, kWidth}, DType::bf16, 192));

  const Vocabulary vocabulary = words();
  model.attachments = {file("config.json", kConfig), file("generation_config.json", kGeneration),
                       file("tokenizer.json", resources::tokenizer_json(vocabulary)),
                       file("tokenizer_config.json", resources::tokenizer_config_json(vocabulary))};
  model.metadata.set("format", "pt");
  Diagnostics quiet;
  resources::describe(model, quiet);
  return model;
}

}  // namespace tare::cli
