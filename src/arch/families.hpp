// Model families as data: their names in config.json and GGUF, the names of their tensors, and how the tensors of the
// two differ.
//
// Every fact comes from llama.cpp (commit b21e4de7, August 2026): from its converter for changes to tensors, from its
// loader for what it requires.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "arch/roles.hpp"

namespace tare::arch {

enum class Dialect : std::uint8_t { hugging_face, gguf, meta, tiny_llama };
inline constexpr std::array kDialects = {Dialect::hugging_face, Dialect::gguf, Dialect::meta, Dialect::tiny_llama};

// One tensor in every dialect that has a name for it, without root and suffix. {L} is the layer, {E} the expert.
struct Pattern {
  Role role;
  std::string_view hugging_face = {}, gguf = {}, meta = {}, tiny_llama = {};
  // Not the weight of a module: has no ".weight" at the end, except in GGUF, where all have one.
  bool bare = false;

  constexpr std::string_view in(Dialect dialect) const {
    switch (dialect) {
      case Dialect::hugging_face: return hugging_face;
      case Dialect::gguf: return gguf;
      case Dialect::meta: return meta;
      case Dialect::tiny_llama: return tiny_llama;
    }
    return {};
  }
};
using Patterns = std::span<const Pattern>;

enum class Presence : std::uint8_t { never, optional, required };

struct Family {
  std::string_view name;
  // "model_type" of config.json, and entries of its "architectures". The first of each is used for a file that states
  // only GGUF's name; in a multimodal family that is the text model.
  std::span<const std::string_view> model_types, architectures;
  std::string_view gguf;  // "general.architecture"; empty: unknown to GGUF's runtimes
  std::array<Patterns, 7> names;
  // The rows of q and k, weights and biases, have another order in GGUF: see qk_rows.hpp.
  bool permutes_qk = false;
  // Added to the weights of all norms in GGUF.
  float norm_shift = 0;
  // The output head in GGUF. Optional: without one, runtimes use the token table. Required: a tied head is written as a
  // copy.
  Presence head = Presence::optional;
  // A config.json without tie_word_embeddings means that the output head is the token table.
  bool ties = false;
  // A config.json without head_dim does not mean hidden_size / num_attention_heads.
  bool own_head_size = false;
  // The norms of queries and keys have a weight for each element of all heads, not of one head.
  bool wide_qk_norms = false;
  // Roles that may have a bias in GGUF: its runtime refuses a file with any other bias.
  std::span<const Role> biases = {};
};

std::span<const Family> families();
// By a model_type or one of the architectures of config.json; null if there is no such family.
const Family* find_family(std::string_view type_or_architecture);
// By GGUF's general.architecture.
const Family* find_gguf_family(std::string_view architecture);
// By model_type, architecture or GGUF's general.architecture.
const Family* find_family_by_any_name(std::string_view name);
const Family& tiny_llama_family();

}  // namespace tare::arch
