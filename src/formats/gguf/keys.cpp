// Makes a Model of the keys, and the keys of a Model: which become fields, which metadata, and their order.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "arch/families.hpp"
#include "base/half.hpp"
#include "base/list_numbers.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/gguf/vocabulary.hpp"
#include "formats/own_fields.hpp"
#include "formats/private_tree.hpp"
#include "resources/model_files.hpp"
#include "resources/resources.hpp"

namespace tare::gguf {
namespace {

constexpr std::string_view kPrivateRule = "gguf.private";
// "pt" and the like, in the header of Hugging Face's weight files.
constexpr std::string_view kLibraryKey = "format";

// Returns whether the key is read as a field of the config or as part of the vocabulary.
bool is_field(std::string_view key) {
  const std::string_view rest = key.substr(key.find('.') + 1);
  return key == kArchitectureKey || std::ranges::find(kOwnFields, rest, &OwnField::name) != std::end(kOwnFields) ||
         is_vocabulary_key(key);
}

// ---- the private tree ----

// The fields that the entries do not reproduce exactly.
Map config_rest(const Config& config, const std::vector<Entry>& entries) {
  Model back;
  std::vector<bool> taken(entries.size());
  Diagnostics silent;
  const std::string nowhere;
  take_config(entries, back, taken, Complaints(nowhere, silent));
  const Map found = back.config.to_map();
  Map rest = config.to_map();
  rest.erase_if([&](const Map::Entry& field) {
    const Value* const value = found.find(field.first);
    return value != nullptr && *value == field.second;
  });
  return rest;
}

// Takes fields that the private tree has in addition to the entries, or more exactly. An entry that another program has
// changed since takes precedence.
void take_config_rest(const Map& rest, Config& config) {
  Map fields = config.to_map();
  const auto spelled = [](const Map& map) {
    Map spellings;
    for (const Entry& entry : config_entries(Config::from_map(map)))
      spellings.append(entry.key, std::get<Value>(entry.payload));
    return spellings;
  };
  const Map before = spelled(fields);
  for (const auto& [name, value] : rest) {
    Map more = fields;
    more.set(name, value);
    if (fields.find(name) == nullptr || spelled(more) == before) fields = std::move(more);
  }
  config = Config::from_map(fields);
}

struct PrivateParts {
  Map& said;
  Map* elsewhere;
};

void take_private(const Entry& entry, Model& model, const Complaints& complaints, const PrivateParts& parts) {
  const std::string* const text = std::get<Value>(entry.payload).text();
  try {
    PrivateTree tree = PrivateTree::parse(*text, private_bounds(Limits()), kPrivateRule);
    if (const Map* const config = tree.map("config")) take_config_rest(*config, model.config);
    if (const Map* const vocabulary = tree.map("vocabulary")) take_rest(*vocabulary, model.vocabulary);
    tree.take_metadata(model, [&](const std::string& key) {
      complaints.warning(kPrivateRule,
                         fmt::format("its key \"{}\" is one of the file as well, which counts", quote(key)), entry);
    });
    // Lists that an entry states as floats. An entry that another program has changed since takes precedence.
    if (const Map* const mixed = tree.map("mixed"))
      for (const auto& [key, value] : *mixed)
        if (Value* const found = model.metadata.find(key); found != nullptr && *found == with_one_kind_of_number(value))
          *found = value;
    if (const Map* const facts = tree.map("facts")) parts.said = *facts;
    const NameViewMap<Tensor*> tensors = tensors_by_name(model);
    if (Map* const attributes = parts.elsewhere == nullptr ? nullptr : tree.map("attributes"))
      for (const auto& [name, value] : *attributes)
        if (!tensors.contains(name)) parts.elsewhere->append(name, value);
    tree.take_attributes(tensors, [&](const std::string& name) {
      if (parts.elsewhere == nullptr)
        complaints.warning("gguf.private.stale", fmt::format("there is no tensor {}", quote(name)), entry);
    });
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    complaints.warning(kPrivateRule, fmt::format("is not what Tare writes: {}", error.sentence()), entry);
    model.metadata.append(std::string(kPrivateKey), *text);
  }
}

void take_metadata(Entry& entry, Model& model, const Complaints& complaints) {
  const auto expected = declared_type(entry.key);
  // Fields of the config and parts of the vocabulary were checked when they were read.
  if (expected && !entry.type.array && entry.type != *expected && !is_field(entry.key))
    complaints.warning("gguf.key.type",
                       fmt::format("expected type {}, found {}: programs that need it refuse the file",
                                   expected->text(), entry.type.text()),
                       entry);
  model.metadata.append(entry.key, to_value(std::move(entry.payload), entry.type));
}

// ---- files ----

constexpr std::pair<std::string_view, FactsOf> kAreas[] = {
    {"config", FactsOf::config}, {"tokenizer", FactsOf::tokenizer}, {"ids", FactsOf::ids}};

Map all_facts(const std::vector<Entry>& entries) {
  Map facts;
  for (const auto& [name, area] : kAreas) facts.append(std::string(name), facts_of(entries, area));
  return facts;
}

// Drops attached files that repeat what another program has changed in the keys.
void drop_stale_files(Model& model, const Map& facts, const Map& said, const Complaints& complaints,
                      const Entry& entry) {
  const auto differs = [&](std::string_view area, bool otherwise) {
    const Value *const now = facts.find(area), *const then = said.find(area);
    return now != nullptr && (then == nullptr ? otherwise : *now != *then);
  };
  const auto is_stale = [&](const Attachment& file) {
    // Earlier versions of Tare did not record the ids by themselves.
    if (file.name == "config.json") return differs("config", true) || differs("ids", false);
    if (file.name == "generation_config.json") return differs("ids", false);
    return resources::is_tokenizer_file(file.name) && differs("tokenizer", true);
  };
  std::vector<std::string> stale;
  for (const Attachment& file : model.attachments)
    if (is_stale(file)) stale.push_back(quote(file.name));
  if (stale.empty()) return;
  std::erase_if(model.attachments, is_stale);
  complaints.warning("gguf.files.stale",
                     fmt::format("{}: no longer what the keys of the file say", fmt::join(stale, ", ")), entry);
}

// ---- order ----

bool is_ours(std::string_view key) { return key == kKeysKey || key == kPlainTokensKey || key == kPaddedKey; }

// Returns whether a metadata key of a model can be a key of the file.
bool can_be_key(std::string_view key) {
  return !key.empty() && key.size() <= kMaxKey && is_valid_utf8(key) && key != kPrivateKey && key != kRootKey &&
         key != kTowerKey && !key.starts_with(kFilePrefix);
}

// Returns whether a split.* key of a single file was left by a program that merged a set. The model has recorded its
// type.
bool is_left_over(std::string_view key, const Model& model, const Map& keys) {
  const Value* const count = model.metadata.find(kSplitCount);
  const auto* const number = count == nullptr ? nullptr : count->get<std::int64_t>();
  return keys.find(key) != nullptr && (count == nullptr || (number != nullptr && *number <= 1));
}

// Reads kKeysKey: a list of "KEY=TYPE" in the order of the file, because a container may sort the keys of a map.
// Earlier versions of Tare wrote a map.
Map keys_of(const Model& model) {
  const Value* const kept = model.metadata.find(kKeysKey);
  if (kept == nullptr) return {};
  if (const Map* const map = kept->get<Map>()) return *map;
  const List* const list = kept->get<List>();
  Map keys;
  NameSet there;
  for (const Value& line : list == nullptr ? List() : *list) {
    const std::string* const text = line.text();
    const std::size_t equals = text == nullptr ? std::string::npos : text->rfind('=');
    if (equals != std::string::npos && there.insert(text->substr(0, equals)).second)
      keys.append(text->substr(0, equals), text->substr(equals + 1));
  }
  return keys;
}

List lines_of(const Map& keys) {
  List lines;
  lines.reserve(keys.size());
  for (const auto& [key, type] : keys)
    if (is_valid_utf8(key)) lines.emplace_back(fmt::format("{}={}", key, *type.text()));
  return lines;
}

// The groups are written in this order.
int group_of(std::string_view key) {
  if (key == kArchitectureKey) return 0;
  if (key.starts_with("general.")) return 1;
  if (key == kPrivateKey || key.starts_with(kFilePrefix)) return 4;
  return key.starts_with("tokenizer.") ? 3 : 2;
}

std::vector<Entry> in_order(std::vector<Entry> entries, const Map& keys) {
  NameViewMap<std::size_t> places;
  for (const auto& [key, type] : keys) places.emplace(key, places.size());
  // Keys without a recorded position are sorted by group and name, so that the result does not depend on earlier
  // conversions.
  using Rank = std::tuple<std::size_t, int, std::string_view, std::size_t>;  // the last item: the current position
  std::vector<Rank> ranks;
  ranks.reserve(entries.size());
  for (const Entry& entry : entries) {
    const auto found = places.find(entry.key);
    ranks.push_back(found == places.end()
                        ? Rank(places.size(), group_of(entry.key), std::string_view(entry.key), ranks.size())
                        : Rank(found->second, 0, std::string_view(), ranks.size()));
  }
  if (std::ranges::is_sorted(ranks)) return entries;
  std::ranges::sort(ranks);
  std::vector<Entry> sorted;
  sorted.reserve(entries.size());
  for (const Rank& rank : ranks) sorted.push_back(std::move(entries[std::get<3>(rank)]));
  return sorted;
}

Map key_types(const std::vector<Entry>& entries) {
  Map types;
  types.reserve(entries.size());
  for (const Entry& entry : entries)
    if (group_of(entry.key) < 4) types.append(entry.key, entry.type.text());
  return types;
}

// Returns whether the keys and their types are those of the entries, in this order.
bool are_keys_of(const Map& keys, const std::vector<Entry>& entries) {
  const Map::Entry* next = keys.begin();
  for (const Entry& entry : entries) {
    if (group_of(entry.key) >= 4) continue;
    if (next == keys.end() || next->first != entry.key || *next->second.text() != entry.type.text()) return false;
    ++next;
  }
  return next == keys.end();
}

// Metadata that entries do not state, or not exactly.
struct UnstatedMetadata {
  Map unsupported;  // it cannot be an entry
  Map mixed;        // lists of whole numbers and floats: the entries have floats only
};

// Converts a model's metadata, config and vocabulary to entries. Returns the rest of the vocabulary, too. See
// vocabulary_entries for `with_arrays`.
VocabularyEntries entries_of_model(const Model& model, const Map& keys, UnstatedMetadata& unstated, bool with_arrays) {
  std::vector<Entry> entries;
  entries.reserve(model.metadata.size());
  NameSet there;
  const auto add = [&](Entry entry) {
    if (there.insert(entry.key).second) entries.push_back(std::move(entry));
  };
  std::vector<Entry> made = config_entries(model.config);
  auto [vocabulary, rest] = vocabulary_entries(model, keys, with_arrays);
  std::ranges::move(vocabulary, std::back_inserter(made));
  // Containers with text-only metadata may have a text under the key of a number or a list. It must not replace the
  // hyper-parameter or the tokens.
  NameViewSet numbers;
  for (const Entry& entry : made)
    if (entry.type != EntryType{ValueType::string, false}) numbers.insert(entry.key);
  for (const auto& [key, value] : model.metadata) {
    if (is_ours(key)) continue;
    std::optional<EntryType> type = usual_type(value);
    std::optional<Value> floats;
    if (!type && value.get<List>() != nullptr) {
      Value plain = with_one_kind_of_number(value);
      type = usual_type(plain);
      if (type) floats = std::move(plain);
    }
    const Value& same = floats ? *floats : value;
    if (const Value* const stated = keys.find(key); stated != nullptr && stated->text() != nullptr)
      if (const auto kept = EntryType::parse(*stated->text()); kept && is_of(same, *kept)) type = kept;
    const bool misplaced = value.text() != nullptr && numbers.contains(key);
    // The library that a weight file was written for does not describe this file, unless it had the key before.
    const bool of_other_file = key == kLibraryKey && keys.find(key) == nullptr;
    if (type && !misplaced && !of_other_file && can_be_key(key) &&
        (!is_split_key(key) || is_left_over(key, model, keys))) {
      add({key, *type, same});
      if (floats) unstated.mixed.append(key, value);
    } else {
      unstated.unsupported.append(key, value);
    }
  }
  for (Entry& entry : made) add(std::move(entry));
  return {std::move(entries), std::move(rest)};
}

// Returns whether a writer would choose these keys without kKeysKey.
bool are_usual_keys(const Map& keys, const Model& model) {
  UnstatedMetadata unstated;
  return are_keys_of(keys, in_order(entries_of_model(model, {}, unstated, false).entries, {}));
}

}  // namespace

bool is_split_key(std::string_view key) { return key == kSplitNumber || key == kSplitCount || key == kSplitTensors; }

Error Complaints::about(std::string_view rule, std::string_view sentence, const Entry& entry) const {
  return Error(ErrorKind::corrupt, rule, sentence).in(file_).at(entry.at).about("key " + quote(entry.key));
}
void Complaints::error(std::string_view rule, std::string_view sentence, const Entry& entry) const {
  diagnostics_.error(about(rule, sentence, entry));
}
void Complaints::warning(std::string_view rule, std::string_view sentence, const Entry& entry) const {
  diagnostics_.warning(about(rule, sentence, entry));
}

void interpret(std::vector<Entry>& entries, Model& model, const Complaints& complaints, bool with_vocabulary,
               Map* elsewhere) {
  Map file_keys = key_types(entries);
  // Whether attached files still agree with the keys can be checked only if the tokens were read.
  const bool compared = with_vocabulary && !model.attachments.empty();
  const Map facts = compared ? all_facts(entries) : Map();
  std::vector<bool> taken(entries.size());
  if (with_vocabulary) taken = VocabularyReader(entries, model, complaints).run();
  take_config(entries, model, taken, complaints);
  const Entry* own = nullptr;
  model.metadata.reserve(model.metadata.size() + entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (taken[i] || (!with_vocabulary && is_vocabulary_key(entries[i].key))) continue;
    if (entries[i].key == kPrivateKey && entries[i].type == EntryType{ValueType::string, false})
      own = &entries[i];
    else
      take_metadata(entries[i], model, complaints);
  }
  Map said;
  if (own != nullptr) take_private(*own, model, complaints, {said, elsewhere});
  if (own != nullptr && compared) drop_stale_files(model, facts, said, complaints, *own);
  if (!with_vocabulary) return;
  entries = {};  // frees up to hundreds of thousands of values that the model has now
  if (!are_usual_keys(file_keys, model)) model.metadata.append(std::string(kKeysKey), lines_of(file_keys));
}

std::vector<Entry> entries_of(const Model& model) {
  const Map keys = keys_of(model);
  PrivateTree tree(kPrivateRule);
  UnstatedMetadata unstated;
  auto [entries, rest] = entries_of_model(model, keys, unstated, true);
  for (const Attachment& file : model.attachments)
    entries.push_back(
        {fmt::format("{}{}", kFilePrefix, file.name), {ValueType::u8, true}, Value(file.blob.bytes(kMaxCount))});
  if (!model.attachments.empty()) tree.put("facts", all_facts(entries));
  tree.put("metadata", std::move(unstated.unsupported));
  tree.put("mixed", std::move(unstated.mixed));
  tree.put("config", config_rest(model.config, entries));
  tree.put("vocabulary", std::move(rest));
  std::vector<const Tensor*> tensors;
  for (const Tensor& tensor : model.tensors) tensors.push_back(&tensor);
  tree.put_attributes(tensors);
  if (!tree.empty()) entries.push_back({std::string(kPrivateKey), {ValueType::string, false}, Value(tree.text())});
  return in_order(std::move(entries), keys);
}

}  // namespace tare::gguf
