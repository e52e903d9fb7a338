#include "convert/replace_parts.hpp"

#include <algorithm>

#include "arch/config_names.hpp"
#include "base/json_writer.hpp"
#include "resources/config_parts.hpp"
#include "resources/resources.hpp"
#include "tare/format.hpp"

namespace tare {
namespace {

bool describes(const Model& model, std::string_view key) {
  return std::ranges::any_of(formats(), [&](const Format& format) {
    return format.metadata != nullptr && format.metadata->describes != nullptr &&
           format.metadata->describes(model, key);
  });
}

void omit_config(Model& model) {
  std::erase_if(model.attachments, [](const Attachment& file) { return file.name == "config.json"; });
}

void omit_tokenizer(Model& model) {
  std::erase_if(model.attachments, [](const Attachment& file) {
    return file.name != "config.json" && resources::role_of(file.name) != resources::Role::other;
  });
}

// Sets a key, or removes it if the value is null; "a.b" is the key b of an object a.
void set_path(Map& object, std::string_view path, const Value* value) {
  const std::size_t dot = path.find('.');
  if (dot == path.npos) {
    if (value != nullptr)
      object.set(path, *value);
    else
      object.erase(path);
    return;
  }
  Value* const inner = object.find(path.substr(0, dot));
  if (Map* const map = inner == nullptr ? nullptr : inner->get<Map>()) set_path(*map, path.substr(dot + 1), value);
}

// Gives config.json the fields that differ between the two configs; all its other keys stay.
std::string restated_config(const std::string& text, const Config& before, const Config& after) {
  Map root = resources::parse_small_json(text);
  // The part is inside of `root`, which may be changed.
  Map* const object = const_cast<Map*>(resources::language_parts(root).front());
  const Map old = before.to_map(), wanted = after.to_map();
  std::vector<std::string_view> changed;
  for (const arch::ConfigRow& row : arch::kConfigTable) {
    const Value *const was = old.find(row.field), *const now = wanted.find(row.field);
    if (was == now || (was != nullptr && now != nullptr && *was == *now)) continue;
    changed.push_back(row.field);
    Map& place = resources::is_key_of_top(row.field) || row.field == "model_type" ? root : *object;
    bool stated = false;
    for (const std::string_view key : row.keys)
      if (!key.empty() && resources::find_path(place, key) != nullptr) {
        set_path(place, key, now);
        stated = true;
      }
    if (!stated && now != nullptr) place.set(row.field, *now);
  }
  std::string made = write_json(root, {.indent = 2}) + '\n';
  const Map found = resources::parse_config(made).to_map();
  const auto is_right = [&](std::string_view field) {
    const Value *const said = found.find(field), *const now = wanted.find(field);
    return said == now || (said != nullptr && now != nullptr && *said == *now);
  };
  if (!std::ranges::all_of(changed, is_right))
    throw Error(ErrorKind::unsupported, "meta.form",
                "config.json cannot state this config; replace the file as well (attachments)")
        .about("config");
  return made;
}

// A config.json that Tare does not read is omitted.
void restate_config(Model& model, const Config& config) {
  const Attachment* const file = model.attachment("config.json");
  if (file == nullptr) return;
  const Bytes bytes = file->blob.bytes(resources::kMaxFileBytes);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  try {
    text = restated_config(text, model.config, config);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io || error.kind() == ErrorKind::unsupported) throw;
    return omit_config(model);
  }
  for (Attachment& one : model.attachments)
    if (one.name == "config.json") {
      const auto view = std::as_bytes(std::span(text));
      one.blob = Blob::memory(Bytes(view.begin(), view.end()));
    }
}

}  // namespace

Map replace_parts(Model& model, NewParts parts) {
  Map settings;
  const bool keeps_files = !parts.attachments;
  if (parts.attachments) model.attachments = std::move(*parts.attachments);
  if (parts.metadata) {
    for (const auto& [key, value] : *parts.metadata)
      if (const Value* const before = model.metadata.find(key);
          (before == nullptr || *before != value) && describes(model, key))
        settings.set(key, value);
    parts.metadata->erase_if([&](const Map::Entry& entry) { return settings.find(entry.first) != nullptr; });
    // A key that is not there any more.
    for (const auto& [key, value] : model.metadata)
      if (keeps_files && parts.metadata->find(key) == nullptr && describes(model, key))
        key.starts_with("tokenizer.") ? omit_tokenizer(model) : omit_config(model);
    model.metadata = std::move(*parts.metadata);
  }
  if (parts.config && !(*parts.config == model.config)) {
    if (keeps_files && !parts.config_json) restate_config(model, *parts.config);
    model.config = std::move(*parts.config);
  }
  if (parts.vocabulary && !(*parts.vocabulary == model.vocabulary)) {
    if (keeps_files) omit_tokenizer(model);
    model.vocabulary = std::move(*parts.vocabulary);
  }
  if (parts.config_json) {
    omit_config(model);
    model.attachments.push_back({"config.json", std::move(*parts.config_json)});
  }
  return settings;
}

}  // namespace tare
