// Sets metadata keys for the caller.
#include <fmt/format.h>

#include <algorithm>

#include "base/list_numbers.hpp"
#include "base/printable.hpp"
#include "convert/metadata_edit.hpp"
#include "convert/rounded.hpp"
#include "convert/steps/adaptation.hpp"
#include "convert/steps/settings.hpp"
#include "formats/form.hpp"
#include "wire/json.hpp"

namespace tare {
namespace {

bool is_list(const Value& value) { return value.get<List>() != nullptr; }

Value parse_setting(const std::string& key, const std::string& text, const Model& model, const Format& target) {
  const auto refuse = [&](std::string_view sentence) {
    throw Error(ErrorKind::usage, "convert.set", fmt::format("{}={}: {}", quote(key), text, sentence));
  };
  Value value;
  try {
    wire::TreeBounds bounds;
    value = wire::read_json(text, bounds);
  } catch (const Error&) {
    return text;  // not JSON
  }
  // If the target has no type for a list or an object, the given text is stored: other programs can read that.
  if (is_list(value) || value.get<Map>() != nullptr) {
    if (target.metadata != nullptr && target.metadata->usual_type(value).empty())
      value = with_one_kind_of_number(value);
    const Value* const before = model.metadata.find(key);
    const bool stays_list = is_list(value) && before != nullptr && is_list(*before);
    const bool typed = target.metadata == nullptr || stays_list || !target.metadata->usual_type(value).empty();
    if (target.holds.metadata == Room::strings || !typed) return text;
  }
  if (value.is_null()) refuse("null is not a value; for the text, write '\"null\"'");
  if (const std::string wrong = rounded_whole(value, text); !wrong.empty()) refuse(wrong);
  if (target.holds.metadata == Room::strings && value.text() == nullptr)
    refuse(fmt::format("{} stores only strings; for a string, write '\"{}\"'", target.name, text));
  return value;
}

// `text`: as it was given, for messages.
void set_key(Adaptation& it, const std::string& key, Value value, const std::string& text) {
  const auto refuse = [&](std::string_view sentence) {
    throw Error(ErrorKind::usage, "convert.set", fmt::format("{}={}: {}", quote(key), text, sentence));
  };
  if (const std::string* const said = value.text(); said != nullptr && it.target.set_problem != nullptr)
    if (const std::string problem = it.target.set_problem(key, *said); !problem.empty()) refuse(problem);
  // Programs that read a key expect either a list or a single value.
  const Value* const before = it.model.metadata.find(key);
  if (before != nullptr && it.target.holds.metadata == Room::tree && is_list(*before) != is_list(value))
    refuse(is_list(value) ? "the model has this key, and its value is not a list"
                          : fmt::format("the model has this key, and its value is a list; write '[{}]'",
                                        value.text() != nullptr ? to_json(value) : text));
  it.model.metadata.set(key, std::move(value));
}

}  // namespace

std::vector<MetadataEdit> steps::requested_edits(const AdaptOptions& options) {
  std::vector<MetadataEdit> edits;
  for (const auto& [key, text] : options.set)
    edits.push_back({.kind = MetadataEditKind::read, .key = key, .value = Value(text)});
  for (const auto& [key, value] : options.values)
    edits.push_back({.kind = MetadataEditKind::set, .key = key, .value = value});
  return edits;
}

bool steps::lacks_type_for(const Adaptation& it, const MetadataEdit& edit) {
  const MetadataRules* const rules = it.target.metadata;
  return rules != nullptr && edit.kind == MetadataEditKind::set &&
         rules->usual_type(with_one_kind_of_number(edit.value)).empty() &&
         (rules->declared_type == nullptr || rules->declared_type(edit.key).empty()) &&
         (rules->owns == nullptr || !rules->owns(it.model, edit.key)) && rules->reserved(edit.key).empty();
}

void steps::edit_form(Adaptation& it, const Format& form, std::span<const MetadataEdit> edits) {
  std::vector<std::string> omitted;
  for (const Attachment& file : it.model.attachments) omitted.push_back(file.name);
  edit_as(it.model, form, edits);
  std::erase_if(omitted, [&](const std::string& name) { return it.model.attachment(name) != nullptr; });
  if (omitted.empty()) return;
  const bool one = omitted.size() == 1;
  it.lines.push_back({.kind = ChangeKind::left_out,
                      .impact = Impact::note,
                      .items = std::move(omitted),
                      .detail = one ? "it contradicts what was set" : "they contradict what was set"});
}

void steps::set_metadata(Adaptation& it) {
  const std::vector<MetadataEdit> edits = requested_edits(it.options);
  if (edits.empty()) return;
  Settings settings(it.model, it.target, edits);
  const auto typed = std::stable_partition(settings.of_form.begin(), settings.of_form.end(),
                                           [&](const MetadataEdit& edit) { return !lacks_type_for(it, edit); });
  std::move(typed, settings.of_form.end(), std::back_inserter(settings.plain));
  settings.of_form.erase(typed, settings.of_form.end());
  const auto set_plain = [&](const MetadataEdit& edit) {
    const bool text = edit.kind == MetadataEditKind::read;
    set_key(it, edit.key, text ? parse_setting(edit.key, *edit.value.text(), it.model, it.target) : edit.value,
            text ? *edit.value.text() : to_json(edit.value));
  };
  // If the model will get the form only in follow_conventions, its keys are set there; until then the conventions see
  // them as metadata.
  const bool has_form = settings.form != nullptr && settings.form == form_of(it.model);
  if (has_form) edit_form(it, *settings.form, settings.of_form);
  if (!has_form) std::ranges::for_each(settings.of_form, set_plain);
  std::ranges::for_each(settings.plain, set_plain);
  it.settings_wait = !has_form && it.target.metadata != nullptr;
}

}  // namespace tare
