// One table of the hyper-parameters: a row for each field of Config, with the keys of config.json that say it, what each
// container with fields of its own calls it, and what is taken where a source is silent. A new container is one column.
//
// It stands below the formats because they read it both ways: a reader finds the Config field for the name of the number
// it has before it, a writer the number for the name it has to fill. `convert` reads the defaults. docs/convert.md shows
// the table; a test keeps the two the same.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "tare/config.hpp"
#include "tare/model.hpp"

namespace tare::resources {

// What a container calls a field; without a name it has none.
struct Place {
  std::string_view name = {};
  // Its readers count on the number: where the source is silent, `convert` fills in the default.
  bool expected = false;
};

// What is taken for a number that nobody gives. The function may know no answer for a model.
struct Default {
  std::string_view words = {};  // for people
  std::optional<Value> (*value)(const Model& model) = nullptr;
};

struct ConfigRow {
  std::string_view field;  // of Config
  // Keys of config.json, the first that is there counts; "a.b" is the key b of an object a.
  std::array<std::string_view, 8> keys = {};
  Place alt = {}, alt1 = {};  // ALT's general and parameters sections
  Place mcf = {};             // MCF's ModelInfo
  Place tllm = {};            // the header of Tiny Llama weights
  Default fallback = {};
};

std::optional<Value> tied_without_head(const Model& model);
std::optional<Value> as_many_as_heads(const Model& model);
std::optional<Value> hidden_size_by_heads(const Model& model);
std::optional<Value> usual_positions(const Model& model);
std::optional<Value> usual_rope_theta(const Model& model);
std::optional<Value> usual_epsilon(const Model& model);

inline constexpr bool kExpected = true;

// clang-format off
inline constexpr ConfigRow kConfigTable[] = {
    {.field = "model_type",
     .keys = {"model_type"},
     .alt = {"model_type"}, .alt1 = {"model_type"}, .mcf = {"arch"}},
    // Gemma's first files have an older hidden_act beside the word that counts.
    {.field = "hidden_act",
     .keys = {"hidden_activation", "hidden_act", "activation_function", "dense_act_fn", "activation"},
     .alt = {"hidden_act"}},
    {.field = "tie_word_embeddings",
     .keys = {"tie_word_embeddings"},
     .alt = {"tie_word_embeddings", kExpected},
     .fallback = {"whether a head is missing", tied_without_head}},
    // ALT counts its tokens.
    {.field = "vocab_size",
     .keys = {"vocab_size", "padded_vocab_size"},
     .mcf = {"vocab"}, .tllm = {"vocabulary size"}},
    {.field = "hidden_size",
     .keys = {"hidden_size", "n_embd", "n_embed", "d_model", "dim"},
     .alt = {"hidden_size"}, .alt1 = {"hidden_size"}, .mcf = {"hidden"}, .tllm = {"model dimension"}},
    {.field = "intermediate_size",
     .keys = {"intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size", "mlp_hidden_size", "hidden_dim",
              "ffn_config.ffn_hidden_size"},
     .alt = {"intermediate_size"}, .alt1 = {"intermediate_size"}, .tllm = {"FFN hidden dimension"}},
    {.field = "num_hidden_layers",
     .keys = {"num_hidden_layers", "n_layer", "num_layers", "n_layers"},
     .alt = {"num_hidden_layers"}, .alt1 = {"num_hidden_layers"}, .mcf = {"layers"}, .tllm = {"number of layers"}},
    {.field = "num_attention_heads",
     .keys = {"num_attention_heads", "n_head", "num_heads", "n_heads"},
     .alt = {"num_attention_heads"}, .alt1 = {"num_attention_heads"}, .mcf = {"heads"}, .tllm = {"number of heads"}},
    {.field = "num_key_value_heads",
     .keys = {"num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads", "attn_config.kv_n_heads"},
     .alt = {"num_key_value_heads", kExpected}, .alt1 = {"num_key_value_heads", kExpected},
     .mcf = {"kv_heads", kExpected},
     .fallback = {"`num_attention_heads`", as_many_as_heads}},
    {.field = "head_dim",
     .keys = {"head_dim", "d_kv", "kv_channels"},
     .alt = {"head_size", kExpected}, .alt1 = {"head_size", kExpected},
     .fallback = {"`hidden_size` / `num_attention_heads`", hidden_size_by_heads}},
    {.field = "max_position_embeddings",
     .keys = {"max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length",
              "context_length", "max_target_positions", "n_ctx"},
     .alt = {"max_position_embeddings", kExpected}, .alt1 = {"context_length", kExpected},
     .mcf = {"context"}, .tllm = {"max sequence length"},
     .fallback = {"32768", usual_positions}},
    {.field = "sliding_window",
     .keys = {"sliding_window"},
     .alt = {"sliding_window"}, .alt1 = {"sliding_window"}},
    {.field = "rope_theta",
     .keys = {"rope_theta", "rotary_emb_base", "global_rope_theta", "rope_parameters.rope_theta",
              "rope_parameters.full_attention.rope_theta", "rope_parameters.global.rope_theta",
              "rope_scaling.rope_theta", "attn_config.rope_theta"},
     .alt = {"rope_theta", kExpected}, .alt1 = {"rope_theta", kExpected}, .mcf = {"rope_base", kExpected},
     .fallback = {"10000", usual_rope_theta}},
    // Containers have one field for the epsilon of the norms, whichever kind they are.
    {.field = "rms_norm_eps",
     .keys = {"rms_norm_eps", "norm_eps", "layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon"},
     .alt = {"rms_norm_eps", kExpected}, .alt1 = {"rms_norm_eps", kExpected},
     .fallback = {"1e-5", usual_epsilon}},
    {.field = "initializer_range",
     .keys = {"initializer_range"},
     .alt = {"initializer_range"}},
};
// clang-format on

using Column = Place ConfigRow::*;

// The field of Config that a container calls `name`, which must be one of its column.
const ConfigField& field_called(Column column, std::string_view name);
inline std::optional<std::int64_t> Config::*count_called(Column column, std::string_view name) {
  return std::get<std::optional<std::int64_t> Config::*>(field_called(column, name).member);
}

// The columns as Capabilities want them: the names of the fields, all of them or the expected ones.
template <Column kColumn, bool kOnlyExpected = false>
consteval auto fields_in() {
  constexpr auto kCounts = [](const ConfigRow& row) {
    const Place& place = row.*kColumn;
    return !place.name.empty() && (!kOnlyExpected || place.expected);
  };
  std::array<std::string_view, std::ranges::count_if(kConfigTable, kCounts)> names;
  auto next = names.begin();
  for (const ConfigRow& row : kConfigTable)
    if (kCounts(row)) *next++ = row.field;
  return names;
}
template <Column kColumn>
inline constexpr auto kFieldsOf = fields_in<kColumn>();
template <Column kColumn>
inline constexpr auto kExpectedOf = fields_in<kColumn, true>();

}  // namespace tare::resources
