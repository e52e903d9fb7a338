// Numbers of config.json on their way to keys: one that no key can have is refused. In its place, llama.cpp would have a
// default, an infinity or a count that wraps around.
#pragma once

#include <string_view>

#include "formats/gguf/llama_cpp/conventions.hpp"

namespace tare::gguf::llama_cpp {

// These throw unsupported `convert.config`, or return it.

Error refused_setting(std::string_view name, std::string_view expected, const Value& found);
// For a value of config.json that is not a number.
double required_number(std::string_view name, const Value& value);
// For a number that the usual types of keys, u32 and f32, cannot have. Other values pass.
void require_key_number(std::string_view key, const Value& value);
// For a value of config.json that a field of Config would have if it were of its kind, and for fields like that.
void require_field_kinds(const ConfigFile& file);
void require_field_numbers(const Config& config);

}  // namespace tare::gguf::llama_cpp
