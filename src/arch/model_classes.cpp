#include "arch/model_classes.hpp"

#include <algorithm>
#include <iterator>

namespace tare::arch {

const ModelClass& class_of(std::string_view model_type) {
  static constexpr ModelClass kClasses[] = {
      {.model_type = "llama", .mlp_bias = true, .has_window = false},
      {.model_type = "mistral", .attention_bias = false, .assumes_window = true},
      {.model_type = "mixtral", .attention_bias = false, .experts = Experts::of_intermediate_size},
      {.model_type = "ministral3", .attention_bias = false},
      {.model_type = "smollm3", .mlp_bias = true},
      {.model_type = "granite", .mlp_bias = true, .has_window = false},
      {.model_type = "olmo", .has_window = false},
      {.model_type = "olmo2", .has_window = false},
      {.model_type = "qwen2", .attention_bias = false, .has_input_biases = true},
      {.model_type = "qwen2_moe",
       .attention_bias = false,
       .has_input_biases = true,
       .qkv_bias = true,
       .experts = Experts::of_moe_intermediate_size},
      {.model_type = "qwen3_moe", .experts = Experts::of_moe_intermediate_size},
      {.model_type = "gemma", .has_window = false},
      {.model_type = "phi3", .attention_bias = false, .has_longrope_only = true},
  };
  static constexpr ModelClass kOther = {};
  const auto found = std::ranges::find(kClasses, model_type, &ModelClass::model_type);
  return found == std::end(kClasses) ? kOther : *found;
}

}  // namespace tare::arch
