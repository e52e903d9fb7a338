// What safetensors has no place for, in one string of its metadata:
//
//   "__tare__": {"tare":1, "metadata":{...}, "config":{...}, "attributes":{TENSOR:{...}}}
//
// metadata holds the entries that are no UTF-8 strings; the others stand in __metadata__ themselves. Values are spelled
// as wire/value_json.hpp says.
#include <fmt/format.h>

#include <algorithm>

#include "base/name_map.hpp"
#include "base/text.hpp"
#include "formats/safetensors/safetensors.hpp"
#include "wire/value_json.hpp"

namespace tare::safetensors {
namespace {

Map* map_at(Map& map, std::string_view key) {
  Value* const value = map.find(key);
  if (value == nullptr) return nullptr;
  if (value->get<Map>() == nullptr)
    throw Error(ErrorKind::corrupt, "safetensors.private.form", fmt::format("\"{}\" is not an object", key));
  return value->get<Map>();
}

bool is_plain_entry(const Map::Entry& entry) {
  const std::string* const text = entry.second.text();
  return text != nullptr && entry.first != kPrivateKey && is_valid_utf8(entry.first) && is_valid_utf8(*text);
}

void apply(Map& root, Model& model) {
  const Value* const version = root.find("tare");
  if (version == nullptr || *version != Value(1))
    throw Error(ErrorKind::corrupt, "safetensors.private.form", "\"tare\":1 expected: written by a later version?");
  Map* const metadata = map_at(root, "metadata");
  const Map* const config = map_at(root, "config");
  Map* const attributes = map_at(root, "attributes");
  NameViewMap<Tensor*> tensors;
  if (attributes != nullptr) {
    for (Tensor& tensor : model.tensors) tensors.emplace(tensor.name, &tensor);
    for (const auto& [name, value] : *attributes)
      if (value.get<Map>() == nullptr)
        throw Error(ErrorKind::corrupt, "safetensors.private.form", "an entry of \"attributes\" is not an object");
  }
  // From here on nothing fails.
  if (metadata != nullptr)
    for (auto& [key, value] : *metadata) model.metadata.set(key, std::move(value));
  if (config != nullptr) model.config = Config::from_map(*config);
  if (attributes == nullptr) return;
  for (auto& [name, value] : *attributes)
    if (const auto found = tensors.find(name); found != tensors.end())
      found->second->attributes = std::move(*value.get<Map>());
}

}  // namespace

void take_private(Model& model, const std::string& file, const Limits& limits, Diagnostics& diagnostics) {
  const Value* const kept = model.metadata.find(kPrivateKey);
  if (kept == nullptr || kept->text() == nullptr) return;
  try {
    // Our spellings nest up to three levels for one of the value's, and the value hangs three levels down.
    Value root = wire::parse_value_json(*kept->text(), {3 * limits.depth + 8, limits.values_in(kept->text()->size())});
    if (root.get<Map>() == nullptr) throw Error(ErrorKind::corrupt, "safetensors.private.form", "an object expected");
    const Value text = *kept;
    model.metadata.erase(kPrivateKey);
    try {
      apply(*root.get<Map>(), model);
    } catch (const Error&) {
      model.metadata.set(kPrivateKey, text);
      throw;
    }
  } catch (const Error& error) {
    diagnostics.warning(Error(ErrorKind::corrupt, "safetensors.private.form", error.sentence())
                            .in(file)
                            .at(8)
                            .about(fmt::format("{} {}", kMetadataKey, kPrivateKey)));
  }
}

Strings string_metadata(const Model& model, std::span<const Tensor* const> tensors, bool first) {
  Strings strings;
  Map others, attributes;
  for (const auto& entry : model.metadata) {
    if (is_plain_entry(entry))
      strings.emplace_back(entry.first, *entry.second.text());
    else
      others.append(entry.first, entry.second);
  }
  std::vector<const Tensor*> with;
  for (const Tensor* const tensor : tensors)
    if (!tensor->attributes.empty()) with.push_back(tensor);
  std::sort(with.begin(), with.end(), [](const Tensor* a, const Tensor* b) { return a->name < b->name; });
  for (const Tensor* const tensor : with) attributes.append(tensor->name, tensor->attributes);

  Map root;
  root.append("tare", 1);
  if (first && !others.empty()) root.append("metadata", std::move(others));
  if (first && !model.config.empty()) root.append("config", model.config.to_map());
  if (!attributes.empty()) root.append("attributes", std::move(attributes));
  if (root.size() > 1) strings.emplace_back(kPrivateKey, wire::write_value_json(root));
  std::sort(strings.begin(), strings.end());
  return strings;
}

}  // namespace tare::safetensors
