// The table of hyper-parameters: a row for each field of Config, with its keys in config.json and the default if the
// source does not state it. A container's own names are in its format row (Capabilities::own_fields). docs/convert.md
// shows both; a test keeps them equal.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "tare/config.hpp"
#include "tare/model.hpp"

namespace tare::arch {

// The default for a number that is not stated. The function returns nothing if it has no default for a model.
struct Fallback {
  std::string_view words = {};  // for people
  std::optional<Value> (*value)(const Model& model) = nullptr;
  bool rotating = false;  // only for models with rotary positions
};

struct ConfigRow {
  std::string_view field;  // the name in Config
  // Keys of config.json; the first that exists is used; "a.b" is the key b of an object a.
  std::array<std::string_view, 8> keys = {};
  Fallback fallback = {};
};

// Returns whether a config.json of this model_type states the row's field under `key`. A class of transformers that Tare
// has defaults for reads one name; other types have any of the names.
bool reads_key(std::string_view model_type, const ConfigRow& row, std::string_view key);

std::optional<Value> tied_without_head(const Model& model);
std::optional<Value> as_many_as_heads(const Model& model);
std::optional<Value> hidden_size_by_heads(const Model& model);
std::optional<Value> usual_positions(const Model& model);
std::optional<Value> usual_rope_theta(const Model& model);
std::optional<Value> usual_epsilon(const Model& model);

// clang-format off
inline constexpr ConfigRow kConfigTable[] = {
    {.field = "model_type",
     .keys = {"model_type"}},
    // Gemma's first files also have an outdated hidden_act.
    {.field = "hidden_act",
     .keys = {"hidden_activation", "hidden_act", "activation_function", "dense_act_fn", "activation"}},
    {.field = "tie_word_embeddings",
     .keys = {"tie_word_embeddings"},
     .fallback = {"whether a head is missing", tied_without_head}},
    {.field = "vocab_size",
     .keys = {"vocab_size", "padded_vocab_size"}},
    {.field = "hidden_size",
     .keys = {"hidden_size", "n_embd", "n_embed", "d_model", "dim"}},
    {.field = "intermediate_size",
     .keys = {"intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size", "mlp_hidden_size", "hidden_dim",
              "ffn_config.ffn_hidden_size"}},
    {.field = "num_hidden_layers",
     .keys = {"num_hidden_layers", "n_layer", "num_layers", "n_layers"}},
    {.field = "num_attention_heads",
     .keys = {"num_attention_heads", "n_head", "num_heads", "n_heads"}},
    {.field = "num_key_value_heads",
     .keys = {"num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads", "attn_config.kv_n_heads"},
     .fallback = {"`num_attention_heads`", as_many_as_heads}},
    {.field = "head_dim",
     .keys = {"head_dim", "d_kv", "kv_channels"},
     .fallback = {"`hidden_size` / `num_attention_heads`", hidden_size_by_heads}},
    {.field = "max_position_embeddings",
     .keys = {"max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length",
              "context_length", "max_target_positions", "n_ctx"},
     .fallback = {"32768", usual_positions}},
    {.field = "sliding_window",
     .keys = {"sliding_window"}},
    {.field = "rope_theta",
     .keys = {"rope_scaling.rope_theta", "rope_parameters.rope_theta", "rope_parameters.full_attention.rope_theta",
              "rope_parameters.global.rope_theta", "rope_theta", "rotary_emb_base", "global_rope_theta",
              "attn_config.rope_theta"},
     .fallback = {"10000", usual_rope_theta, true}},
    // Containers have one field for the epsilon of all kinds of norms.
    {.field = "rms_norm_eps",
     .keys = {"rms_norm_eps", "norm_eps", "layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon"},
     .fallback = {"1e-5", usual_epsilon}},
    {.field = "initializer_range",
     .keys = {"initializer_range"}},
};
// clang-format on

}  // namespace tare::arch
