#include "formats/gguf/llama_cpp/arch_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/by_layer.hpp"
#include "resources/json_file.hpp"

namespace tare::gguf::llama_cpp {
namespace {

// A value in a message. Only numbers and flags are short enough to show as they are.
std::string shown(const Value& value) {
  constexpr std::size_t kMost = 8;
  const auto is_short = [](const Value& item) {
    return resources::number_of(item).has_value() || item.get<bool>() != nullptr;
  };
  if (is_short(value)) return to_json(value);
  if (value.text() != nullptr) return fmt::format("\"{}\"", quote(*value.text()));
  if (const Bytes* const bytes = value.get<Bytes>()) return fmt::format("{} bytes", bytes->size());
  const List* const list = value.get<List>();
  if (list == nullptr) return "something else";
  const auto count = static_cast<std::ptrdiff_t>(std::min(list->size(), kMost));
  const List some(list->begin(), list->begin() + count);
  if (!std::ranges::all_of(some, is_short)) return fmt::format("a list of {} values", list->size());
  return to_json(Value(some)) + and_more(list->size(), kMost);
}

Error bad_key(const std::string& key, const Value& found, std::string_view expected) {
  return Error(ErrorKind::lossy, "gguf.key.value", fmt::format("expected {}, found {}", expected, shown(found)))
      .about("key " + quote(key))
      .blame(Subject::input)
      .remedy(Remedy::keep_names);
}

// A number for each layer, 0 for those without attention, or without a network. Returns false unless all others are equal.
bool take_layer_numbers(std::optional<std::int64_t>& field, const Value& value) {
  const List* const heads = value.get<List>();
  if (heads == nullptr) return false;
  std::int64_t most = 0;
  for (const Value& count : *heads) {
    const auto* const number = count.get<std::int64_t>();
    if (number == nullptr || *number < 0 || (most != 0 && *number != 0 && *number != most)) return false;
    most = std::max(most, *number);
  }
  if (most != 0) field = most;
  return true;
}

// Calls `bad(key, value)` for each key of a field that does not give one number.
template <typename Bad>
void take_fields(const Model& model, const arch::Family& family, Config& config, const Bad& bad) {
  const Map fields = config.to_map();
  for (const OwnField& own : kOwnFields) {
    const std::string key = key_of(family, own.name);
    const Value* const found = own.name == kArchitectureKey ? nullptr : model.metadata.find(key);
    if (found == nullptr) continue;
    // Containers with text-only metadata may have a text under such a key, in addition to the field.
    if (found->text() != nullptr && fields.find(own.field) != nullptr) continue;
    const bool mixes = family.runtime.mixes_layers;
    if (own.name == arch::kKeyHeads && (mixes || !family.runtime.no_attention.empty()) &&
        take_layer_numbers(config.num_key_value_heads, *found))
      continue;
    if (own.name == kNetworkRows && mixes && take_layer_numbers(config.intermediate_size, *found)) continue;
    if ((own.name == arch::kKeyHeads && take_listed(config.num_key_value_heads, own.name, family, *found)) ||
        (own.name == kNetworkRows && take_listed(config.intermediate_size, own.name, family, *found)))
      continue;
    if (!set_field(config, own.name, *found)) bad(key, *found);
  }
}

}  // namespace

ArchKeys::ArchKeys(const Model& model, const arch::Family& family) : model_(model), family_(family) {
  for (const OwnField& own : kOwnFields) read_.emplace(own.name);
}

const Value* ArchKeys::find(std::string_view name) const {
  read_.emplace(name);
  return model_.metadata.find(key_of(family_, name));
}

Error ArchKeys::refused(std::string_view name, const Value& found, std::string_view expected) const {
  return bad_key(key_of(family_, name), found, expected);
}

std::optional<double> ArchKeys::number(std::string_view name) const {
  const Value* const found = find(name);
  if (found == nullptr) return std::nullopt;
  const auto single = single_number(*found);
  if (!single) throw refused(name, *found, "one number");
  const auto number = resources::number_of(*single);
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  const bool is_count = declared_type(fmt::format("{{}}.{}", name)) == EntryType{ValueType::u32, false};
  if (is_count && number && !(*number >= 0 && *number <= kMost && std::trunc(*number) == *number))
    throw refused(name, *found, "a whole number from 0 to 4294967295");
  return number;
}

std::optional<bool> ArchKeys::flag(std::string_view name) const {
  const Value* const found = find(name);
  if (found == nullptr) return std::nullopt;
  if (found->get<bool>() == nullptr) throw refused(name, *found, "true or false");
  return *found->get<bool>();
}

const std::string* ArchKeys::text(std::string_view name) const {
  const Value* const found = find(name);
  if (found != nullptr && found->text() == nullptr) throw refused(name, *found, "a text");
  return found == nullptr ? nullptr : found->text();
}

std::vector<std::string> ArchKeys::unread() const {
  const std::string prefix = key_of(family_, "");
  std::vector<std::string> names;
  for (const auto& [key, value] : model_.metadata)
    if (key.starts_with(prefix) && !read_.contains(std::string_view(key).substr(prefix.size())))
      names.push_back(key.substr(prefix.size()));
  return names;
}

void require_fields(Model& model, const arch::Family& family) {
  take_fields(model, family, model.config, [](const std::string& key, const Value& found) {
    throw bad_key(key, found, found.get<List>() != nullptr ? "one number for all layers" : "a number");
  });
}

bool lacks_fields(const Model& model, const arch::Family& family) {
  Config config = model.config;
  bool lacks = false;
  take_fields(model, family, config, [&](const std::string& /*key*/, const Value& /*found*/) { lacks = true; });
  return lacks;
}

}  // namespace tare::gguf::llama_cpp
