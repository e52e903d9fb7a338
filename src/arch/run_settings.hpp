// The keys of config.json that the classes of transformers read, for the types that src/run computes: which value each has,
// and which classes have it. From transformers 5.23 and 4.57 (`CONFIG_MAPPING[type]().to_dict()`). A key without a row is not
// read by any of them, or has no effect on what a model computes.
#pragma once

#include <cstdint>
#include <string_view>

namespace tare::arch {

enum class SettingKind : std::uint8_t { number, whole, flag, text, list, object, any };

struct RunSetting {
  std::string_view key;
  SettingKind kind = SettingKind::number;
  std::string_view types = {};  // separated by blanks; empty: all
};

// Null if the class of a model_type does not read the key.
const RunSetting* find_run_setting(std::string_view model_type, std::string_view key);

// Whether the key describes training, generating, tokens or the file. All classes have these, or programs add them.
bool is_apart_from_computing(std::string_view key);

// Whether transformers reads the key in an object of rotary settings.
bool is_rope_setting(std::string_view model_type, std::string_view key);

}  // namespace tare::arch
