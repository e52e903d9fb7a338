#include "formats/gguf/llama_cpp/adopt_numbers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "arch/config_names.hpp"
#include "base/half.hpp"
#include "base/printable.hpp"
#include "resources/json_file.hpp"

namespace tare::gguf::llama_cpp {
namespace {

constexpr std::string_view kUnused = "initializer_range";  // GGUF has no key for it

bool is_count(double number) {
  return number >= 0 && number <= std::numeric_limits<std::uint32_t>::max() && std::trunc(number) == number;
}

// A number that is 0 only in f32 would be another one, too.
bool is_single(double number) {
  const float nearest = f64_to_f32(number);
  return std::isfinite(nearest) && (nearest != 0 || number == 0);
}

constexpr std::string_view kCount = "a whole number from 0 to 4294967295", kNumber = "a number that f32 can hold";

void require_kind(std::string_view name, const Value& value, std::optional<std::int64_t> Config::* /*field*/) {
  const auto number = resources::number_of(value);
  if (!number || !is_count(*number)) throw refused_setting(name, kCount, value);
}
void require_kind(std::string_view name, const Value& value, std::optional<double> Config::* /*field*/) {
  const auto number = resources::number_of(value);
  if (!number || !is_single(*number)) throw refused_setting(name, kNumber, value);
}
void require_kind(std::string_view name, const Value& value, std::optional<bool> Config::* /*field*/) {
  if (value.get<bool>() == nullptr) throw refused_setting(name, "true or false", value);
}
void require_kind(std::string_view name, const Value& value, std::optional<std::string> Config::* /*field*/) {
  if (value.text() == nullptr) throw refused_setting(name, "a text", value);
}

}  // namespace

Error refused_setting(std::string_view name, std::string_view expected, const Value& found) {
  return Error(ErrorKind::unsupported, "convert.config",
               fmt::format("{}: expected {}, found {}", name, expected, quote(to_json(found))))
      .about("config.json")
      .blame(Subject::input)
      .remedy(Remedy::keep_names);
}

double required_number(std::string_view name, const Value& value) {
  const auto number = resources::number_of(value);
  if (!number) throw refused_setting(name, "a number", value);
  return *number;
}

void require_key_number(std::string_view key, const Value& value) {
  if (value.get<double>() != nullptr) {
    if (!is_single(*value.get<double>())) throw refused_setting(key, kNumber, value);
  } else if (const auto number = resources::number_of(value); number && !is_count(*number)) {
    throw refused_setting(key, kCount, value);
  }
}

void require_field_kinds(const ConfigFile& file) {
  for (const arch::ConfigRow& row : arch::kConfigTable)
    for (const std::string_view key : row.keys) {
      if (key.empty() || row.field == kUnused || !arch::reads_key(file.model_type(), row, key)) continue;
      const Value* const value = file.find(key);
      // A list has a number for each layer.
      if (value == nullptr || value->get<List>() != nullptr) continue;
      for (const ConfigField& field : config_fields())
        if (field.name == row.field) std::visit([&](auto member) { require_kind(key, *value, member); }, field.member);
    }
}

void require_field_numbers(const Config& config) {
  for (const auto& [name, value] : config.to_map())
    if (name != kUnused) require_key_number(name, value);
}

}  // namespace tare::gguf::llama_cpp
