// Model families as data: their names in config.json and GGUF, the names of their tensors, and how the tensors of the
// two differ.
//
// Every fact comes from llama.cpp (commit b21e4de7, August 2026): from its converter for changes to tensors, from its
// loader for what it requires.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "arch/defaults.hpp"
#include "arch/key_rows.hpp"
#include "arch/roles.hpp"
#include "arch/verbs.hpp"

namespace tare::arch {

enum class Dialect : std::uint8_t { hugging_face, gguf, meta, tiny_llama };
inline constexpr std::array kDialects = {Dialect::hugging_face, Dialect::gguf, Dialect::meta, Dialect::tiny_llama};

// The prefix of names in Hugging Face's dialect. Names in other dialects have none, and `model` here.
enum class Root : std::uint8_t {
  model,  // model.layers.0..., lm_head
  bare,   // layers.0...: checkpoints without a head
  // language_model.model.layers.0..., language_model.lm_head: the text part of a multimodal model.
  language_model_model,
  model_language_model,  // model.language_model.layers.0..., lm_head: the same, newer
  transformer,           // GPT-2, Falcon, BLOOM
  gpt_neox,
  backbone,          // Mamba
  model_text_model,  // model.text_model.layers.0..., lm_head: the text part of SmolVLM
  bert,
  roberta,
};

// One tensor in every dialect that has a name for it, without root and suffix. {L} is the layer, {E} the expert.
struct Pattern {
  Role role;
  std::string_view hugging_face = {}, gguf = {}, meta = {}, tiny_llama = {};
  // Not the weight of a module: has no ".weight" at the end, except in GGUF.
  bool bare = false;
  // The end of the name in GGUF. A tensor with another one has no bias.
  std::string_view gguf_end = ".weight";
  // From Hugging Face to GGUF.
  Steps steps = {};
  // In Hugging Face's dialect an earlier row has the same name. This one counts in models without experts.
  bool alone = false;
  // In GGUF an earlier row has the same name. This one counts in models that have a tensor with this role.
  Role beside = Role::other;

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

// The activation in the feed-forward networks.
enum class Activation : std::uint8_t { silu, gelu_tanh, relu_squared, xielu, relu_or_gated_gelu };
// The key of config.json that states it. Early Gemmas have both, and which one counts depends on the program.
enum class ActivationKey : std::uint8_t { hidden_act, hidden_activation, either };

// llama.cpp's mixes give a model of 80 layers the types for 70 billion weights.
enum class LargeAt80Layers : std::uint8_t { never, if_heads_share_keys, always };

// When a GGUF file of a family is a class of transformers other than the family's first.
enum class When : std::uint8_t {
  always,
  has_experts,
  states_type,
  lacks_yarn,
  has_window,
  lacks_router_bias,
  norms_states
};
struct Variant {
  When when;
  std::string_view model_type, architecture;
};

// What llama.cpp computes for a family, and which keys its files have. A config.json that asks for something else is
// reported.
struct Runtime {
  Activation activation = Activation::silu;
  // Keys that llama.cpp reads for this family, in addition to those of all.
  std::array<KeyRows, 3> keys = {};
  // Whether the weights of the chosen experts are normalized: norm_topk_prob.
  std::optional<bool> normalizes_experts = {};
  // What llama.cpp uses for soft caps of the attention and of the output that are null; 0: none.
  double null_attention_cap = 0, null_output_cap = 0;
  // Some layers have a sliding window: by default all but the last of this many. 0: llama.cpp has no windows here.
  std::int64_t window_period = 0;
  // All but the first of this many, instead.
  bool first_sees_all = false;
  // config.json may state the period as sliding_window_pattern, where 1 means no window. Layers with a window have a
  // rotary base of their own, rope_local_base_freq.
  bool states_window_period = false;
  // Where config.json states the period, if it does not list the layers.
  std::string_view period_key = "sliding_window_pattern";
  // Where config.json states the size of the window.
  std::string_view window_key = "sliding_window";
  // In transformers, only layers from max_window_layers on have a window.
  bool has_max_window_layers = false;
  // The file lists which layers have a window.
  bool lists_windows = false;
  // The file must state attention.sliding_window, 0 for none.
  bool requires_window = false;
  // The last layer of this many has no rotary positions. 0: all have.
  std::int64_t rope_skips_every = 0;
  // A part of each head may be rotated: partial_rotary_factor.
  bool rotates_part = false;
  // The file states how many elements of each head are rotated, which are all.
  bool states_rotated = false;
  // Positions are scaled by "longrope" only, with the original context length at the top of config.json; the file always
  // states that length (Phi 3).
  bool has_original_context = false;
  // "yarn" has all its numbers, in rope_parameters only (Ministral 3).
  bool has_full_yarn = false;
  // A config.json without the size of the feed-forward networks means this many times the hidden size. 0: it must state it.
  std::int64_t usual_widening = 0;
  // All networks are experts: nothing states the size of others.
  bool has_only_experts = false;
  // How many layers at the beginning have no experts, if mlp_layer_types does not list them.
  std::uint64_t leading_plain = 0;
  // The key for the networks of layers without experts, if intermediate_size is the size of one expert.
  std::string_view plain_size_key = {};
  // The word in layer_types for layers without attention. GGUF has a list with the heads of keys of each layer, 0 for these.
  std::string_view no_attention = {};
  // The other words: for those with attention, and for those without it in newer files.
  std::string_view attention = "full_attention", newer_no_attention = {};
  // Without layer_types no layer has attention.
  bool usually_no_attention = false;
  // No layer has attention or a network: GGUF states 0 of both, and a context without an end.
  bool only_states = false;
  // The context has no end, because nothing turns with positions.
  bool endless = false;
  // A layer is a state, attention, a network or experts: see layer_kinds.hpp.
  bool mixes_layers = false;
  // GGUF's architecture for models with experts, if this is the one for those without, or the reverse. Likewise for a decoder.
  std::string_view expert_twin = {};
  bool has_no_experts = false;
  // Without experts, the network for every token is the only one: see Pattern::alone.
  bool shared_alone = false;
  // The word in layer_types for layers with a state in place of attention. GGUF has a flag for each layer.
  std::string_view state = {};
  // The matrix for queries has as many rows again, for gates.
  bool gates_queries = false;
  // The layers that predict further tokens are not among the others: their names begin with "mtp".
  bool next_layers_apart = false;
  // The file states how many pairs each direction of a position has: mrope_section, and what the class assumes.
  bool states_sections = false;
  std::array<std::int64_t, 4> usual_sections = {11, 11, 10, 0};
  // GGUF's architecture that computes the same for texts alone, without the keys `rope.dimension_sections` and
  // `n_deepstack_layers`: the text model is a class of its own there, which this family lacks.
  std::string_view text_twin = {};
  // block_auto_adjust_ff_dim: config.json has a size from which that of the networks is computed.
  bool adjusts_width = false;
  // Keys of config.json of which llama.cpp's graph has one value.
  std::array<Assumed, 4> known = {};
  // YaRN does not round the bounds of its ramp ("truncate" is false), although llama.cpp does.
  bool keeps_fractions = false;
  // The norms are LayerNorms: the name of their epsilon in config.json, which has a key of its own in GGUF, too.
  std::string_view layer_norm_key = {};
  // "dynamic" with an alpha changes the rotary base, and the context is what llama.cpp's converter knows of the models.
  bool has_alpha_base = false;
  // The file's layers include those that predict further tokens, num_nextn_predict_layers.
  bool counts_next_layers = false;
  // Likewise those that exist: config.json may state more than its files have.
  bool counts_present_next_layers = false;
  // Keys and values come from one short vector: GGUF has one head for both, of its size and that of the rotated part.
  bool has_latent_attention = false;
  // yarn_log_multiplier is this times mscale_all_dim, and llama.cpp's graph computes the rest. 0: there is none.
  double yarn_log_scale = 0;
  // Norms are LayerNorms without weights. Their epsilon, which has a key of its own in GGUF and none in config.json: the
  // class has this constant. 0: no such norms.
  double layer_norm_epsilon = 0;
  // use_bidirectional_attention, if llama.cpp has an architecture for each of the two ways.
  std::optional<bool> bidirectional = {};
  // GGUF's architecture for the other of the two.
  std::string_view bidirectional_twin = {};
  // Queries are scaled by the head size; in the largest model, which has this many layers, by hidden_size / heads. 0: in
  // all by the head size. Nothing: config.json has no query_pre_attn_scalar.
  std::optional<std::int64_t> layers_of_largest = {};
  LargeAt80Layers large_at_80_layers = LargeAt80Layers::never;
  // The class reads experts in MXFP4: the modules that config.json then excepts.
  std::span<const std::string_view> unpacked_modules = {};
  // Every token sees every other: an encoder.
  bool sees_all = false;
  // The first layer has no norm of its own: the one after the token table precedes it.
  bool first_lacks_norm = false;
  // Norms may be spelled "gamma" and "beta", as early files have them.
  bool reads_gamma = false;
  // Tensors that GGUF's runtime has no use for, which are kept for the way back: the beginnings of their names.
  std::span<const std::string_view> aside = {};
  // Layers with a window, and those that see everything, have heads of their own sizes; only the latter rotate a part (Gemma 4).
  bool has_two_kinds_of_heads = false;
  // Layers have networks of their own sizes: intermediate_size is a list (Gemma 3n), or the last have more (Gemma 4).
  bool lists_networks = false;
  // The last layers, num_kv_shared_layers, use the keys and values of others. config.json and the file have their number.
  bool shares_keys = false;
  // config.json has, for each layer, which part of the numbers in its network is not 0: activation_sparsity_pattern.
  bool has_sparse_networks = false;
  // What follows the encoder is a decoder, with num_decoder_layers.
  bool has_decoder = false;
  // The file names the classes of a head, which config.json has as id2label.
  bool names_classes = false;
  // A SentencePiece vocabulary never adds a blank before the text; its own files are ignored in this.
  bool adds_no_blank = false;

  // Returns whether a word of layer_types means a layer without attention.
  constexpr bool lacks_attention(std::string_view word) const {
    return word == no_attention || (!newer_no_attention.empty() && word == newer_no_attention);
  }

  // The row of a key; null if llama.cpp does not read it for this family.
  constexpr const KeyRow* row(std::string_view key) const {
    for (const KeyRows rows : keys)
      for (const KeyRow& one : rows)
        if (one.key == key) return &one;
    return nullptr;
  }
};

// How the conversion of a family's models, in both directions, has been compared with other programs.
enum class Checked : std::uint8_t {
  by_converter,  // with llama.cpp's converter and transformers: a line of tests/formats/gguf/families/recorded.jsonl
  by_own_tests,
};

struct Family {
  std::string_view name;
  std::string_view title = {};  // the models, for people
  // "model_type" of config.json, and entries of its "architectures". The first of each is used for a file that states
  // only GGUF's name; in a multimodal family that is the text model.
  std::span<const std::string_view> model_types, architectures;
  std::string_view gguf;  // "general.architecture"; empty: unknown to GGUF's runtimes
  // The groups of patterns.hpp that its tensors are in, with the steps of their way to GGUF.
  std::array<Patterns, 8> names;
  Root root = Root::model;  // the usual prefix of its names
  // A config.json without tie_word_embeddings means that the output head is the token table.
  bool ties = false;
  // A config.json without head_dim does not mean hidden_size / num_attention_heads.
  bool own_head_size = false;
  // The norms of queries and keys have a weight for each element of all heads, not of one head.
  bool wide_qk_norms = false;
  // Roles that may have a bias in GGUF: its runtime refuses a file with any other bias.
  std::span<const Role> biases = {};
  ActivationKey activation_key = ActivationKey::hidden_act;
  // The first that holds decides the class for a GGUF file; otherwise it is the first of `architectures`.
  std::span<const Variant> variants = {};
  Runtime runtime = {};
  Checked checked = Checked::by_converter;
};

std::span<const Family> families();
// By a model_type or one of the architectures of config.json; null if there is no such family.
const Family* find_family(std::string_view type_or_architecture);
// By GGUF's general.architecture.
const Family* find_gguf_family(std::string_view architecture);
// By model_type, architecture or GGUF's general.architecture.
const Family* find_family_by_any_name(std::string_view name);
// Whether the two differ only in the direction of attention, or in whether there are experts.
bool are_twins(const Family& a, const Family& b);
const Family& tiny_llama_family();

}  // namespace tare::arch
