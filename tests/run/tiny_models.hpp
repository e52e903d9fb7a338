// Tiny models for the tests of src/run: weights that are a function of their names, so that other programs can make the
// same ones (tests/real/run.py).
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "resources/config_file.hpp"
#include "resources/json_file.hpp"
#include "tare/model.hpp"
#include "tare/run.hpp"
#include "wire/value_json.hpp"

namespace tare::testing {

// Numbers in [-1, 1), with 24 bits, from the FNV-1a hash of a name.
inline std::vector<float> numbers_of(std::string_view name, std::size_t count, float scale, float middle) {
  std::uint64_t state = 0xCBF29CE484222325u;
  for (const char c : name) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  std::vector<float> numbers(count);
  for (float& number : numbers) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    number = middle + scale * (static_cast<float>(state >> 40) * 0x1p-23f - 1);
  }
  return numbers;
}

struct TinyShape {
  std::uint64_t vocabulary = 53, hidden = 20, intermediate = 37, layers = 3, heads = 4, kv_heads = 2, head = 6;
  bool tied = false, biases = false;
};

inline void add_tensor(Model& model, std::string name, std::vector<std::uint64_t> sizes) {
  std::size_t count = 1;
  Shape shape;
  for (const std::uint64_t size : sizes) {
    count *= static_cast<std::size_t>(size);
    shape.push_back(size);
  }
  const bool is_norm = name.find("norm") != name.npos;
  const auto columns = static_cast<float>(sizes.back());
  model.tensors.push_back(dense<float>(name, shape,
                                       numbers_of(name, count,
                                                  is_norm             ? 0.2f
                                                  : sizes.size() == 1 ? 0.3f
                                                                      : 2 / std::sqrt(columns),
                                                  is_norm ? 1 : 0)));
}

inline void set_config(Model& model, std::string text) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  std::erase_if(model.attachments, [](const Attachment& file) { return file.name == "config.json"; });
  model.attachments.push_back({"config.json", Blob::memory(Bytes(bytes, bytes + text.size()))});
}

// `more`: further keys, each with a comma before it.
inline std::string tiny_config(std::string_view type, const TinyShape& shape, std::string_view more = {}) {
  return fmt::format(R"({{"model_type": "{}", "vocab_size": {}, "hidden_size": {}, "intermediate_size": {},
    "num_hidden_layers": {}, "num_attention_heads": {}, "num_key_value_heads": {}, "head_dim": {},
    "tie_word_embeddings": {}, "max_position_embeddings": 256, "rms_norm_eps": 1e-05{}}})",
                     type, shape.vocabulary, shape.hidden, shape.intermediate, shape.layers, shape.heads,
                     shape.kv_heads, shape.head, shape.tied, more);
}

// Llama's tensors, which most families have.
inline Model tiny_model(std::string_view type, const TinyShape& shape, std::string_view more = {}) {
  Model model;
  add_tensor(model, "model.embed_tokens.weight", {shape.vocabulary, shape.hidden});
  const std::uint64_t queries = shape.heads * shape.head, keys = shape.kv_heads * shape.head;
  for (std::uint64_t layer = 0; layer < shape.layers; ++layer) {
    const auto add = [&](std::string_view name, std::vector<std::uint64_t> sizes) {
      add_tensor(model, fmt::format("model.layers.{}.{}", layer, name), std::move(sizes));
    };
    add("input_layernorm.weight", {shape.hidden});
    for (const auto& [name, rows] : {std::pair("q", queries), {"k", keys}, {"v", keys}}) {
      add(fmt::format("self_attn.{}_proj.weight", name), {rows, shape.hidden});
      if (shape.biases) add(fmt::format("self_attn.{}_proj.bias", name), {rows});
    }
    add("self_attn.o_proj.weight", {shape.hidden, queries});
    add("post_attention_layernorm.weight", {shape.hidden});
    add("mlp.gate_proj.weight", {shape.intermediate, shape.hidden});
    add("mlp.up_proj.weight", {shape.intermediate, shape.hidden});
    add("mlp.down_proj.weight", {shape.hidden, shape.intermediate});
  }
  add_tensor(model, "model.norm.weight", {shape.hidden});
  if (!shape.tied) add_tensor(model, "lm_head.weight", {shape.vocabulary, shape.hidden});
  set_config(model, tiny_config(type, shape, more));
  return model;
}

inline constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz.,!?ABCDEFGHIJKLMNOP";  // 46

// Each letter is a token, and so is the blank (SentencePiece's sign for it).
inline Model speaking_model() {
  Model model = tiny_model("llama", TinyShape());
  Vocabulary& words = model.vocabulary;
  words.kind = "spm";
  words.tokens = {{"<unk>", 0, TokenType::unknown},
                  {"<s>", 0, TokenType::control},
                  {"</s>", 0, TokenType::control},
                  {"\u2581", -1}};
  for (const char letter : kLetters) words.tokens.push_back({std::string(1, letter), -2});
  words.tokens.push_back({"th", -0.6f});
  words.tokens.push_back({"the", -0.5f});
  words.tokens.push_back({"<0x21>", 0, TokenType::byte});
  words.bos = 1, words.eos = 2, words.unk = 0;
  return model;
}

// A model of a family that transformers has run (tests/real/run.py recorded it), with what it recorded.
struct GoldenModel {
  std::string name;
  Model model;
  Map facts;
};
inline std::vector<GoldenModel> golden_models() {
  std::ifstream file(std::string(TARE_TEST_DIR) + "/run/golden.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<GoldenModel> all;
  for (const Value& one : resources::parse_small_json_list(text)) {
    GoldenModel& made = all.emplace_back();
    made.facts = *one.get<Map>();
    made.name = *made.facts.find("name")->text();
    set_config(made.model, to_json(*made.facts.find("config")));
    for (const auto& [tensor, shape] : *made.facts.find("tensors")->get<Map>()) {
      std::vector<std::uint64_t> sizes;
      for (const Value& size : *shape.get<List>())
        sizes.push_back(static_cast<std::uint64_t>(*size.get<std::int64_t>()));
      add_tensor(made.model, tensor, sizes);
    }
  }
  return all;
}

inline std::vector<std::int32_t> tiny_tokens(std::size_t count, std::uint64_t vocabulary) {
  std::vector<std::int32_t> tokens(count);
  for (std::size_t i = 0; i < count; ++i) tokens[i] = static_cast<std::int32_t>((i * i * 7 + i * 3 + 1) % vocabulary);
  return tokens;
}

}  // namespace tare::testing
