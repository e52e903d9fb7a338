// Converts names, row order, keys and files to what the target's readers expect.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/printable.hpp"
#include "codecs/packs/stored.hpp"
#include "convert/steps/adaptation.hpp"
#include "convert/steps/fit_files.hpp"
#include "convert/steps/fit_rest.hpp"
#include "convert/steps/settings.hpp"
#include "resources/tokenizer_rules.hpp"
#include "tare/codec.hpp"

namespace tare {
namespace {

// In a target without conventions of its own, a model keeps those of the container that it comes from.
void note_kept_names(Adaptation& it) {
  const Format* const from = find_format(it.model.format);
  if (from == nullptr || from->count_released == nullptr || from == &it.target) return;
  const std::size_t count = from->count_released(it.model);
  if (count == 0) return;
  it.lines.push_back(
      {.impact = Impact::note,
       .detail = fmt::format("{} {} and row order as in {}; a conversion into a directory gives the "
                             "usual ones",
                             count, count == 1 ? "tensor keeps its name" : "tensors keep their names", from->title)});
}

// A directory of a model that keeps the form of another container: its programs find config.json, but nothing in it
// states the row order or the keys of the other container.
void note_kept_form(Adaptation& it) {
  if (!has_directory_form(it.target) || it.model.tensors.empty()) return;
  for (const Format& format : formats()) {
    if (format.release == nullptr || format.follows == nullptr || !format.follows(it.model)) continue;
    it.lines.push_back(
        {.kind = ChangeKind::remark,
         .impact = Impact::results,
         .detail = fmt::format("names, row order and config are those of {}: programs that read config.json cannot "
                               "load the model, or compute something else",
                               format.title)});
  }
}

// The keys that the caller set. They take precedence over those that a convention derives or removes.
class SetKeys {
 public:
  explicit SetKeys(const Adaptation& it) : lines_(it.lines.size()) {
    if (!it.settings_wait) return;
    for (const auto& [key, text] : it.options.set)
      if (const Value* const value = it.model.metadata.find(key)) keys_.set(key, *value);
    for (const auto& [key, value] : it.options.values) keys_.set(key, value);
  }
  // Restores the keys, and removes them from the lines about lost keys.
  void restore(Adaptation& it) const {
    for (const auto& [key, value] : keys_) it.model.metadata.set(key, value);
    for (std::size_t i = lines_; i < it.lines.size(); ++i) {
      Change& line = it.lines[i];
      if (line.kind != ChangeKind::left_out || line.part != "metadata") continue;
      std::erase_if(line.items, [&](const std::string& key) { return keys_.find(key) != nullptr; });
    }
    std::erase_if(it.lines, [](const Change& line) {
      return line.kind == ChangeKind::left_out && line.part == "metadata" && line.items.empty();
    });
  }

 private:
  std::size_t lines_;
  Map keys_;
};

// Gives the model a directory's form. Files that are to be dropped go first if the model has the form of another
// container: its keys describe it, and new files are made of them. Otherwise the keys would go because the files repeat
// them, and then the files.
std::vector<Renamed> release(Adaptation& it) {
  Model& model = it.model;
  const auto is_form = [&](const Format& format) {
    return format.release != nullptr && format.follows != nullptr && format.follows(model);
  };
  const AdaptOptions& options = it.options;
  it.files_dropped = !options.weights_only && asked_to_drop(options, ModelPart::attachments) &&
                     !asked_to_drop(options, ModelPart::config) && std::ranges::any_of(formats(), is_form);
  if (!it.files_dropped) return release_conventions(model, it.lines);
  const std::vector<Attachment> files = std::exchange(model.attachments, {});
  Vocabulary unwanted;
  const bool drop = asked_to_drop(options, ModelPart::vocabulary);
  if (drop) std::swap(unwanted, model.vocabulary);
  std::vector<Renamed> renamed = release_conventions(model, it.lines);
  if (drop) std::swap(unwanted, model.vocabulary);
  if (!files.empty()) report_dropped(files, model, it.lines, it.lost);
  return renamed;
}

std::vector<Renamed> rename(Adaptation& it) {
  Model& model = it.model;
  std::vector<Renamed> renamed;
  if (find_format(model.format) == &it.target) return renamed;
  if (it.target.adopt != nullptr) {
    // A vocabulary that is to be dropped need not be valid for the target's readers.
    Vocabulary unwanted;
    const bool drop = asked_to_drop(it.options, ModelPart::vocabulary);
    if (drop) std::swap(unwanted, model.vocabulary);
    const SetKeys asked(it);
    std::vector<resources::UnsupportedRule> unsupported;
    if (!model.vocabulary.tokens.empty()) unsupported = resources::unsupported_tokenizer_rules(model);
    it.target.adopt(model, it.lines, renamed);
    asked.restore(it);
    if (drop) std::swap(unwanted, model.vocabulary);
    // A model that already had the target's conventions has its keys from elsewhere.
    if (!renamed.empty())
      for (const resources::UnsupportedRule& rule : unsupported)
        it.lines.push_back(
            {.impact = rule.matters == resources::UnsupportedRule::Matters::encoding ? Impact::results : Impact::note,
             .part = rule.file,
             .detail = fmt::format("{}, and no key of {} says so", quote(rule.sentence), it.target.title)});
    return renamed;
  }
  // A target with files that describe a model has Hugging Face's files, and so its conventions.
  if (has_directory_form(it.target)) return release(it);
  note_kept_names(it);
  return renamed;
}

// The layouts of quantized tensors before the conventions change. A convention that moves rows decodes tensors that are
// not stored in rows, which is reported like any other decoding.
class LayoutsBefore {
 public:
  explicit LayoutsBefore(const Model& model) {
    for (const Tensor& tensor : model.tensors)
      if (!tensor.is_dense()) {
        const Codec* const codec = find_codec(tensor.layout);
        names_[tensor.name] = codec == nullptr || codec->name.empty() ? tensor.layout : std::string(codec->name);
      }
  }

  void report_decoded(const Model& model, const std::vector<Renamed>& renamed, TensorChanges& changes) const {
    if (names_.empty()) return;
    std::map<std::string_view, std::string_view> origins;
    for (const Renamed& one : renamed) origins.emplace(one.after, one.before);
    for (const Tensor& tensor : model.tensors) {
      if (!tensor.is_dense()) continue;
      const auto origin = origins.find(tensor.name);
      const auto found = names_.find(origin == origins.end() ? std::string_view(tensor.name) : origin->second);
      if (found == names_.end()) continue;
      changes.add({.kind = ChangeKind::decoded,
                   .impact = Impact::changed,
                   .before = found->second,
                   .after = dtype_name(tensor)},
                  tensor.name);
    }
  }

 private:
  std::map<std::string, std::string, std::less<>> names_;  // layout by tensor
};

// Sets the keys once more, as `meta` would in the file that is written: with the types that its programs require.
// Files that state other values are omitted.
void set_waiting_keys(Adaptation& it) {
  std::vector<MetadataEdit> edits = steps::requested_edits(it.options);
  std::erase_if(edits, [&](const MetadataEdit& edit) { return steps::lacks_type_for(it, edit); });
  for (const MetadataEdit& edit : edits) it.model.metadata.erase(edit.key);
  steps::edit_form(it, it.target, edits);
}

}  // namespace

void steps::follow_conventions(Adaptation& it) {
  const LayoutsBefore layouts(it.model);
  if (it.options.keep_names)
    note_kept_form(it);
  else
    it.renamed = rename(it);
  it.packed_anew = it.statements.had_no_packed() && codec::packs::has_joined(it.model);
  layouts.report_decoded(it.model, it.renamed, it.changes);
  if (it.settings_wait) set_waiting_keys(it);
  it.quant = it.options.quant;
  it.quant.importance = recipe::in_names_of(it.model, recipe::in_new_names(std::move(it.quant.importance), it.renamed));
}

}  // namespace tare
