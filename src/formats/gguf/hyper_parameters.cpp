// Converts between the keys of an architecture ("llama.block_count") and Config.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "arch/families.hpp"
#include "base/half.hpp"
#include "base/list_numbers.hpp"
#include "base/text.hpp"
#include "formats/gguf/gguf.hpp"
#include "formats/own_fields.hpp"
#include "resources/json_file.hpp"

namespace tare::gguf {
namespace {

std::string model_type_of(const std::string& architecture) {
  const arch::Family* const family = arch::find_gguf_family(architecture);
  return family == nullptr ? architecture : std::string(family->model_types.front());
}
std::string architecture_of(const std::string& model_type) {
  const arch::Family* const family = arch::find_family(model_type);
  return family == nullptr || family->gguf.empty() ? model_type : std::string(family->gguf);
}

// Converts a field of Config to an entry, with the type that llama.cpp requires.
class ToEntry {
 public:
  ToEntry(const Config& config, std::string key) : config_(config), key_(std::move(key)) {}
  std::optional<Entry> operator()(std::optional<std::int64_t> Config::*member) const {
    return entry(config_.*member, ValueType::u32);
  }
  std::optional<Entry> operator()(std::optional<double> Config::*member) const {
    if (!(config_.*member)) return std::nullopt;
    // The nearest f32; the private tree has the exact value.
    return entry(std::optional(decimal_double(f64_to_f32(*(config_.*member)))), ValueType::f32);
  }
  template <typename Member>
  std::optional<Entry> operator()(Member /*texts and booleans have no key of their own*/) const {
    return std::nullopt;
  }

 private:
  template <typename T>
  std::optional<Entry> entry(const std::optional<T>& number, ValueType type) const {
    if (!number || !is_of(Value(*number), {type, false})) return std::nullopt;
    return Entry{key_, {type, false}, Value(*number)};
  }

  const Config& config_;
  std::string key_;
};

class FromEntry {
 public:
  FromEntry(Config& config, const Entry& entry, std::string_view own_name, const Complaints& complaints)
      : config_(config), entry_(entry), own_name_(own_name), complaints_(complaints) {}
  bool operator()(std::optional<std::int64_t> Config::*member) const { return take(member, ValueType::u32); }
  bool operator()(std::optional<double> Config::*member) const { return take(member, ValueType::f32); }
  template <typename Member>
  bool operator()(Member /*see ToEntry*/) const {
    return false;
  }

 private:
  template <typename T>
  bool take(std::optional<T> Config::*member, ValueType type) const {
    const EntryType expected{type, false};
    if (entry_.type == expected) {
      config_.*member = *std::get<Value>(entry_.payload).get<T>();
      return true;
    }
    // The entry stays in the metadata, with its type. Numbers that differ by layer have no field.
    if (const auto number = number_in(entry_.payload)) set_field(config_, own_name_, *number);
    if (!entry_.type.array)
      complaints_.warning("gguf.key.type",
                          fmt::format("expected type {}, found {}: programs that need it refuse the file",
                                      expected.text(), entry_.type.text()),
                          entry_);
    return false;
  }

  static std::optional<Value> number_in(const Payload& payload) {
    if (const auto* const value = std::get_if<Value>(&payload)) return single_number(*value);
    const auto is_same = [](const auto& array) {
      return !array.empty() && std::ranges::count(array, array.front()) == std::ssize(array);
    };
    if (const auto* const reals = std::get_if<std::vector<float>>(&payload); reals != nullptr && is_same(*reals))
      return Value(static_cast<double>(reals->front()));
    if (const auto* const counts = std::get_if<std::vector<std::int32_t>>(&payload);
        counts != nullptr && is_same(*counts))
      return Value(std::int64_t{counts->front()});
    return std::nullopt;
  }

  Config& config_;
  const Entry& entry_;
  std::string_view own_name_;
  const Complaints& complaints_;
};

const Entry* find(const std::vector<Entry>& entries, std::string_view key) {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &*found;
}

std::string spelled_key(const OwnField& own, std::string_view architecture) {
  return own.name == kArchitectureKey ? std::string(own.name) : fmt::format("{}.{}", architecture, own.name);
}

// Sets a member of Config; returns false if the number does not fit it.
class SetMember {
 public:
  SetMember(Config& config, const Value& number) : config_(config), number_(number) {}
  bool operator()(std::optional<std::int64_t> Config::*member) const {
    const auto* const whole = number_.get<std::int64_t>();
    const auto* const large = number_.get<std::uint64_t>();
    const auto* const real = number_.get<double>();
    if (whole != nullptr && *whole >= 0)
      config_.*member = *whole;
    else if (large != nullptr && *large <= INT64_MAX)
      config_.*member = static_cast<std::int64_t>(*large);
    else if (real != nullptr && *real >= 0 && *real < 0x1p53 && std::trunc(*real) == *real)
      config_.*member = static_cast<std::int64_t>(*real);
    else
      return false;
    return true;
  }
  bool operator()(std::optional<double> Config::*member) const {
    config_.*member = resources::number_of(number_);
    return true;
  }
  template <typename Member>
  bool operator()(Member /*no key is a text or a boolean*/) const {
    return false;
  }

 private:
  Config& config_;
  const Value& number_;
};

}  // namespace

void take_config(const std::vector<Entry>& entries, Model& model, std::vector<bool>& taken,
                 const Complaints& complaints) {
  const Entry* const named = find(entries, kArchitectureKey);
  if (named == nullptr) return;
  if (named->type != EntryType{ValueType::string, false})
    return complaints.warning("gguf.key.type", fmt::format("is of type {}, not a string", named->type.text()), *named);
  // Bytes that are not UTF-8 are not text.
  const std::string* const text = std::get<Value>(named->payload).text();
  if (text == nullptr || text->empty() || !is_valid_utf8(*text)) return;
  const std::string& architecture = *text;
  model.config.model_type = model_type_of(architecture);
  taken[static_cast<std::size_t>(named - entries.data())] = true;
  const std::string prefix = architecture + ".";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].key.starts_with(prefix)) continue;
    const std::string_view name = std::string_view(entries[i].key).substr(prefix.size());
    if (std::ranges::find(kOwnFields, name, &OwnField::name) == std::end(kOwnFields)) continue;
    if (std::visit(FromEntry(model.config, entries[i], name, complaints), field_called(kOwnFields, name).member))
      taken[i] = true;
  }
}

std::vector<Entry> config_entries(const Config& config) {
  std::vector<Entry> entries;
  if (!config.model_type || config.model_type->empty()) return entries;
  const std::string architecture = architecture_of(*config.model_type);
  entries.push_back({std::string(kArchitectureKey), {ValueType::string, false}, Value(architecture)});
  for (const OwnField& own : kOwnFields) {
    if (own.name == kArchitectureKey) continue;
    if (auto entry =
            std::visit(ToEntry(config, spelled_key(own, architecture)), field_called(kOwnFields, own.name).member))
      entries.push_back(std::move(*entry));
  }
  return entries;
}

std::vector<std::pair<std::string, std::string_view>> config_keys(const Config& config) {
  std::vector<std::pair<std::string, std::string_view>> keys;
  if (!config.model_type || config.model_type->empty()) return keys;
  for (const OwnField& own : kOwnFields)
    keys.emplace_back(spelled_key(own, architecture_of(*config.model_type)), own.field);
  return keys;
}

std::optional<Value> single_number(const Value& value) {
  if (resources::number_of(value)) return value;
  if (const Bytes* const bytes = value.get<Bytes>(); bytes != nullptr && !bytes->empty())
    return std::ranges::count(*bytes, bytes->front()) == std::ssize(*bytes)
               ? std::optional(Value(std::to_integer<std::int64_t>(bytes->front())))
               : std::nullopt;
  const List* const list = value.get<List>();
  if (list == nullptr || list->empty() || !resources::number_of(list->front())) return std::nullopt;
  const bool equal = std::ranges::all_of(*list, [&](const Value& item) { return item == list->front(); });
  return equal ? std::optional(list->front()) : std::nullopt;
}

bool set_field(Config& config, std::string_view own_name, const Value& value) {
  const auto number = single_number(value);
  return number && std::visit(SetMember(config, *number), field_called(kOwnFields, own_name).member);
}

}  // namespace tare::gguf
