#include "run/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "arch/run_settings.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "resources/config_parts.hpp"
#include "wire/value_json.hpp"

namespace tare::run {
namespace {

using arch::SettingKind;

// The beginning of a value, for a message.
std::string beginning_of(const Value& value) {
  constexpr std::size_t kMost = 40;
  std::string text = to_json(value).substr(0, kMost);
  while (!is_valid_utf8(text)) text.pop_back();
  return text;
}

Error other_kind(std::string_view key, std::string_view expected, const Value& found) {
  return refused_config("run.config", fmt::format("{}: expected {}, found {}", key, expected, beginning_of(found)),
                        ErrorKind::corrupt);
}

const Value* stated(const Map& object, std::string_view key) {
  const Value* const found = object.find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::string_view words_for(SettingKind kind) {
  switch (kind) {
    case SettingKind::number: return "a number";
    case SettingKind::whole: return "a whole number";
    case SettingKind::flag: return "true or false";
    case SettingKind::text: return "a text";
    case SettingKind::list: return "a list";
    case SettingKind::object: return "an object";
    case SettingKind::any: break;
  }
  return "a value";
}

// Larger numbers are no sizes, and other programs would not read them alike.
bool is_whole(const Value& value) {
  constexpr double kMost = 0x1p53;
  const auto number = resources::number_of(value);
  return number && std::fabs(*number) < kMost && std::trunc(*number) == *number;
}

bool is_of(SettingKind kind, const Value& value) {
  switch (kind) {
    case SettingKind::number: return resources::number_of(value).has_value();
    case SettingKind::whole: return is_whole(value);
    case SettingKind::flag: return value.get<bool>() != nullptr;
    case SettingKind::text: return value.text() != nullptr;
    case SettingKind::list: return value.get<List>() != nullptr;
    case SettingKind::object: return value.get<Map>() != nullptr;
    case SettingKind::any: break;
  }
  return true;
}

// Whether the value is the same as no value: then it does not matter that nothing reads the key.
bool asks_for_nothing(std::string_view key, const Value& value) {
  if (value.is_null() || value == false) return true;
  if (const List* const list = value.get<List>())
    return list->empty() || (key == "layer_types" && std::ranges::all_of(*list, [](const Value& one) {
                               return one == Value("full_attention");
                             }));
  if (const Map* const map = value.get<Map>()) return map->empty();
  return key == "partial_rotary_factor" && resources::number_of(value) == 1.0;
}

}  // namespace

Error refused_config(std::string_view rule, std::string_view sentence, ErrorKind kind) {
  return Error(kind, rule, std::string(sentence)).about("config.json").blame(Subject::input);
}

std::optional<double> number_in(const Map& object, std::string_view key, std::string_view shown) {
  const Value* const found = stated(object, key);
  if (found == nullptr) return std::nullopt;
  const auto number = resources::number_of(*found);
  if (!number) throw other_kind(fmt::format("{}{}", shown, key), words_for(SettingKind::number), *found);
  return number;
}

std::string text_in(const Map& object, std::string_view key, std::string_view shown) {
  const Value* const found = stated(object, key);
  if (found == nullptr) return {};
  if (found->text() == nullptr) throw other_kind(fmt::format("{}{}", shown, key), words_for(SettingKind::text), *found);
  return *found->text();
}

std::vector<double> numbers_in(const Map& object, std::string_view key, std::string_view shown) {
  std::vector<double> numbers;
  const Value* const found = stated(object, key);
  if (found == nullptr) return numbers;
  const std::string name = fmt::format("{}{}", shown, key);
  const List* const items = found->get<List>();
  if (items == nullptr) throw other_kind(name, words_for(SettingKind::list), *found);
  for (const Value& item : *items) {
    const auto number = resources::number_of(item);
    if (!number) throw other_kind(name, "numbers", item);
    numbers.push_back(*number);
  }
  return numbers;
}

void require_kinds(const Map& config_json, std::string_view model_type) {
  for (const Map* const part : resources::language_parts(config_json))
    for (const auto& [key, value] : *part) {
      const arch::RunSetting* const row = arch::find_run_setting(model_type, key);
      if (row != nullptr && !value.is_null() && !is_of(row->kind, value))
        throw other_kind(key, words_for(row->kind), value);
      if (row != nullptr && row->kind == SettingKind::list && key != "layer_types") (void)numbers_in(*part, key);
    }
}

std::vector<Change> unknown_settings(const Map& config_json, const resources::ConfigFile& file) {
  const std::string& type = file.model_type();
  std::vector<std::string> keys;
  const std::vector<const Map*> parts = resources::language_parts(config_json);
  for (const auto& [key, value] : *parts.front())
    if (arch::find_run_setting(type, key) == nullptr && !arch::is_apart_from_computing(key) &&
        !asks_for_nothing(key, value))
      keys.push_back(quote(key));
  std::set<std::string_view> in_ropes;  // both kinds of layers may have the key
  for (const Map* const rope : {&file.ropes().full, &file.ropes().sliding})
    for (const auto& [key, value] : *rope)
      if (!arch::is_rope_setting(type, key) && !asks_for_nothing(key, value) && in_ropes.insert(key).second)
        keys.push_back(fmt::format("rope_parameters.{}", quote(key)));
  if (keys.empty()) return {};
  return {{.kind = ChangeKind::remark,
           .impact = Impact::results,
           .part = "config.json",
           .items = keys,
           .detail = fmt::format("config.json states what transformers' class for {} does not have, and what is not "
                                 "computed here: {}",
                                 quote(type), listed_names(keys, 8))}};
}

}  // namespace tare::run
