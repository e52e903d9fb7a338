// What safetensors has no field for, as one string of its metadata: "__tare__", a tree (formats/private_tree.hpp). Its
// metadata part has the entries that are not UTF-8 strings; all others are in __metadata__ directly.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.hpp"
#include "formats/private_tree.hpp"
#include "formats/safetensors/safetensors.hpp"

namespace tare::safetensors {
namespace {

constexpr std::string_view kRule = "safetensors.private.form";

bool is_plain_entry(const Map::Entry& entry) {
  const std::string* const text = entry.second.text();
  return text != nullptr && entry.first != kPrivateKey && is_valid_utf8(entry.first) && is_valid_utf8(*text);
}

void apply(PrivateTree& tree, Model& model, const std::function<void(const std::string&)>& repeated) {
  for (const char* const part : {"metadata", "config"}) tree.map(part);  // checks the form before anything is taken
  tree.take_attributes(tensors_by_name(model), [](const std::string& /*stale*/) {});
  tree.take_config(model);
  model.metadata.erase(kPrivateKey);
  tree.take_metadata(model, repeated);
}

}  // namespace

void take_private(Model& model, const std::string& file, const Limits& limits, Diagnostics& diagnostics) {
  const Value* const kept = model.metadata.find(kPrivateKey);
  if (kept == nullptr || kept->text() == nullptr) return;
  const auto warn = [&](std::string_view sentence) {
    diagnostics.warning(Error(ErrorKind::corrupt, kRule, sentence)
                            .in(file)
                            .at(8)
                            .about(fmt::format("{} {}", kMetadataKey, kPrivateKey)));
  };
  try {
    PrivateTree tree = PrivateTree::parse(*kept->text(), private_bounds(limits), kRule);
    apply(tree, model, [&](const std::string& key) {
      warn(fmt::format("its key \"{}\" is one of {} as well, which counts", quote(key), kMetadataKey));
    });
  } catch (const Error& error) {
    warn(error.sentence());
  }
}

Strings string_metadata(const Model& model, std::span<const Tensor* const> tensors, bool first) {
  Strings strings;
  Map others;
  for (const auto& entry : model.metadata) {
    if (is_plain_entry(entry))
      strings.emplace_back(entry.first, *entry.second.text());
    else
      others.append(entry.first, entry.second);
  }
  PrivateTree tree(kRule);
  if (first) tree.put("metadata", std::move(others));
  if (first) tree.put("config", model.config.to_map());
  tree.put_attributes(tensors);
  if (!tree.empty()) strings.emplace_back(kPrivateKey, tree.text());
  std::sort(strings.begin(), strings.end());
  return strings;
}

}  // namespace tare::safetensors
