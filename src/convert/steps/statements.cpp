#include "convert/steps/statements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/checked.hpp"
#include "base/name_map.hpp"
#include "base/text.hpp"
#include "codecs/packs/stored.hpp"
#include "convert/wording.hpp"
#include "resources/config_dtype.hpp"
#include "resources/config_quantization.hpp"
#include "resources/packed_config.hpp"
#include "resources/resources.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

// The plain float type of most of the tensors' bytes; nothing if most have another type.
std::optional<DType> common_float(const Model& model) {
  std::map<std::optional<DType>, std::uint64_t> bytes;
  for (const Tensor& tensor : model.tensors) {
    const Component* const data = tensor.is_dense() ? tensor.component("data") : nullptr;
    const bool plain = data != nullptr && data->type.empty() && is_float(data->dtype);
    std::uint64_t& sum = bytes[plain ? std::optional(data->dtype) : std::nullopt];
    sum = checked_add(sum, tensor.bytes()).value_or(UINT64_MAX);
  }
  const auto most =
      std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? std::nullopt : most->first;
}

std::vector<std::string> packed_tensors(const Model& model) {
  std::vector<std::string> names;
  for (const Tensor& tensor : model.tensors)
    if (codec::packs::is_joined(tensor)) names.push_back(tensor.name);
  return names;
}

std::optional<std::uint64_t> elements_of(const Model& model) {
  std::optional<std::uint64_t> sum = 0;
  for (const Tensor& tensor : model.tensors) {
    const auto elements = tensor.shape.elements();
    sum = sum && elements ? checked_add(*sum, *elements) : std::nullopt;
  }
  return sum;
}

}  // namespace

Statements::Statements(const Model& model)
    : packed_(packed_tensors(model)), common_(common_float(model)), elements_(elements_of(model)) {}

void Statements::update(Model& model, std::vector<Change>& lines) const {
  update_dtype(model, lines);
  update_counts(model, lines);
}

void Statements::update_dtype(Model& model, std::vector<Change>& lines) const {
  const auto now = common_float(model);
  if (!now || now == common_) return;
  const auto file = std::ranges::find(model.attachments, std::string_view("config.json"), &Attachment::name);
  if (file == model.attachments.end() || file->blob.size() > resources::kMaxFileBytes) return;
  const Bytes bytes = file->blob.bytes(resources::kMaxFileBytes);
  try {
    const auto restated = resources::restate_dtype(as_text(bytes), *now);
    if (!restated) return;
    file->blob = Blob::memory(to_bytes(restated->text));
    lines.push_back({.kind = ChangeKind::restated,
                     .impact = Impact::detail,
                     .part = "config.json",
                     .items = {"dtype"},
                     .before = restated->before,
                     .after = std::string(resources::name_in_config(*now))});
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;  // the reader of the file reports that it does not parse
  }
}

void Statements::forget_decoded(Model& model, bool packed_anew, std::vector<Change>& lines) const {
  if ((packed_anew || !packed_.empty()) && !codec::packs::has_joined(model)) forget_packing(model, lines);
}

std::vector<std::string> Statements::decoded(const Model& model) const {
  std::vector<std::string> decoded;
  if (packed_.empty()) return decoded;
  const NameViewSet packed(packed_.begin(), packed_.end());
  for (const Tensor& tensor : model.tensors)
    if (packed.contains(tensor.name) && !codec::packs::is_joined(tensor)) decoded.push_back(tensor.name);
  return decoded;
}

void forget_packing(Model& model, std::vector<Change>& lines) {
  const std::string why = "the weights are no longer packed";
  if (model.metadata.erase(resources::kPackingKey))
    lines.push_back(needless("metadata", std::string(resources::kPackingKey), why));
  for (Attachment& file : model.attachments) {
    if (file.name != "config.json" || file.blob.size() > resources::kMaxFileBytes) continue;
    const Bytes bytes = file.blob.bytes(resources::kMaxFileBytes);
    try {
      const auto plain = resources::without_quantization(as_text(bytes));
      if (!plain) continue;
      file.blob = Blob::memory(to_bytes(plain->text));
      for (const std::string& key : plain->keys) lines.push_back(needless(file.name, key, why));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;  // the reader of the file reports that it does not parse
    }
  }
  std::erase_if(model.attachments, [&](const Attachment& file) {
    if (!resources::is_quantization_file(file.name)) return false;
    lines.push_back(needless("attachment", file.name, why));
    return true;
  });
}

void Statements::update_counts(Model& model, std::vector<Change>& lines) const {
  const auto now = elements_of(model);
  if (now == elements_) return;
  for (const Format& format : formats())
    for (const OwnKey& own : format.own_keys)
      if (!own.counts.empty()) update_count(own, now, model, lines);
}

void Statements::update_count(const OwnKey& own, std::optional<std::uint64_t> now, Model& model,
                              std::vector<Change>& lines) const {
  Value* const value = model.metadata.find(own.key);
  Map* const entries = value == nullptr ? nullptr : value->get<Map>();
  Value* const stated = entries == nullptr ? nullptr : entries->find(own.counts);
  if (stated == nullptr) return;
  // If the stored count was not the element count, it cannot be updated: remove it.
  const bool counted = elements_ && now && *stated == Value(*elements_);
  if (counted)
    *stated = Value(*now);
  else
    entries->erase(own.counts);
  lines.push_back(counted ? filled_in("index", own.counts, fmt::format("{}", *now), "counted again")
                          : needless("index", own.counts, "other tensors were counted"));
  if (entries->empty()) model.metadata.erase(own.key);
}

void forget_quality(Model& model, std::span<const std::string> except, std::vector<Change>& lines) {
  std::vector<std::string> keys;
  model.metadata.erase_if([&](const Map::Entry& entry) {
    if (!entry.first.starts_with(kQualityKeys) || std::ranges::find(except, entry.first) != except.end()) return false;
    keys.push_back(entry.first);
    return true;
  });
  if (!keys.empty())
    lines.push_back({.kind = ChangeKind::left_out,
                     .impact = Impact::note,
                     .part = "metadata",
                     .items = std::move(keys),
                     .detail = "what the input says that it lost, which is not true of other weights"});
}

}  // namespace tare
