// Edits metadata as a list of the file's keys; the container's row in the table of formats interprets the list.
#include "tare/metadata.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include "base/list_numbers.hpp"
#include "base/name_map.hpp"
#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "base/stopping.hpp"
#include "base/text.hpp"
#include "codecs/packs/join.hpp"
#include "convert/metadata_edit.hpp"
#include "convert/plain_metadata.hpp"
#include "convert/rounded.hpp"
#include "convert/wording.hpp"
#include "convert/writable.hpp"
#include "formats/amend_file.hpp"
#include "formats/fits.hpp"
#include "formats/form.hpp"
#include "formats/open_as.hpp"
#include "io/watched_tree.hpp"
#include "resources/packed_config.hpp"
#include "wire/json.hpp"

namespace tare {
namespace {

const Format& format_of(const Model& model) {
  const Format* const format = find_format(model.format);
  if (format == nullptr)
    throw Error(ErrorKind::usage, "meta.format", "the model was not opened from a file").blame(Subject::input);
  return *format;
}
const MetadataRules& rules_of(const Format& format) {
  return format.metadata != nullptr ? *format.metadata : kPlainMetadata;
}

// Parses JSON; returns nothing if it is not JSON.
std::optional<Value> json_of(std::string_view text) {
  try {
    wire::TreeBounds bounds;
    return wire::read_json(text, bounds);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The numbers that JSON cannot express, as `meta` prints them and as other programs do.
std::optional<Value> special_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (lower != "inf" && lower != "infinity") return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return negative ? -kInfinity : kInfinity;
}

// NaN is not equal to itself, but does not make an entry changed.
bool same(const MetadataEntry& a, const MetadataEntry& b) {
  return a.key == b.key && a.type == b.type && (a.value == b.value || to_json(a.value) == to_json(b.value));
}

// A word that may be meant as a type: "int", "uint32", "[float]", "strng".
bool looks_like_type(std::string_view word) {
  if (word.starts_with('[') && word.ends_with(']')) return true;
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// The keys of a model that are not keys of its file, because the container has no type for their values: it keeps them
// in a tree of Tare's own. `entries`: all keys of the file.
constexpr std::string_view kPrivate = "private";  // their type in a listing
std::vector<std::string> private_keys(const Model& model, const MetadataRules& rules,
                                      const std::vector<MetadataEntry>& entries) {
  NameViewSet there;
  for (const MetadataEntry& entry : entries) there.insert(entry.key);
  std::vector<std::string> keys;
  for (const auto& [key, value] : model.metadata)
    if (!there.contains(key) && rules.reserved(key).empty()) keys.push_back(key);
  return keys;
}

class MetadataEditor {
 public:
  MetadataEditor(const Model& model, const Format& format) : format_(format), rules_(rules_of(format)) {
    if (format.holds.metadata == Room::none)
      throw Error(ErrorKind::unsupported, "meta.room", fmt::format("{} cannot hold metadata", format.name));
    before_ = rules_.list(model);
    private_keys_ = private_keys(model, rules_, before_);
    for (std::size_t i = 0; i < before_.size(); ++i) slots_.push_back({before_[i], i});
  }

  void apply(const MetadataEdit& edit) {
    switch (edit.kind) {
      case MetadataEditKind::set:
        return set(
            edit.key, edit.type,
            [&](std::string_view type) {
              return type.empty() ? std::optional(edit.value) : rules_.fit(edit.value, type);
            },
            edit.value);
      case MetadataEditKind::read: return read(edit);
      case MetadataEditKind::remove: return remove(edit.key);
      case MetadataEditKind::rename: return rename(edit.key, edit.to);
    }
  }

  std::vector<MetadataEntry> entries() const {
    std::vector<MetadataEntry> all;
    all.reserve(slots_.size());
    for (const Slot& slot : slots_) all.push_back(slot.entry);
    return all;
  }

  std::vector<MetadataChange> changes() const {
    std::vector<MetadataChange> all;
    std::size_t next = 0;  // entries keep their order, so those that were passed over are removed
    const auto removed_up_to = [&](std::size_t origin) {
      for (; next < origin; ++next) all.push_back({before_[next], std::nullopt});
    };
    for (const Slot& slot : slots_) {
      removed_up_to(slot.origin.value_or(before_.size()));
      if (!slot.origin)
        all.push_back({std::nullopt, slot.entry});
      else if (!same(before_[next++], slot.entry))
        all.push_back({before_[*slot.origin], slot.entry});
    }
    removed_up_to(before_.size());
    return all;
  }

 private:
  struct Slot {
    MetadataEntry entry;
    std::optional<std::size_t> origin;  // its index in the file; nothing if it is new
  };

  Error error(ErrorKind kind, std::string_view rule, std::string_view key, std::string_view sentence) const {
    return Error(kind, rule, sentence).about(fmt::format("key {}", quote(key)));
  }

  Slot* find(std::string_view key) {
    const auto found =
        std::ranges::find(slots_, key, [](const Slot& slot) -> const std::string& { return slot.entry.key; });
    return found == slots_.end() ? nullptr : &*found;
  }
  Slot& need(std::string_view key) {
    Slot* const slot = find(key);
    if (slot == nullptr && std::ranges::find(private_keys_, key) != private_keys_.end())
      throw error(
          ErrorKind::unsupported, "meta.kept_apart", key,
          fmt::format("{} has no type for its value, and keeps it apart from its keys: give it another value first",
                      format_.name));
    if (slot == nullptr) {
      std::vector<std::string> keys;
      for (const Slot& other : slots_) keys.push_back(other.entry.key);
      throw error(ErrorKind::not_found, "meta.key", key, "the file has no such key" + did_you_mean(key, keys, 3));
    }
    return *slot;
  }

  // Throws `meta.reserved` for keys that the container itself relies on.
  void require_free(std::string_view key) const {
    if (const std::string reason = rules_.reserved(key); !reason.empty())
      throw error(ErrorKind::unsupported, "meta.reserved", key, fmt::format("not for editing: {}", reason));
  }
  void require_place(std::string_view key) const {
    require_free(key);
    if (!is_valid_utf8(key)) throw error(ErrorKind::usage, "meta.room", key, "the key is not UTF-8");
    const auto keys = format_.holds.metadata_keys;
    if (!lists(keys, key))
      throw error(ErrorKind::unsupported, "meta.room", key,
                  fmt::format("{} has no field of this name; it has {}", format_.name, fmt::join(keys, ", ")));
  }

  void remove(std::string_view key) {
    require_free(key);
    Slot& slot = need(key);
    slots_.erase(slots_.begin() + (&slot - slots_.data()));
  }

  void rename(std::string_view key, const std::string& to) {
    require_free(key);
    require_place(to);
    Slot& slot = need(key);
    if (find(to) != nullptr)
      throw error(ErrorKind::usage, "meta.exists", to, "the file has this key already").blame(Subject::output);
    slot.entry.key = to;
  }

  // "KEY" or "KEY:TYPE"; an existing key is taken as a whole, whatever it looks like.
  std::pair<std::string, std::string> split_key(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    if (colon == text.npos || colon == 0 || find(text) != nullptr) return {text, ""};
    const std::string type = text.substr(colon + 1);
    if (rules_.is_type(type)) return {text.substr(0, colon), type};
    // Not a type: the key may contain a colon, unless the text before the colon is a key, or the text after it looks
    // like a type.
    if (find(text.substr(0, colon)) != nullptr) throw no_type(text.substr(0, colon), type);
    if (looks_like_type(type)) {
      const Error refusal = no_type(text.substr(0, colon), type);
      throw refusal.reworded(
          fmt::format("{}; a key that contains a colon needs a type: {}:TYPE", refusal.sentence(), quote(text)));
    }
    return {text, ""};
  }

  Error no_type(std::string_view key, std::string_view type) const {
    return error(ErrorKind::usage, "meta.type", key,
                 fmt::format("{} has no type \"{}\"; it has {}", format_.name, quote(type), rules_.types));
  }

  void read(const MetadataEdit& edit) {
    const std::string& text = *edit.value.text();
    auto [key, type] = split_key(edit.key);
    if (!edit.type.empty()) type = edit.type;
    const auto as = [&, &name = key](std::string_view wanted) -> std::optional<Value> {
      if (wanted.empty()) return whole_or_other(name, text);
      std::optional<Value> json = json_of(text);
      // If the type is text, anything is text.
      if (rules_.fit(Value(text), wanted)) return json && json->text() != nullptr ? *json : Value(text);
      if (!json) json = special_number(text);
      return json ? rules_.fit(*json, wanted) : std::nullopt;
    };
    set(key, type, as, Value(text));
  }

  Value whole_or_other(std::string_view key, const std::string& text) const {
    // As `convert` reads it. A list or an object that the container has no type for is kept as text.
    std::optional<Value> json = json_of(text);
    if (json && format_.metadata != nullptr && rules_.usual_type(*json).empty()) json = with_one_kind_of_number(*json);
    const bool nested = json && (json->get<List>() != nullptr || json->get<Map>() != nullptr);
    const bool fits = json && (!nested || (format_.holds.metadata == Room::tree && !rules_.usual_type(*json).empty()));
    Value value = fits ? *json : Value(text);
    if (const std::string wrong = rounded_whole(value, text); !wrong.empty())
      throw error(ErrorKind::unsupported, "meta.value", key, fmt::format("{} is {}", text, wrong));
    return value;
  }

  // `as(type)` is the value as this type, or the natural value if `type` is empty. `given`: the value for messages.
  template <typename As>
  void set(const std::string& key, std::string type, const As& as, const Value& given) {
    require_place(key);
    Slot* const slot = find(key);
    if (!type.empty() && !rules_.is_type(type)) throw no_type(key, type);
    const bool only_texts = format_.holds.metadata == Room::strings;
    const bool asked = !type.empty();
    if (only_texts && asked && type != kTextKind)
      throw error(ErrorKind::unsupported, "meta.type", key, fmt::format("{} stores only strings", format_.name));
    if (!asked) type = only_texts ? std::string(kTextKind) : slot != nullptr ? slot->entry.type : declared_type(key);
    std::optional<Value> value = as(type);
    // Plain metadata declares no types: the new value may have another one.
    if (!value && !asked && format_.metadata == nullptr && !only_texts) {
      type.clear();
      value = as(type);
    }
    if (!value)
      throw error(ErrorKind::unsupported, "meta.value", key,
                  fmt::format("expected {}{}, found {}", type, type == "bool" ? " (true or false)" : "",
                              given.text() != nullptr ? *given.text() : to_json(given)));
    if (type.empty()) {
      if (rules_.usual_type(*value).empty()) value = with_one_kind_of_number(*value);
      type = usual_type(key, *value);
    }
    check_text(key, *value);
    if (slot != nullptr) {
      slot->entry.type = std::move(type);
      slot->entry.value = std::move(*value);
    } else {
      slots_.push_back({{key, std::move(type), std::move(*value)}, std::nullopt});
    }
  }

  std::string declared_type(std::string_view key) const {
    return rules_.declared_type == nullptr ? std::string() : rules_.declared_type(key);
  }

  std::string usual_type(std::string_view key, const Value& value) const {
    if (value.is_null())
      throw error(ErrorKind::unsupported, "meta.value", key, "null is not a value; for the text, write '\"null\"'");
    std::string type = rules_.usual_type(value);
    if (type.empty())
      throw error(ErrorKind::unsupported, "meta.value", key,
                  fmt::format("{} has no usual type for {}: name one", format_.name, to_json(value)));
    return type;
  }

  void check_text(std::string_view key, const Value& value) const {
    const std::string* const text = value.text();
    if (text == nullptr) return;
    if (!is_valid_utf8(*text)) throw error(ErrorKind::unsupported, "meta.value", key, "the text is not UTF-8");
    if (format_.set_problem == nullptr) return;
    if (const std::string problem = format_.set_problem(key, *text); !problem.empty())
      throw error(ErrorKind::unsupported, "meta.value", key, problem);
  }

  const Format& format_;
  const MetadataRules& rules_;
  std::vector<MetadataEntry> before_;
  std::vector<std::string> private_keys_;
  std::vector<Slot> slots_;
};

// Keeps only the keys that may be set: a container computes the others itself.
std::vector<MetadataEntry> free_entries(std::vector<MetadataEntry> entries, const MetadataRules& rules) {
  std::erase_if(entries, [&](const MetadataEntry& entry) { return !rules.reserved(entry.key).empty(); });
  return entries;
}

// ---- files ----

std::size_t files_of_tensors(const Model& model) {
  std::set<const Source*> files;
  for (const Tensor& tensor : model.tensors)
    for (const Component& component : tensor.components)
      if (component.blob.source() != nullptr) files.insert(component.blob.source().get());
  return files.size();
}

bool shares_bytes(const Model& model) {
  std::set<std::pair<const Source*, std::uint64_t>> places;
  for (const Tensor& tensor : model.tensors)
    for (const Component& component : tensor.components)
      if (const Blob& blob = component.blob; blob.source() != nullptr && blob.size() > 0)
        if (!places.emplace(blob.source().get(), blob.offset()).second) return true;
  return false;
}

// The new directory replaces all files of the old one.
void require_writable_files(const Model& model) {
  for (const SourcePtr& source : model.sources)
    if (source->descriptor() >= 0) require_writable_file(source->name());
  for (const Attachment& file : model.attachments)
    if (const SourcePtr& source = file.blob.source(); source != nullptr && source->descriptor() >= 0)
      require_writable_file(source->name());
}

// Options that reproduce how the file was written, as far as that is visible: a reader appends the dialect in brackets
// to the version.
WriteOptions options_like(const Model& model, const Format& format, const EditOptions& options) {
  WriteOptions write;
  write.work = options.work;
  write.dedup = format.holds.dedup && shares_bytes(model);
  for (const std::string_view dialect : format.holds.dialects)
    if (model.version.ends_with(fmt::format("({})", dialect))) write.dialect = dialect;
  return write;
}

}  // namespace

std::vector<MetadataEntry> metadata_entries(const Model& model) {
  const Format* const format = find_format(model.format);
  const MetadataRules& rules = format != nullptr ? rules_of(*format) : kPlainMetadata;
  std::vector<MetadataEntry> entries = rules.list(model);
  const std::vector<std::string> kept = private_keys(model, rules, entries);
  for (const std::string& key : kept) entries.push_back({key, std::string(kPrivate), *model.metadata.find(key)});
  return entries;
}

std::vector<MetadataChange> edit_metadata(Model& model, std::span<const MetadataEdit> edits) {
  const Format& format = format_of(model);
  Model edited = model;
  std::vector<MetadataChange> changes = edit_as(edited, format, edits);
  if (changes.empty()) return changes;
  require_fit(edited, format);
  model = std::move(edited);
  return changes;
}

namespace {

// Applies all edits to the keys as `format` lists them.
std::vector<MetadataChange> edit_in(Model& model, const Format& format, std::span<const MetadataEdit> edits) {
  if (edits.empty()) return {};
  MetadataEditor editor(model, format);
  for (const MetadataEdit& edit : edits) editor.apply(edit);
  std::vector<MetadataChange> changes = editor.changes();
  if (changes.empty()) return changes;
  const MetadataRules& rules = rules_of(format);
  rules.apply(model, editor.entries());
  if (!std::ranges::equal(free_entries(rules.list(model), rules), free_entries(editor.entries(), rules), same))
    throw Error(ErrorKind::unsupported, "meta.value", "cannot be set: other keys contradict it");
  return changes;
}

// The key that an edit sets, without a type that follows it; empty if it sets none.
std::string_view key_set_by(const MetadataEdit& edit, const MetadataRules& rules) {
  if (edit.kind == MetadataEditKind::remove) return {};
  if (edit.kind == MetadataEditKind::rename) return edit.to;
  const std::string_view key = edit.key;
  const std::size_t colon = edit.kind == MetadataEditKind::read ? key.rfind(':') : key.npos;
  return colon != key.npos && rules.is_type(key.substr(colon + 1)) ? key.substr(0, colon) : key;
}

// Refuses two values for one key: only one of them would count.
void require_one_value_each(std::span<const MetadataEdit> edits, const MetadataRules& rules) {
  std::set<std::string_view> keys;
  for (const MetadataEdit& edit : edits) {
    const bool sets = edit.kind != MetadataEditKind::remove && edit.kind != MetadataEditKind::rename;
    if (const std::string_view key = key_set_by(edit, rules); sets && !keys.insert(key).second)
      throw Error(ErrorKind::usage, "meta.twice", fmt::format("the key {} is given two values", quote(key)));
  }
}

// Returns whether the edit is about a key to which the programs of a container give a meaning.
bool is_of_form(const MetadataRules& rules, const Model& model, const MetadataEdit& edit) {
  if (rules.owns == nullptr) return false;
  if (const std::string_view key = key_set_by(edit, rules); !key.empty() && rules.owns(model, key)) return true;
  // A key may be there that the form cannot express: it is metadata in every container.
  const bool moves = edit.kind == MetadataEditKind::remove || edit.kind == MetadataEditKind::rename;
  return moves && rules.owns(model, edit.key) &&
         std::ranges::any_of(rules.list(model), [&](const MetadataEntry& entry) { return entry.key == edit.key; });
}

}  // namespace

Settings::Settings(const Model& model, const Format& target, std::span<const MetadataEdit> edits)
    : form(target.metadata != nullptr ? &target : form_of(model)) {
  require_one_value_each(edits, rules_of(target));
  for (const MetadataEdit& edit : edits) {
    const bool own = form != nullptr && is_of_form(*form->metadata, model, edit);
    if (const std::string_view key = key_set_by(edit, rules_of(target)); !own && !key.empty())
      require_plain_key(model, key);
    (own || form == &target ? of_form : plain).push_back(edit);
  }
}

std::vector<MetadataChange> edit_as(Model& model, const Format& format, std::span<const MetadataEdit> edits) {
  const Settings settings(model, format, edits);
  std::vector<MetadataChange> changes;
  if (settings.form != nullptr) changes = edit_in(model, *settings.form, settings.of_form);
  std::ranges::move(edit_in(model, format, settings.plain), std::back_inserter(changes));
  return changes;
}

namespace {

// Writes the edited model in place of the file or directory `target`, and returns its size.
std::uint64_t replace_model(const Model& before, Model after, const Format& format, const std::string& path,
                            const std::string& target, const EditOptions& options, const io::FileIds& inputs) {
  const bool tree = format.write == nullptr;
  const io::Descriptor lock = tree ? io::Descriptor() : lock_to_rewrite(target, before);
  const Source* const replaced = tree || before.sources.size() != 1 ? nullptr : before.sources.front().get();
  return write_fitting(std::move(after), Origins(before),
                       {.format = format,
                        .tree = tree,
                        .input = path,
                        .output = target,
                        .overwrite = true,
                        .replaces = replaced,
                        .own = inputs},
                       options_like(before, format, options));
}

// Throws `pack.changed` if the edits change how the arrays of packed weights are read.
void require_same_packing(const Model& before, const Model& after) {
  if (!codec::packs::may_be_packed(before)) return;
  Model joined = before, statement = after;
  Diagnostics silent;
  codec::packs::join_packs(joined, resources::stated_packing(before), "", silent);
  // The edited config.json is an attachment; the one next to the weights is still the old one.
  if (!after.attachments.empty()) statement.sources.clear();
  codec::packs::expect_joined_again(joined, resources::stated_packing(statement));
}

}  // namespace

Edited edit_metadata(const std::string& path, std::span<const MetadataEdit> edits, const EditOptions& options) try {
  const StopScope stop(options.work);
  ReadOptions read = options.read;
  read.work = options.work;
  read.keep_broken = true;  // they are copied unchanged if the container allows it
  const io::InputFiles inputs;
  const io::WatchedTree watched(path);
  Model before = open_as(PackedForm::stored, path, read);
  const Format& format = format_of(before);
  require_writable(format, {});
  std::error_code none;
  const bool directory = std::filesystem::is_directory(path, none), tree = format.write == nullptr;
  const std::size_t files = std::max(files_of_tensors(before), tree ? 1 : before.sources.size());
  const auto refuse_several = [&] {
    throw Error(ErrorKind::unsupported, "meta.files",
                fmt::format("the model is in {} files; convert it into one first", files));
  };
  if (files > 1 && (format.amend == nullptr || tree)) refuse_several();
  // A directory with one file of a container that is a file: edit that file. If there are several, the container knows
  // which one to edit.
  const std::string target = directory && !tree && files == 1 ? before.sources.front()->name() : path;
  if (!tree) refuse_listed(target, "meta.files", "changed");

  Edited done;
  Model after = before;
  after.broken.clear();
  done.changes = edit_metadata(after, edits);
  after.broken = before.broken;
  done.file_bytes = before.file_bytes;
  for (const Attachment& file : before.attachments)
    if (after.attachment(file.name) == nullptr) done.omitted.push_back(file.name);
  if (done.changes.empty()) return done;
  require_same_packing(before, after);
  if (options.work.progress != nullptr && !options.dry_run) {
    std::uint64_t bytes = 0;
    for (const Tensor& tensor : after.tensors) bytes += tensor.bytes();
    options.work.progress->expect(bytes);
  }
  const auto file_bytes = [&] {
    return files == 1 ? open_file(target, Access::pread)->size() : open(path, {.listing = true}).file_bytes;
  };
  if (!tree && files == 1) require_writable_file(target);
  if (tree) require_writable_files(before);
  if (format.amend != nullptr && format.amend(target, before, after, options.dry_run)) {
    done.in_place = true;
    if (!options.dry_run) done.file_bytes = file_bytes();
  } else if (format.rewrite_metadata != nullptr &&
             format.rewrite_metadata(target, before, after, options_like(before, format, options), options.dry_run)) {
    if (!options.dry_run) done.file_bytes = file_bytes();
  } else if (files > 1) {
    refuse_several();
  } else if (before.refuse_broken(); !options.dry_run) {
    done.file_bytes = replace_model(before, std::move(after), format, path, target, options, inputs.files());
  }
  return done;
} catch (Error& error) {
  throw error.in(path);
}

}  // namespace tare
