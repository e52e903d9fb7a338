// The entries of a file as an editable list. amend.cpp writes them back.
#include <fmt/format.h>

#include <algorithm>

#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/gguf/vocabulary.hpp"
#include "resources/resources.hpp"

namespace tare::gguf {
namespace {

// Removes fields that came from the private tree although their keys were removed.
void forget_fields(Model& model, const NameSet& gone) {
  Map fields = model.config.to_map();
  for (const auto& [key, field] : config_keys(model.config))
    if (gone.contains(key)) fields.erase(field);
  model.config = Config::from_map(fields);
  for (const auto& [key, id] : kSpecialKeys)
    if (gone.contains(key)) model.vocabulary.*id = -1;
}

// Throws `meta.value` if the architecture has another name now, but hyper-parameters still begin with the old one: no
// program would find them.
void require_prefix(const NameSet& before, std::string_view architecture, const std::vector<MetadataEntry>& list) {
  const std::string prefix = fmt::format("{}.", architecture);
  const auto named = std::ranges::find(list, kArchitectureKey, &MetadataEntry::key);
  if (architecture.empty() || named == list.end() || named->value == Value(architecture)) return;
  for (const MetadataEntry& entry : list)
    if (entry.key.starts_with(prefix) && before.contains(entry.key))
      throw Error(
          ErrorKind::unsupported, "meta.value",
          fmt::format("keys that begin with the old name remain ({}): they must be renamed with it", quote(entry.key)))
          .about(fmt::format("key {}", kArchitectureKey));
}

}  // namespace

std::vector<MetadataEntry> list_entries(const Model& model) {
  std::vector<MetadataEntry> list;
  for (Entry& entry : entries_of(model))
    if (!entry.key.starts_with(kFilePrefix))
      list.push_back({std::move(entry.key), entry.type.text(), to_value(std::move(entry.payload), entry.type)});
  return list;
}

std::string reserved_key(std::string_view key) {
  if (key.empty()) return "a key without a name";
  if (key.size() > kMaxKey) return fmt::format("expected a key of at most {} bytes, found {}", kMaxKey, key.size());
  if (is_split_key(key)) return "it counts the files of a set";
  if (key.starts_with("GGUF.")) return "the package gguf keeps the fields of the header under such names";
  if (key.starts_with(kFilePrefix)) return "it holds an attached file";
  if (key == kPrivateKey) return "it holds what has no other key, and is made anew with the file";
  if (key == kKeysKey || key == kPlainTokensKey || key == kPaddedKey || key == kRootKey || key == kTowerKey)
    return "it is Tare's name for what it knows about a file, not a key in one";
  return {};
}

void apply_entries(Model& model, std::vector<MetadataEntry> list) {
  NameSet gone;
  std::string architecture;
  for (const Entry& entry : entries_of(model)) {
    gone.insert(entry.key);
    const Value* const value = std::get_if<Value>(&entry.payload);
    if (entry.key == kArchitectureKey && value != nullptr && value->text() != nullptr) architecture = *value->text();
  }
  require_prefix(gone, architecture, list);
  std::vector<Entry> entries;
  entries.reserve(list.size());
  for (MetadataEntry& entry : list) {
    gone.erase(entry.key);
    const EntryType type = *EntryType::parse(entry.type);
    entries.push_back({std::move(entry.key), type, to_payload(std::move(entry.value), type)});
  }
  alignment_in(entries);
  const bool padded = is_padded(model);
  Map kept;
  for (const std::string_view key : {kRootKey, kTowerKey})
    if (const Value* const found = model.metadata.find(key)) kept.append(std::string(key), *found);
  model.metadata = {};
  if (padded) model.metadata.append(std::string(kPaddedKey), true);
  for (const auto& [key, value] : kept) model.metadata.append(key, value);
  model.config = {};
  model.vocabulary = {};
  Diagnostics strict;
  const std::string nowhere;
  try {
    interpret(entries, model, Complaints(nowhere, strict), true, nullptr);
  } catch (const Error& error) {
    throw Error(ErrorKind::unsupported, "meta.value", error.sentence()).about(error.item());
  }
  forget_fields(model, gone);
}

bool is_entry_type(std::string_view type) { return EntryType::parse(type).has_value(); }

std::optional<Value> fit_entry(const Value& value, std::string_view type) {
  const auto known = EntryType::parse(type);
  return known ? fitted(value, *known) : std::nullopt;
}

std::string declared_entry_type(std::string_view key) {
  const auto type = declared_type(key);
  return type ? type->text() : std::string();
}

std::string usual_entry_type(const Value& value) {
  const auto type = usual_type(value);
  return type ? type->text() : std::string();
}

}  // namespace tare::gguf
