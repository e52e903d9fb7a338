#include "formats/npz/private.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/name_map.hpp"
#include "base/path_parts.hpp"

namespace tare::npz {
namespace {

Error malformed(std::string_view rule, std::string_view sentence) {
  return Error(ErrorKind::corrupt, rule, sentence).about(kPrivateMember);
}

Map* map_at(Map& map, std::string_view key) {
  Value* const value = map.find(key);
  if (value == nullptr) return nullptr;
  if (value->get<Map>() == nullptr) throw malformed("npz.private.form", fmt::format("\"{}\" is not an object", key));
  return value->get<Map>();
}

const std::string& text_of(const Value& value, std::string_view key) {
  if (value.text() == nullptr)
    throw malformed("npz.private.form", fmt::format("an entry of \"{}\" is not a string", key));
  return *value.text();
}

// Types that the arrays' own descriptors lose.
bool needs_type(const Component& data) {
  return data.dtype == DType::bf16 || (data.dtype == DType::u8 && !data.type.empty());
}

class PrivateReader {
 public:
  PrivateReader(Model& model, std::vector<std::string>& vouched, Diagnostics& diagnostics)
      : model_(model), vouched_(vouched), diagnostics_(diagnostics) {
    for (Tensor& tensor : model.tensors) tensors_.emplace(tensor.name, &tensor);
  }

  void run(Map& root) {
    if (const Value* const version = root.find("tare"); version == nullptr || *version != Value(1))
      throw malformed("npz.private.version", "\"tare\":1 expected: written by a later version?");
    if (Map* const map = map_at(root, "metadata")) model_.metadata = std::move(*map);
    if (const Map* const map = map_at(root, "config")) model_.config = Config::from_map(*map);
    if (const Map* const map = map_at(root, "vocabulary")) model_.vocabulary = Vocabulary::from_map(*map);
    if (const Map* const map = map_at(root, "types"))
      for (const auto& [name, type] : *map) set_type(name, text_of(type, "types"));
    if (Map* const map = map_at(root, "attributes"))
      for (auto& [name, attributes] : *map) set_attributes(name, attributes);
    if (const Map* const map = map_at(root, "attachments")) rename(*map);
  }

 private:
  Tensor* find(const std::string& name) {
    const auto found = tensors_.find(name);
    if (found != tensors_.end()) return found->second;
    stale("tensor", name);
    return nullptr;
  }
  void stale(std::string_view what, std::string_view name) {
    diagnostics_.warning(malformed("npz.private.stale",
                                   fmt::format("speaks of {} \"{}\", which is not there", what, escape_name(name))));
  }

  void set_type(const std::string& name, const std::string& type) {
    Tensor* const tensor = find(name);
    if (tensor == nullptr) return;
    Component& data = tensor->components.front();
    if (type != name_of(data.dtype)) {
      const LogicalType* const known = find_logical_type(type);
      if (known == nullptr || known->storage != data.dtype || known->per_element != 1 ||
          (!data.type.empty() && data.type != type))
        throw malformed("npz.private.type", fmt::format("\"{}\" is said to be {}; its array holds {}",
                                                        escape_name(name), escape_name(type), data.type_name()));
      data.type = type;
    }
    vouched_.push_back(name);
  }

  void set_attributes(const std::string& name, Value& attributes) {
    if (attributes.get<Map>() == nullptr)
      throw malformed("npz.private.form", "an entry of \"attributes\" is not an object");
    if (Tensor* const tensor = find(name)) tensor->attributes = std::move(*attributes.get<Map>());
  }

  void rename(const Map& names) {
    NameViewMap<Attachment*> members;
    for (Attachment& attachment : model_.attachments) members.emplace(attachment.name, &attachment);
    std::vector<std::pair<Attachment*, const std::string*>> found;
    for (const auto& [member, name] : names) {
      const auto at = members.find(member);
      if (at == members.end())
        stale("attachment", member);
      else
        found.emplace_back(at->second, &text_of(name, "attachments"));
    }
    for (const auto& [attachment, name] : found) attachment->name = *name;
  }

  Model& model_;
  std::vector<std::string>& vouched_;
  Diagnostics& diagnostics_;
  NameViewMap<Tensor*> tensors_;
};

}  // namespace

bool is_safe_name(std::string_view name) { return !name.ends_with(".npy") && is_safe_path(name); }

bool is_safe_path(std::string_view name) {
  if (name.empty() || name.size() > 65535 || name.starts_with(kPrivatePrefix)) return false;
  if (name.front() == '/' || name.back() == '/' ||
      name.find_first_of(std::string_view("\0\\:", 3)) != std::string_view::npos)
    return false;
  return stays_below(name);
}

std::string write_private(const Model& model, const std::vector<std::pair<std::string, std::string>>& renamed) {
  Map types, attributes, attachments, root;
  // By name, as the members are: the same tensors give the same text.
  std::vector<const Tensor*> tensors;
  for (const Tensor& tensor : model.tensors) tensors.push_back(&tensor);
  std::sort(tensors.begin(), tensors.end(), [](const Tensor* x, const Tensor* y) { return x->name < y->name; });
  for (const Tensor* const tensor : tensors) {
    const Component& data = tensor->components.front();
    if (needs_type(data)) types.append(tensor->name, std::string(data.type_name()));
    if (!tensor->attributes.empty()) attributes.append(tensor->name, tensor->attributes);
  }
  for (const auto& [member, name] : renamed) attachments.append(member, name);
  root.append("tare", 1);
  const auto put = [&](std::string key, Map map) {
    if (!map.empty()) root.append(std::move(key), std::move(map));
  };
  put("metadata", model.metadata);
  put("config", model.config.to_map());
  if (!model.vocabulary.empty()) put("vocabulary", model.vocabulary.to_map());
  put("types", std::move(types));
  put("attributes", std::move(attributes));
  put("attachments", std::move(attachments));
  // Without an array in it, only this member says what the archive is.
  if (root.size() == 1 && !(model.tensors.empty() && !model.attachments.empty())) return {};
  return wire::write_value_json(root);
}

void read_private(std::string_view text, wire::TreeBounds bounds, Model& model, std::vector<std::string>& vouched,
                  Diagnostics& diagnostics) {
  // Our spellings nest up to three levels for one of the value's, and the value hangs three levels down.
  bounds.depth = 3 * bounds.depth + 8;
  Value root = wire::parse_value_json(text, bounds);
  if (root.get<Map>() == nullptr) throw malformed("npz.private.form", "an object expected");
  PrivateReader(model, vouched, diagnostics).run(*root.get<Map>());
}

}  // namespace tare::npz
