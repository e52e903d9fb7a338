// Tensors that llama.cpp has no use for and would refuse: in a GGUF file they are attached files, so that the way back to a
// directory is exact.
#include "formats/gguf/llama_cpp/aside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/checked.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"

namespace tare::gguf::llama_cpp {
namespace {

// Attached files: this, and the name of the tensor. Metadata: a list with name, type and shape of each.
constexpr std::string_view kAsideFolder = "gguf.aside/", kAsideKey = "gguf.aside";

std::string aside_file(std::string_view name) { return fmt::format("{}{}", kAsideFolder, name); }

// The attached files by their names: there may be as many as tensors, so none is searched for among all.
using AsideFiles = std::map<std::string_view, const Attachment*>;

// The tensor that an entry of the list describes; nothing unless its file has that many bytes.
std::optional<Tensor> restored_aside(const AsideFiles& files, const Value& item) {
  const Map* const entry = item.get<Map>();
  if (entry == nullptr) return std::nullopt;
  const std::string *const name = resources::get<std::string>(*entry, "name"), *const said =
                                                                                   resources::get<std::string>(*entry,
                                                                                                               "type");
  const List* const sizes = resources::get<List>(*entry, "shape");
  if (name == nullptr || name->empty() || said == nullptr || sizes == nullptr || sizes->size() > kMaxAsideRank)
    return std::nullopt;
  const auto type = parse_dtype(*said);
  if (!type) return std::nullopt;
  const DType stored = *type;
  Shape shape;
  for (const Value& size : *sizes) {
    const auto count = resources::count_of(size);
    if (!count) return std::nullopt;
    shape.push_back(*count);
  }
  const auto file = files.find(aside_file(*name));
  const auto elements = shape.elements();
  const auto bytes = elements ? checked_mul(*elements, std::uint64_t{size_of(stored)}) : std::nullopt;
  if (file == files.end() || !bytes || *bytes != file->second->blob.size()) return std::nullopt;
  return dense(*name, shape, stored, file->second->blob);
}

const List* aside_list(const Model& model) {
  const Value* const found = model.metadata.find(kAsideKey);
  return found == nullptr ? nullptr : found->get<List>();
}

}  // namespace

bool is_for_aside(const arch::Family& family, std::string_view name) {
  const auto begins = [&](std::string_view rest) {
    return std::ranges::any_of(family.runtime.aside, [&](std::string_view word) { return rest.starts_with(word); });
  };
  for (const arch::Root root : {arch::Root::bert, arch::Root::roberta, arch::Root::model})
    if (const std::string_view own = arch::name_of(root);
        name.starts_with(own) && name.substr(own.size()).starts_with('.'))
      return begins(name.substr(own.size() + 1));
  return begins(name);
}

std::string spelled_as(std::string name, const Value& end) {
  for (const auto& [own, usual] : kNormEnds)
    if (end == Value(own) && name.ends_with(usual)) name.replace(name.size() - usual.size(), usual.size(), own);
  return name;
}

bool set_aside(Model& model, const Tensor& tensor) {
  if (!tensor.is_dense() || tensor.components.size() != 1 || !tensor.components.front().type.empty() ||
      tensor.shape.rank() > kMaxAsideRank || tensor.components.front().blob.size() > kMaxAsideBytes)
    return false;
  List shape;
  for (const std::uint64_t size : tensor.shape) shape.emplace_back(static_cast<std::int64_t>(size));
  Map entry;
  entry.append("name", tensor.name);
  entry.append("type", std::string(name_of(tensor.components.front().dtype)));
  entry.append("shape", std::move(shape));
  Value* const kept = model.metadata.find(kAsideKey);
  if (List* const all = kept == nullptr ? nullptr : kept->get<List>())
    all->emplace_back(std::move(entry));
  else
    model.metadata.set(kAsideKey, List{Value(std::move(entry))});
  model.attachments.push_back({aside_file(tensor.name), tensor.components.front().blob});
  return true;
}

std::size_t count_aside(const Model& model) { return aside_list(model) == nullptr ? 0 : aside_list(model)->size(); }

std::vector<Tensor> take_aside(Model& model, std::vector<Change>& changes) {
  std::vector<Tensor> tensors;
  std::vector<std::string> lost;
  AsideFiles files;
  for (const Attachment& file : model.attachments)
    if (file.name.starts_with(kAsideFolder)) files.emplace(file.name, &file);
  std::set<std::string, std::less<>> seen;
  for (const Value& item : aside_list(model) == nullptr ? List() : *aside_list(model)) {
    std::optional<Tensor> tensor = restored_aside(files, item);
    if (tensor && seen.insert(tensor->name).second)
      tensors.push_back(std::move(*tensor));
    else
      lost.emplace_back(quote(to_json(item)));
  }
  std::erase_if(model.attachments, [](const Attachment& file) { return file.name.starts_with(kAsideFolder); });
  model.metadata.erase(kAsideKey);
  if (!lost.empty())
    changes.push_back({.kind = ChangeKind::left_out,
                       .impact = Impact::lost,
                       .part = std::string(kAsideKey),
                       .items = std::move(lost),
                       .detail = "the file does not have their bytes"});
  return tensors;
}

}  // namespace tare::gguf::llama_cpp
