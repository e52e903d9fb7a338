#include "convert/plain_metadata.hpp"

#include <algorithm>
#include <array>
#include <variant>

namespace tare {
namespace {

// By the index of the alternative of Value; both integers are one kind.
constexpr std::array<std::string_view, 10> kValueKinds = {"null",    "bool",  "int",  "int", "float",
                                                          kTextKind, "bytes", "list", "map", "opaque"};
static_assert(kValueKinds.size() == std::variant_size_v<Value::Variant>);

std::string kind_of(const Value& value) { return std::string(kValueKinds[value.data().index()]); }

std::vector<MetadataEntry> list_plain(const Model& model) {
  std::vector<MetadataEntry> entries;
  entries.reserve(model.metadata.size());
  for (const auto& [key, value] : model.metadata) entries.push_back({key, kind_of(value), value});
  return entries;
}

void apply_plain(Model& model, std::vector<MetadataEntry> entries) {
  Map metadata;
  metadata.reserve(entries.size());
  for (MetadataEntry& entry : entries) metadata.append(std::move(entry.key), std::move(entry.value));
  model.metadata = std::move(metadata);
}

bool is_kind(std::string_view type) { return std::ranges::find(kValueKinds, type) != kValueKinds.end(); }

std::optional<Value> as_real(const Value& value) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  const auto* const whole = value.get<std::int64_t>();
  if (whole == nullptr || *whole > kExact || *whole < -kExact) return std::nullopt;
  return Value(static_cast<double>(*whole));
}

// Converts a list of numbers from 0 to 255 to bytes.
std::optional<Value> bytes_of_list(const Value& value) {
  const List* const items = value.get<List>();
  if (items == nullptr) return std::nullopt;
  Bytes bytes;
  for (const Value& item : *items) {
    const auto* const number = item.get<std::int64_t>();
    if (number == nullptr || *number < 0 || *number > 255) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(*number));
  }
  return Value(std::move(bytes));
}

std::optional<Value> fit_kind(const Value& value, std::string_view type) {
  if (kind_of(value) == type) return value;
  if (type == "float") return as_real(value);
  return type == "bytes" ? bytes_of_list(value) : std::nullopt;
}

std::string never_reserved(std::string_view /*key*/) { return {}; }

}  // namespace

constinit const MetadataRules kPlainMetadata = {.list = list_plain,
                                                .apply = apply_plain,
                                                .is_type = is_kind,
                                                .types = "bool, int, float, text, bytes, list, map",
                                                .fit = fit_kind,
                                                .usual_type = kind_of,
                                                .reserved = never_reserved};

}  // namespace tare
