#include "formats/npz/private.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/path_parts.hpp"
#include "base/printable.hpp"
#include "formats/private_tree.hpp"
#include "model/stored_vocabulary.hpp"

namespace tare::npz {
namespace {

Error malformed(std::string_view rule, std::string_view sentence) {
  return Error(ErrorKind::corrupt, rule, sentence).about(kPrivateMember);
}

// Returns whether the array's own descriptor loses the type.
bool needs_type(const Component& data) {
  return data.dtype == DType::bf16 || (data.dtype == DType::u8 && !data.type.empty());
}

class PrivateReader {
 public:
  PrivateReader(Model& model, std::vector<std::string>& typed, Diagnostics& diagnostics)
      : model_(model), typed_(typed), diagnostics_(diagnostics), tensors_(tensors_by_name(model)) {}

  void run(PrivateTree& tree) {
    if (Map* const map = tree.map("metadata")) model_.metadata = std::move(*map);
    tree.take_config(model_);
    tree.take_vocabulary(model_);
    tree.for_texts("types", [&](const std::string& name, const std::string& type) { set_type(name, type); });
    tree.take_attributes(tensors_, [&](const std::string& name) { stale("tensor", name); });
    rename(tree);
  }

 private:
  Tensor* find(const std::string& name) {
    const auto found = tensors_.find(name);
    if (found != tensors_.end()) return found->second;
    stale("tensor", name);
    return nullptr;
  }
  void stale(std::string_view what, std::string_view name) {
    diagnostics_.warning(
        malformed("npz.private.stale", fmt::format("names {} \"{}\", which does not exist", what, quote(name))));
  }

  void set_type(const std::string& name, const std::string& type) {
    Tensor* const tensor = find(name);
    if (tensor == nullptr || tensor->components.empty()) return;
    Component& data = tensor->components.front();
    if (type != name_of(data.dtype)) {
      const LogicalType* const known = find_logical_type(type);
      if (known == nullptr || known->storage != data.dtype || known->per_element != 1 ||
          (!data.type.empty() && data.type != type))
        throw malformed("npz.private.type", fmt::format("\"{}\" is stated to be {}; its array holds {}", quote(name),
                                                        quote(type), data.type_name()));
      data.type = type;
    }
    typed_.push_back(name);
  }

  void rename(PrivateTree& tree) {
    NameViewMap<Attachment*> members;
    for (Attachment& attachment : model_.attachments) members.emplace(attachment.name, &attachment);
    std::vector<std::pair<Attachment*, std::string>> found;
    tree.for_texts("attachments", [&](const std::string& member, const std::string& name) {
      const auto at = members.find(member);
      if (at == members.end())
        stale("attachment", member);
      else
        found.emplace_back(at->second, name);
    });
    for (auto& [attachment, name] : found) attachment->name = std::move(name);
  }

  Model& model_;
  std::vector<std::string>& typed_;
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
  Map types, attachments;
  // Sorted by name, as the members are, so that the same tensors give the same text.
  std::vector<const Tensor*> tensors;
  for (const Tensor& tensor : model.tensors) tensors.push_back(&tensor);
  std::sort(tensors.begin(), tensors.end(), [](const Tensor* x, const Tensor* y) { return x->name < y->name; });
  for (const Tensor* const tensor : tensors)
    if (const Component& data = tensor->components.front(); needs_type(data))
      types.append(tensor->name, std::string(data.type_name()));
  for (const auto& [member, name] : renamed) attachments.append(member, name);
  PrivateTree tree("npz.private.form");
  tree.put("metadata", model.metadata);
  tree.put("config", model.config.to_map());
  if (!model.vocabulary.empty()) tree.put("vocabulary", stored_map(model.vocabulary));
  tree.put("types", std::move(types));
  tree.put_attributes(tensors);
  tree.put("attachments", std::move(attachments));
  // In an archive without arrays, only this member identifies the format.
  if (tree.empty() && !(model.tensors.empty() && !model.attachments.empty())) return {};
  return tree.text();
}

void read_private(std::string_view text, const wire::TreeBounds& bounds, Model& model, std::vector<std::string>& typed,
                  Diagnostics& diagnostics) {
  try {
    PrivateTree tree = PrivateTree::parse(text, bounds, "npz.private.form", "npz.private.version");
    PrivateReader(model, typed, diagnostics).run(tree);
  } catch (Error& error) {
    throw error.about(kPrivateMember);
  }
}

}  // namespace tare::npz
