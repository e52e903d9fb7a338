// What the classes of transformers read from config.json, where those of one family differ: a row for each model_type.
#pragma once

#include <cstdint>
#include <string_view>

namespace tare::arch {

// The feed-forward networks that are chosen by a router, and the key for their size.
enum class Experts : std::uint8_t { none, of_intermediate_size, of_moe_intermediate_size };

struct ModelClass {
  std::string_view model_type;
  bool attention_bias = true;      // has the key attention_bias: biases of q, k, v and the output
  bool has_input_biases = false;   // q, k and v have biases ...
  bool qkv_bias = false;           // ... unless this key is false
  bool mlp_bias = false;           // has the key mlp_bias
  bool has_window = true;          // reads sliding_window
  bool assumes_window = false;     // a missing sliding_window is one; null means none
  bool has_longrope_only = false;  // in older files, "su" and "yarn" mean longrope
  Experts experts = Experts::none;
};

// The row of a model_type; for unknown types, a row with the defaults above.
const ModelClass& class_of(std::string_view model_type);

}  // namespace tare::arch
