#include "convert/replace_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/config_names.hpp"
#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "convert/directory_form.hpp"
#include "formats/form.hpp"
#include "formats/format.hpp"
#include "resources/agreement.hpp"
#include "resources/config_parts.hpp"
#include "resources/model_files.hpp"
#include "resources/resources.hpp"

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

// Gives config.json the ids of a new vocabulary's special tokens, where it states others.
void restate_ids(Model& model) {
  const auto file = std::ranges::find(model.attachments, "config.json", &Attachment::name);
  if (file == model.attachments.end() || model.vocabulary.empty()) return;
  Map root;
  try {
    const Bytes bytes = file->blob.bytes(resources::kMaxFileBytes);
    root = resources::parse_small_json(as_text(bytes));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return;
  }
  const Vocabulary& words = model.vocabulary;
  bool changed = false;
  // The part is inside of `root`, which may be changed.
  for (Map* const object : {&root, const_cast<Map*>(resources::language_parts(root).front())})
    for (const auto& [key, id] :
         {std::pair("bos_token_id", words.bos), {"eos_token_id", words.eos}, {"pad_token_id", words.pad}}) {
      const Value* const stated = object->find(key);
      if (stated == nullptr || stated->is_null()) continue;
      const List* const several = stated->get<List>();
      const Value wanted = id < 0 ? Value() : Value(id);
      const auto is_wanted = [number = static_cast<double>(id)](const Value& one) {
        return resources::number_of(one) == number;
      };
      if (several == nullptr ? is_wanted(*stated) : std::ranges::any_of(*several, is_wanted)) continue;
      object->set(key, wanted);
      changed = true;
    }
  if (!changed) return;
  file->blob = Blob::memory(to_bytes(write_json(root, {.indent = 2}) + '\n'));
}

// `ids`: the ids of special tokens are others, which generation_config.json repeats.
void omit_tokenizer(Model& model, bool ids) {
  std::erase_if(model.attachments, [&](const Attachment& file) {
    return resources::is_tokenizer_file(file.name) || (ids && file.name == "generation_config.json");
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

// Returns whether the content of a file is a part of the model, or decides what such a part means.
bool describes_model(std::string_view file) { return file == "config.json" || resources::is_tokenizer_file(file); }

bool has_bytes_of(const Attachment& file, const Attachment& other) {
  return file.blob.size() == other.blob.size() && file.blob.size() <= resources::kMaxFileBytes &&
         file.blob.bytes() == other.blob.bytes();
}

// The tensors and keys of a model that follows the conventions of another container than a directory repeat what its
// config.json states. Before that file is replaced, the model gets a directory's form, so that nothing old is left.
void take_directory_form(Model& model) {
  if (form_of(model) == nullptr) return;
  std::vector<Change> lines;
  try {
    release_conventions(model, lines);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported && error.kind() != ErrorKind::lossy) throw;
    throw Error(ErrorKind::unsupported, "meta.form",
                fmt::format("the keys and tensors of this model would contradict the new file, and it cannot be turned "
                            "into a directory's form: {}; set its keys instead (metadata)",
                            error.sentence()))
        .about(error.item());
  }
  model.format = std::ranges::find_if(formats(), is_directory)->name;
}

// Replaces the files, and the parts that the new ones describe. Files that describe the model stay unless they are
// replaced: without them, the model would lose what only they state.
void replace_files(Model& model, std::vector<Attachment> files) {
  const std::vector<Attachment> before = model.attachments;
  const auto find = [](std::vector<Attachment>& among, const Attachment& file) {
    return std::ranges::find(among, file.name, &Attachment::name);
  };
  const bool anew = std::ranges::any_of(files, [&](const Attachment& file) {
    const Attachment* const old = model.attachment(file.name);
    return describes_model(file.name) && (old == nullptr || !has_bytes_of(file, *old));
  });
  if (anew) take_directory_form(model);
  const bool has_tokens = std::ranges::any_of(files, resources::holds_vocabulary, &Attachment::name);
  const bool has_config = std::ranges::any_of(files, [](const Attachment& file) { return file.name == "config.json"; });
  // Files that the model did not have were just made from its keys.
  for (const Attachment& file : model.attachments) {
    const bool made = std::ranges::find(before, file.name, &Attachment::name) == before.end();
    if ((made || describes_model(file.name)) && find(files, file) == files.end() &&
        !(has_tokens && resources::holds_vocabulary(file.name)))
      files.push_back(file);
  }
  model.attachments = std::move(files);
  if (!anew) return;
  resources::describe_anew(model);
  if (has_tokens && !has_config) restate_ids(model);
}

[[noreturn]] void refuse_contradiction(std::string_view rule, std::string_view part, std::string_view file,
                                       const resources::Disagreement& found) {
  throw Error(ErrorKind::usage, rule,
              fmt::format("the {} that was given contradicts the file that was given: its {} is {}, in {} it is {}",
                          part, found.what, found.stated, file, found.in_files))
      .about(part);
}

Map parsed_small(const Blob& blob) {
  const Bytes bytes = blob.bytes(resources::kMaxFileBytes);
  return resources::parse_small_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// Throws unless config.json states every key of a config that Tare has no field for.
void require_stated(const Attachment& file, const Blob& config_json) {
  const Map there = parsed_small(file.blob);
  for (const auto& [key, value] : parsed_small(config_json)) {
    if (std::ranges::find(config_fields(), std::string_view(key), &ConfigField::name) != config_fields().end())
      continue;
    const Value* const found = there.find(key);
    if (found == nullptr || *found != value)
      refuse_contradiction("config.contradiction", "config", "config.json",
                           {quote(key), found == nullptr ? "missing" : quote(to_json(*found)), quote(to_json(value))});
  }
}

// Fields that the config lacks, and config.json has under names that are not fields.
Config completed_config(const Config& config, const Config& file) {
  Map all = file.to_map();
  for (const auto& [field, value] : config.to_map()) all.set(field, value);
  return Config::from_map(all);
}

void replace_config(Model& model, Config config, std::optional<Blob> config_json, bool keeps_files) {
  const Attachment* const given = keeps_files ? nullptr : model.attachment("config.json");
  if (given != nullptr) {
    if (const auto found = resources::difference(config, model.config))
      refuse_contradiction("config.contradiction", "config", "config.json", *found);
    if (config_json) require_stated(*given, *config_json);
    model.config = completed_config(config, model.config);
    return;
  }
  if (config_json) {
    omit_config(model);
    Model described;
    described.attachments = {{"config.json", *config_json}};
    Diagnostics silent;
    resources::describe(described, silent);
    model.config = completed_config(config, described.config);
    model.attachments.push_back({"config.json", std::move(*config_json)});
    return;
  }
  if (config == model.config) return;
  if (keeps_files) restate_config(model, config);
  model.config = std::move(config);
}

void replace_vocabulary(Model& model, Vocabulary vocabulary, bool keeps_files) {
  if (keeps_files) {
    const Vocabulary& old = model.vocabulary;
    const bool ids = vocabulary.bos != old.bos || vocabulary.eos != old.eos || vocabulary.pad != old.pad;
    if (!(vocabulary == old)) omit_tokenizer(model, ids);
    model.vocabulary = std::move(vocabulary);
    if (ids) restate_ids(model);
    return;
  }
  Model files;
  files.attachments = model.attachments;
  Diagnostics silent;
  resources::describe(files, silent);
  if (const auto found = resources::difference(vocabulary, files.vocabulary))
    refuse_contradiction("tokenizer.contradiction", "vocabulary", "the tokenizer's files", *found);
  model.vocabulary = std::move(vocabulary);
}

}  // namespace

Map replace_parts(Model& model, NewParts parts) {
  Map settings;
  const bool keeps_files = !parts.attachments;
  if (parts.metadata) {
    for (const auto& [key, value] : *parts.metadata)
      if (const Value* const before = model.metadata.find(key);
          (before == nullptr || *before != value) && describes(model, key))
        settings.set(key, value);
    parts.metadata->erase_if([&](const Map::Entry& entry) { return settings.find(entry.first) != nullptr; });
    // A key that is not there any more.
    for (const auto& [key, value] : model.metadata)
      if (keeps_files && parts.metadata->find(key) == nullptr && describes(model, key))
        key.starts_with("tokenizer.") ? omit_tokenizer(model, key.ends_with("_token_id")) : omit_config(model);
    model.metadata = std::move(*parts.metadata);
  }
  if (parts.attachments) replace_files(model, std::move(*parts.attachments));
  if (parts.config) replace_config(model, std::move(*parts.config), std::move(parts.config_json), keeps_files);
  if (parts.vocabulary) replace_vocabulary(model, std::move(*parts.vocabulary), keeps_files);
  return settings;
}

}  // namespace tare
