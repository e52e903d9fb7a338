// Random models within what a container can hold.
#pragma once

#include "conformance/architectures.hpp"
#include "script.hpp"
#include "tare/codec.hpp"

namespace tare::fuzz {

// Valid UTF-8 with characters that tend to need escaping.
inline std::string any_text(Script& script) {
  static const std::string kPieces[] = {"a",
                                        "b",
                                        "layer",
                                        ".",
                                        "0",
                                        "/",
                                        "\"",
                                        "\\",
                                        " ",
                                        "\n",
                                        "\xC3\xA4",
                                        "\xE5\xB1\xA4",
                                        "\xF0\x9F\x98\x80",
                                        "'",
                                        "\x01",
                                        std::string(1, '\0'),
                                        "$bytes",
                                        "\xE2\x80\xAE",
                                        "\x7F",
                                        "__metadata__"};
  std::string text;
  for (std::size_t i = script.below(6); i > 0; --i) text += kPieces[script.below(std::size(kPieces))];
  return text;
}

inline std::uint64_t any_number(Script& script) {
  std::uint64_t number = 0;
  for (std::size_t i = script.below(9); i > 0; --i) number = number << 8 | script.byte();
  return number;
}

inline Map any_map(Script& script, int depth);

inline Value any_value(Script& script, int depth) {
  switch (script.below(depth > 0 ? 9 : 7)) {
    case 0: return {};
    case 1: return script.coin();
    case 2: return any_number(script);
    case 3: return -static_cast<std::int64_t>(any_number(script) >> 1);
    case 4: return static_cast<double>(any_number(script)) / 16;
    case 5: return any_text(script);
    case 6: return script.take(script.below(9));
    case 7: {
      List list;
      for (std::size_t i = script.below(5); i > 0; --i) list.push_back(any_value(script, depth - 1));
      return list;
    }
    default: return any_map(script, depth - 1);
  }
}

inline Map any_map(Script& script, int depth) {
  Map map;
  for (std::size_t i = script.below(5); i > 0; --i) {
    const std::string key = any_text(script);
    map.set(key, any_value(script, depth));
  }
  return map;
}

inline Shape any_shape(Script& script) {
  Shape shape;
  for (std::size_t i = script.below(5); i > 0; --i) shape.push_back(script.below(8));
  return shape;
}

inline Tensor any_tensor(Script& script, const Capabilities& holds, const std::string& name) {
  std::vector<const LogicalType*> logical;
  for (const LogicalType& type : known_logical_types())
    if (lists(holds.logical_types, type.name)) logical.push_back(&type);
  std::vector<std::pair<const Codec*, std::string_view>> methods;
  for (const Codec& codec : codecs())
    if (codec.encode != nullptr && lists(holds.layouts, codec.layout))
      for (const std::string_view method : codec.methods) methods.emplace_back(&codec, method);
  const std::size_t kind = script.below(4);
  const std::uint64_t seed = script.word();
  if (kind == 0 && !logical.empty()) {
    const LogicalType& type = *script.one_of(logical);
    return testing::make_dense(name, any_shape(script), type.storage, std::string(type.name), seed);
  }
  if (kind == 1 && !methods.empty()) {
    const auto& [codec, method] = script.one_of(methods);
    // Rows of whole blocks, if the method requires that.
    const std::uint64_t rows = 1 + script.below(3), wanted = 1 + script.below(300);
    const Shape shape = {rows, (wanted + codec->row_multiple - 1) / codec->row_multiple * codec->row_multiple};
    return codec->encode(
        testing::make_dense(name, shape, DType::f32, "", seed),
        {.method = std::string(method), .fast = script.coin(), .range = codec->ranged && script.coin()});
  }
  return testing::make_dense(name, any_shape(script), script.one_of(holds.dtypes), "", seed);
}

inline void add_vocabulary(Script& script, const Capabilities& holds, Vocabulary& vocabulary) {
  const auto keeps = [&](std::string_view part) { return lists(holds.vocabulary_parts, part); };
  for (std::size_t i = script.below(8); i > 0; --i) {
    Token token{std::to_string(i) + any_text(script)};
    if (keeps("scores")) token.score = static_cast<float>(script.byte()) / 4;
    if (keeps("types")) token.type = static_cast<TokenType>(script.below(9));
    vocabulary.tokens.push_back(token);
  }
  if (vocabulary.tokens.empty()) return;
  if (keeps("kind")) vocabulary.kind = script.coin() ? "bpe" : "spm";
  if (keeps("merges") && script.coin()) vocabulary.merges = {"a b", "l l"};
  if (script.coin()) vocabulary.bos = static_cast<std::int64_t>(script.below(vocabulary.tokens.size()));
  if (script.coin()) vocabulary.unk = static_cast<std::int64_t>(script.below(vocabulary.tokens.size()));
}

inline Config any_config(Script& script, const Capabilities& holds) {
  Map map;
  const auto put = [&](std::string_view key, Value value) {
    if (holds.has_field(key)) map.set(key, std::move(value));
  };
  put("model_type", "llama");
  put("hidden_size", 1 + script.byte());
  put("max_position_embeddings", 1 + script.word());
  put("rope_theta", 1 + script.word() / 16.0);
  put("tie_word_embeddings", script.coin());
  return Config::from_map(map);
}

inline Model any_model(Script& script, const Capabilities& holds, std::string_view architecture) {
  if (!architecture.empty()) {
    const int heads = 1 + static_cast<int>(script.below(3));
    const auto size = [&](std::size_t most) { return 1 + static_cast<int>(script.below(most)); };
    return testing::tiny_llama_model({heads * size(3), size(3), heads, size(5), size(5), size(5), 0.5}, holds, 7);
  }
  Model model;
  const std::size_t count = holds.many_tensors ? script.below(6) : 1;
  for (std::size_t i = 0; i < count; ++i) {
    // Names that every container accepts: unique, not empty, no NUL.
    std::string name = std::to_string(i) + any_text(script);
    std::replace(name.begin(), name.end(), '\0', '0');
    model.tensors.push_back(any_tensor(script, holds, name));
    if (holds.tensor_attributes && model.tensors.back().is_dense() && script.below(3) == 1)
      model.tensors.back().attributes = any_map(script, 2);
  }
  if (holds.metadata == Room::tree && lists(holds.metadata_keys, "*")) model.metadata = any_map(script, 3);
  if (holds.attachments && script.coin())
    model.attachments = {{"a/b.txt", Blob::memory(script.take(script.below(200)))}};
  if (holds.vocabulary && script.coin()) add_vocabulary(script, holds, model.vocabulary);
  if (holds.config && script.coin()) model.config = any_config(script, holds);
  return model;
}

}  // namespace tare::fuzz
