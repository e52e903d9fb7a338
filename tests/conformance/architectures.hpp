// Tensors with made-up bytes, and models of the architectures that a format may be bound to
// (Capabilities::architecture).
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include "formats/format.hpp"

namespace tare::testing {

// Pseudo-random bytes, the same for the same seed.
inline Bytes noise(std::size_t count, std::uint64_t seed) {
  Bytes bytes(count);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (std::byte& b : bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    b = static_cast<std::byte>(state >> 32);
  }
  return bytes;
}

// Valid, finite elements of any type: small codes; 0 and 1 for booleans.
inline Bytes elements(DType dtype, std::uint64_t count, std::uint64_t seed) {
  Bytes bytes = noise(static_cast<std::size_t>(count) * size_of(dtype), seed);
  if (dtype == DType::boolean)
    for (std::byte& b : bytes) b &= std::byte{1};
  // With the top exponent bit cleared, no float type is infinite or NaN.
  if (is_float(dtype))
    for (std::size_t i = size_of(dtype) - 1; i < bytes.size(); i += size_of(dtype)) bytes[i] &= std::byte{0x3F};
  return bytes;
}

inline Tensor make_dense(std::string name, Shape shape, DType dtype, std::string type = {}, std::uint64_t seed = 1) {
  const LogicalType* const logical = find_logical_type(type);
  const std::uint64_t per = logical == nullptr ? 1 : logical->per_element;
  const std::uint64_t count = *shape.elements() * per;
  return dense(std::move(name), std::move(shape), dtype, Blob::memory(elements(dtype, count, seed)), std::move(type));
}

struct TinyLlamaSizes {
  int dim, layers, heads, ffn, positions, vocab;
  double dropout = 0.25;
};

// With config and metadata, as far as `holds` has fields for them.
inline Model tiny_llama_model(const TinyLlamaSizes& s, const Capabilities& holds, std::uint64_t seed = 1) {
  Model model;
  const auto add = [&](std::string name, std::initializer_list<int> shape) {
    Shape dims;
    for (const int size : shape) dims.push_back(static_cast<std::uint64_t>(size));
    model.tensors.push_back(make_dense(std::move(name), std::move(dims), DType::f32, "", seed++));
  };
  add("embedding.weight", {s.vocab, s.dim});
  add("position_embedding.weight", {s.positions, s.dim});
  for (int n = 0; n < s.layers; ++n) {
    const std::string layer = "layers." + std::to_string(n) + ".";
    for (const char* const part : {"query", "key", "value", "output"})
      add(layer + "attention." + part + ".weight", {s.dim, s.dim});
    add(layer + "ffn.linear1.weight", {s.dim, s.ffn});
    add(layer + "ffn.linear1.bias", {s.ffn});
    add(layer + "ffn.linear2.weight", {s.ffn, s.dim});
    add(layer + "ffn.linear2.bias", {s.dim});
    for (const char* const part : {"norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"})
      add(layer + part, {s.dim});
  }
  add("output.weight", {s.dim, s.vocab});
  Map config;
  const auto put = [&](std::string_view key, int value) {
    if (holds.config && holds.has_field(key)) config.set(key, value);
  };
  put("vocab_size", s.vocab);
  put("hidden_size", s.dim);
  put("intermediate_size", s.ffn);
  put("num_hidden_layers", s.layers);
  put("num_attention_heads", s.heads);
  put("max_position_embeddings", s.positions);
  model.config = Config::from_map(config);
  const auto note = [&](std::string_view key, Value value) {
    if (holds.metadata == Room::tree && lists(holds.metadata_keys, key)) model.metadata.set(key, std::move(value));
  };
  note("tllm.num_heads", s.heads);
  note("tllm.max_sequence_length", s.positions);
  note("tllm.dropout", s.dropout);
  return model;
}

enum class Scale { small, full, large, wide };  // a few hundred bytes; a few KiB; over 1 MiB; over 10,000 tensors

inline Model architecture_model(std::string_view architecture, const Capabilities& holds, Scale scale) {
  if (architecture != "tiny_llama") throw std::logic_error("no sample of " + std::string(architecture));
  switch (scale) {
    case Scale::small: return tiny_llama_model({2, 1, 1, 2, 2, 3}, holds);
    case Scale::full: return tiny_llama_model({6, 3, 2, 5, 7, 11}, holds);
    case Scale::large: return tiny_llama_model({16, 1, 4, 8, 16, 1 << 14}, holds);
    case Scale::wide: return tiny_llama_model({1, 840, 1, 1, 1, 1}, holds);
  }
  throw std::logic_error("no such scale");
}

}  // namespace tare::testing
