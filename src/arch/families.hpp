// Model families as data: what config.json and GGUF call them, how their tensors are named, and what differs between the
// tensors of the two.
//
// Every fact is one of llama.cpp (commit b21e4de7, August 2026): its converter for what becomes of the tensors, its loader
// for what it refuses to do without.
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
  bool bare = false;  // not the weight of a module: no ".weight" at the end, except in GGUF, where all have one

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

// A hyper-parameter's value where config.json does not have it.
struct Default {
  std::string_view key;
  double value;
};

struct Family {
  std::string_view name;
  // "model_type" of config.json, and entries of its "architectures". The first of each is what a file becomes that says no
  // more than GGUF's name: of a family that also sees, the part that only reads.
  std::span<const std::string_view> model_types, architectures;
  std::string_view gguf;  // "general.architecture"; empty: unknown to GGUF's runtimes
  std::array<Patterns, 7> names;
  // The rows of q and k, weights and biases, are in another order in GGUF: see qk_rows.hpp.
  bool permutes_qk = false;
  // What GGUF adds to the weights of all norms.
  float norm_shift = 0;
  // The head in GGUF. Optional: without one, runtimes take the token table. Required: a tied one is written as a copy.
  Presence head = Presence::optional;
  // What a config.json without tie_word_embeddings means: the head is the token table.
  bool ties = false;
  // A config.json without head_dim does not mean hidden_size / num_attention_heads.
  bool own_head_size = false;
  // The norms of queries and keys have a weight for each element of all heads, not of one.
  bool wide_qk_norms = false;
  // Roles that have a bias in GGUF, if the model has one: a bias of any other makes its runtime refuse the file.
  std::span<const Role> biases = {};
  // What config.json must have, under its usual names, and what the family assumes where it is silent.
  std::span<const std::string_view> required = {};
  std::span<const Default> defaults = {};
};

std::span<const Family> families();
// By a model_type or one of the architectures of config.json; null when there is no such family.
const Family* find_family(std::string_view type_or_architecture);
// By GGUF's general.architecture.
const Family* find_gguf_family(std::string_view architecture);
// By either.
const Family* find_family_by_any_name(std::string_view name);
// That of Tiny Llama's document.
const Family& tiny_llama_family();

}  // namespace tare::arch
