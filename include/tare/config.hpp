// The hyper-parameters that runtimes need, under Hugging Face's names. Each is optional: empty if the container does
// not store it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "tare/export.hpp"
#include "tare/value.hpp"

namespace tare {

struct TARE_API Config {
  std::optional<std::string> model_type;
  std::optional<std::string> hidden_act;
  std::optional<bool> tie_word_embeddings;
  std::optional<std::int64_t> vocab_size;
  std::optional<std::int64_t> hidden_size;
  std::optional<std::int64_t> intermediate_size;
  std::optional<std::int64_t> num_hidden_layers;
  std::optional<std::int64_t> num_attention_heads;
  std::optional<std::int64_t> num_key_value_heads;
  std::optional<std::int64_t> head_dim;
  std::optional<std::int64_t> max_position_embeddings;
  std::optional<std::int64_t> sliding_window;
  std::optional<double> rope_theta;
  std::optional<double> rms_norm_eps;
  std::optional<double> initializer_range;

  [[nodiscard]] bool empty() const;
  // The fields that are set, in the order above.
  [[nodiscard]] Map to_map() const;
  // Takes the known fields from a map of Hugging Face keys; ignores other keys and values of the wrong kind.
  [[nodiscard]] static Config from_map(const Map& map);
  // The same for values that a caller gives: throws usage `config.given` for a known field whose value is neither null nor
  // of its kind.
  [[nodiscard]] static Config from_given(const Map& map);
  friend bool operator==(const Config&, const Config&) = default;
};

// The table that to_map and from_map use, one row per field. To add a field, add one member and one row.
struct ConfigField {
  std::string_view name;
  std::variant<std::optional<std::string> Config::*, std::optional<bool> Config::*,
               std::optional<std::int64_t> Config::*, std::optional<double> Config::*>
      member;
};
[[nodiscard]] TARE_API std::span<const ConfigField> config_fields();

}  // namespace tare
