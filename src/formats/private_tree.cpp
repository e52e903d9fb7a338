#include "formats/private_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace tare {

wire::TreeBounds private_bounds(const Limits& limits) { return {.depth = 3 * limits.depth + 8}; }

Error PrivateTree::malformed(std::string_view sentence) const { return {ErrorKind::corrupt, rule_, sentence}; }

PrivateTree PrivateTree::parse(std::string_view text, wire::TreeBounds bounds, std::string_view rule,
                               std::string_view version_rule) {
  PrivateTree tree(rule);
  Value root = wire::parse_value_json(text, bounds);
  if (root.get<Map>() == nullptr) throw tree.malformed("expected an object");
  tree.parts_ = std::move(*root.get<Map>());
  if (const Value* const version = tree.find("tare"); version == nullptr || *version != Value(1))
    throw Error(ErrorKind::corrupt, version_rule,
                "expected \"tare\":1; it was written by a later version, or by another program");
  return tree;
}

void PrivateTree::put(std::string_view part, Value value) { parts_.append(std::string(part), std::move(value)); }
void PrivateTree::put(std::string_view part, Map map) {
  if (!map.empty()) put(part, Value(std::move(map)));
}
void PrivateTree::put(std::string_view part, List list) {
  if (!list.empty()) put(part, Value(std::move(list)));
}

void PrivateTree::put_attributes(std::span<const Tensor* const> tensors) {
  std::vector<const Tensor*> with;
  for (const Tensor* const tensor : tensors)
    if (!tensor->attributes.empty()) with.push_back(tensor);
  std::ranges::sort(with, {}, [](const Tensor* tensor) -> const std::string& { return tensor->name; });
  Map attributes;
  for (const Tensor* const tensor : with) attributes.append(tensor->name, tensor->attributes);
  put("attributes", std::move(attributes));
}

std::string PrivateTree::text() const {
  // Written part by part: a copy of all parts, with the version before them, would take twice the memory.
  std::string text = R"({"tare":1)";
  for (const auto& [part, value] : parts_) {
    text += ',';
    append_json_string(text, part);
    text.append(":").append(wire::write_value_json(value));
  }
  return text + '}';
}

Map* PrivateTree::map(std::string_view part) {
  Value* const value = parts_.find(part);
  if (value == nullptr) return nullptr;
  if (value->get<Map>() == nullptr) throw malformed(fmt::format("\"{}\" is not an object", part));
  return value->get<Map>();
}

Value PrivateTree::release(std::string_view part) {
  Value value = std::move(*parts_.find(part));
  parts_.erase(part);
  return value;
}

void PrivateTree::take_metadata(Model& model, const std::function<void(const std::string&)>& repeated) {
  Map* const entries = map("metadata");
  if (entries == nullptr) return;
  for (auto& [key, value] : *entries)
    if (model.metadata.find(key) == nullptr)
      model.metadata.append(key, std::move(value));
    else
      repeated(key);
}

void PrivateTree::take_config(Model& model) {
  if (const Map* const fields = map("config")) model.config = Config::from_map(*fields);
}

void PrivateTree::take_vocabulary(Model& model) {
  if (const Map* const parts = map("vocabulary")) model.vocabulary = Vocabulary::from_map(*parts);
}

void PrivateTree::for_texts(std::string_view part,
                            const std::function<void(const std::string& name, const std::string& text)>& take) {
  const Map* const entries = map(part);
  if (entries == nullptr) return;
  for (const auto& [name, text] : *entries) {
    if (text.text() == nullptr) throw malformed(fmt::format("an entry of \"{}\" is not a string", part));
    take(name, *text.text());
  }
}

void PrivateTree::take_attributes(const NameViewMap<Tensor*>& tensors,
                                  const std::function<void(const std::string&)>& stale) {
  Map* const entries = map("attributes");
  if (entries == nullptr) return;
  for (const auto& [name, attributes] : *entries)
    if (attributes.get<Map>() == nullptr) throw malformed("an entry of \"attributes\" is not an object");
  for (auto& [name, attributes] : *entries)
    if (const auto found = tensors.find(name); found != tensors.end())
      found->second->attributes = std::move(*attributes.get<Map>());
    else
      stale(name);
}

NameViewMap<Tensor*> tensors_by_name(Model& model) {
  NameViewMap<Tensor*> tensors;
  for (Tensor& tensor : model.tensors) tensors.emplace(tensor.name, &tensor);
  for (BrokenTensor& broken : model.broken) tensors.emplace(broken.tensor.name, &broken.tensor);
  return tensors;
}

}  // namespace tare
