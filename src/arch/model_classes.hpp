// What the classes of transformers read from config.json, where those of one family differ: a row for each model_type.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "arch/roles.hpp"

namespace tare::arch {

// The feed-forward networks that are chosen by a router, and the key for their size.
enum class Experts : std::uint8_t { none, of_intermediate_size, of_moe_intermediate_size };

// Modules that have biases together.
struct BiasGroup {
  std::span<const Role> roles;
  std::string_view key = {};  // in config.json; empty: they always have them
  bool otherwise = false;     // what holds without the key
};

inline constexpr Role kInputRoles[] = {Role::q, Role::k, Role::v},
                      kAttentionRoles[] = {Role::q, Role::k, Role::v, Role::o};
inline constexpr BiasGroup kAttentionBias[] = {{kAttentionRoles, "attention_bias"}};

struct ModelClass {
  std::string_view model_type;
  std::span<const BiasGroup> biases = kAttentionBias;
  std::string_view qk_norm_key =
      {};                  // states that q and k have norms; empty: all models of the type have what the family has
  bool has_window = true;  // reads sliding_window
  bool assumes_window = false;     // a missing sliding_window is one; null means none
  bool has_longrope_only = false;  // in older files, "su" and "yarn" mean longrope
  Experts experts = Experts::none;
  // The keys of rotary positions at the top of config.json.
  std::string_view rope_base_key = "rope_theta", rotated_part_key = "partial_rotary_factor";
  // Earlier files have the rotary bases of layers that see everything, and of the others, under these keys.
  std::string_view earlier_base_key = {}, earlier_local_base_key = {};
  // Positions of texts begin after the id of the token that pads them.
  bool pads_positions = false;
};

// The row of a model_type; for unknown types, a row with the defaults above.
const ModelClass& class_of(std::string_view model_type);

}  // namespace tare::arch
