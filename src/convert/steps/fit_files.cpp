// Fits attached files to a target: carried, made, replaced by fields, or refused.
#include "convert/steps/fit_files.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "arch/families.hpp"
#include "arch/usual_names.hpp"
#include "base/text.hpp"
#include "convert/directory_form.hpp"
#include "convert/wording.hpp"
#include "resources/model_files.hpp"
#include "resources/resources.hpp"

namespace tare {
namespace {

// Collects problems with the files that describe config and vocabulary.
class FileProblems final : public Diagnostics {
 public:
  void warning(const Error& about) override {
    remarks_.push_back(remark_about(about));
    files_.emplace_back(subject_of(about));
  }
  void ignored_value(const Error& /*about*/) override {}  // one value, not the file
  const std::vector<Change>& remarks() const { return remarks_; }
  bool with(std::string_view file) const { return std::ranges::find(files_, file) != files_.end(); }
  // The first remark about a file for which `is_meant` is true; null if there is none.
  template <typename IsMeant>
  const Change* remark_on(const IsMeant& is_meant) const {
    const auto found = std::ranges::find_if(files_, is_meant);
    return found == files_.end() ? nullptr : &remarks_[static_cast<std::size_t>(found - files_.begin())];
  }

 private:
  std::vector<Change> remarks_;
  std::vector<std::string> files_;  // the file of each remark
};

bool has_weights(std::string_view file) {
  const auto ends = [&](std::string_view ending) { return file.ends_with(ending); };
  // Weight files of other programs, which Tare does not read.
  constexpr std::string_view kForeign[] = {".h5", ".msgpack"};
  return std::ranges::any_of(kForeign, ends) || std::ranges::any_of(formats(), [&](const Format& format) {
           return std::ranges::any_of(format.suffixes, ends);
         });
}

FileProblems problems_with(const std::vector<Attachment>& files) {
  FileProblems problems;
  Model model;
  model.attachments = files;
  resources::describe(model, problems);
  return problems;
}

bool has_vocabulary_file(const Model& model) {
  return std::any_of(model.attachments.begin(), model.attachments.end(),
                     [](const Attachment& file) { return resources::holds_vocabulary(file.name); });
}

std::string text_of(const Attachment& file) {
  const Bytes bytes = file.blob.bytes(resources::kMaxFileBytes);
  return std::string(as_text(bytes));
}

// Reports keys of a file that no field covers and that are lost with it. A file that cannot be parsed is reported
// elsewhere. Keys that change the results come first and are all named: a list that ends in "and 4 more" could hide the
// key that matters.
template <typename KeysOf>
void name_lost_keys(const Model& model, std::string_view name, const KeysOf& keys_of, std::string_view harm,
                    std::vector<Change>& lines, std::vector<LostKeys>& lost,
                    const std::vector<std::string>& taken = {}) {
  const Attachment* const file = model.attachment(name);
  if (file == nullptr) return;
  LostKeys keys{std::string(name), {}, {}};
  try {
    for (resources::LostKey& key : keys_of(text_of(*file)))
      if (std::ranges::find(taken, key.name) == taken.end())
        (key.harmful ? keys.harmful : keys.harmless).push_back(std::move(key.name));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return;
  }
  if (!keys.harmful.empty())
    lines.push_back({.kind = ChangeKind::left_out,
                     .impact = Impact::results,
                     .part = keys.file,
                     .items = keys.harmful,
                     .detail = std::string(harm),
                     .named = keys.harmful.size()});
  if (!keys.harmless.empty())
    lines.push_back(
        {.kind = ChangeKind::left_out, .impact = Impact::detail, .part = keys.file, .items = keys.harmless});
  if (!keys.harmful.empty() || !keys.harmless.empty()) lost.push_back(std::move(keys));
}

// `taken`: the keys that the target's conventions have a place for.
void name_lost_config(const Model& model, std::vector<Change>& lines, std::vector<LostKeys>& lost,
                      const std::vector<std::string>& taken = {}) {
  const bool has_vocabulary = !model.vocabulary.tokens.empty();
  const auto keys_of = [&](std::string_view text) { return resources::keys_beyond_config(text, has_vocabulary); };
  name_lost_keys(model, "config.json", keys_of, "which may change what the model computes", lines, lost, taken);
}

// Removes and returns the line that lists the keys of config.json that the target's conventions took. The line matters
// only if config.json itself is omitted.
std::optional<Change> take_line_of_conventions(std::vector<Change>& lines) {
  const auto found = std::ranges::find_if(
      lines, [](const Change& line) { return line.kind == ChangeKind::kept_as && line.part == "config.json"; });
  if (found == lines.end()) return std::nullopt;
  Change line = std::move(*found);
  lines.erase(found);
  return line;
}

// The files that a target without attachments can omit, because its fields cover them.
struct FilePlan {
  std::vector<std::string> as_config, as_vocabulary, left_out, unplaced;

  FilePlan(const Model& model, const Format& target, const FileProblems& problems) {
    const resources::NamedFiles named = resources::named_by(model.attachments);
    for (const Attachment& file : model.attachments) {
      const resources::Role role = named.cover(file.name) ? resources::Role::carried : resources::role_of(file.name);
      const bool read = role == resources::Role::described && !problems.with(file.name);
      const bool is_config = file.name == "config.json";
      if (role == resources::Role::other || !target.holds.config || !target.holds.vocabulary)
        unplaced.push_back(file.name);
      else if (read && is_config && !model.config.empty())
        as_config.push_back(file.name);
      else if (read && !is_config && !model.vocabulary.empty())
        as_vocabulary.push_back(file.name);
      else
        left_out.push_back(file.name);
    }
  }

  void report_kept(std::vector<Change>& lines) const {
    std::vector<std::string> names = as_config;
    names.insert(names.end(), as_vocabulary.begin(), as_vocabulary.end());
    if (names.empty()) return;
    const std::string_view as = as_vocabulary.empty() ? "config"
                                : as_config.empty()   ? "vocabulary"
                                                      : "config and vocabulary";
    lines.push_back(
        {.kind = ChangeKind::kept_as, .impact = Impact::detail, .items = std::move(names), .after = std::string(as)});
  }

  // The files with the vocabulary also define how a text becomes pieces.
  void report_lost_rules(std::vector<Change>& lines) const {
    std::vector<std::string> names;
    for (const std::string& name : as_vocabulary)
      if (resources::holds_vocabulary(name)) names.push_back(name);
    if (names.empty()) return;
    lines.push_back({.kind = ChangeKind::left_out,
                     .impact = Impact::lost,
                     .part = fmt::format("{}", fmt::join(names, ", ")),
                     .items = {"how a text is normalized and split"}});
  }
};

// Returns whether a tokenizer.json adds special tokens to a text; false if it cannot be parsed.
bool frames_texts(const Model& model) {
  const Attachment* const file = model.attachment("tokenizer.json");
  if (file == nullptr) return false;
  try {
    return resources::frames_texts(text_of(*file));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return false;
  }
}

// A target with fields for the content of config.json and the tokenizer's files needs no copy of those files, if they
// could be parsed.
void replace_by_fields(Model& model, const Format& target, const AdaptOptions& options, Unplaced& refused,
                       std::vector<Change>& lines, std::vector<LostKeys>& lost) {
  const FileProblems problems = problems_with(model.attachments);
  FilePlan plan(model, target, problems);
  if (!plan.unplaced.empty()) {
    const bool one = plan.unplaced.size() == 1;
    return refused.add(fmt::format("the attachment{}", one ? " " + listed_names(plan.unplaced)
                                                           : fmt::format("s ({})", listed_names(plan.unplaced))),
                       ModelPart::attachments);
  }
  const auto is_lost = [&](std::string_view file) {
    return file == "config.json" ? model.config.empty() && !asked_to_drop(options, ModelPart::config)
                                 : resources::holds_vocabulary(file) && model.vocabulary.empty() &&
                                       !asked_to_drop(options, ModelPart::vocabulary);
  };
  if (const Change* const remark = problems.remark_on(is_lost))
    throw Error(ErrorKind::lossy, "convert.resource",
                fmt::format("{}; {} cannot carry it as a file either: repair it, or omit all attached files",
                            to_text(*remark), target.name))
        .remedy(Remedy::drop, name_of(ModelPart::attachments));
  lines.insert(lines.end(), problems.remarks().begin(), problems.remarks().end());
  if (!asked_to_drop(options, ModelPart::config)) name_lost_config(model, lines, lost);
  if (!plan.as_vocabulary.empty()) {
    name_lost_keys(model, "tokenizer_config.json", resources::keys_beyond_vocabulary,
                   "which may change what a text becomes", lines, lost);
    if (frames_texts(model))
      lines.push_back({.kind = ChangeKind::left_out,
                       .impact = Impact::lost,
                       .part = "tokenizer.json",
                       .items = {"the special tokens that it puts around a text (post_processor)"}});
  }
  plan.report_lost_rules(lines);
  plan.report_kept(lines);
  if (!plan.left_out.empty()) lines.push_back(no_place({}, std::move(plan.left_out), target.name));
  model.attachments.clear();
}

// A container without a null for it may state an untied head although there is none, or nothing, which some families
// take for the same; without a head, the model is tied.
void tie_without_head(Model& model, std::vector<Change>& lines) {
  std::optional<bool>& tied = model.config.tie_word_embeddings;
  const arch::Family* const family = arch::find_family(model.config.model_type.value_or(""));
  if (model.attachment("config.json") != nullptr || tied.value_or(family == nullptr || family->ties) ||
      arch::ties_embeddings(model) != true)
    return;
  tied = true;
  lines.push_back(
      filled_in("config", "tie_word_embeddings", "true", "there is no matrix for the head", Impact::changed));
}

// Without the files of a tokenizer, how it splits text is unknown, and a tokenizer.json has to state something.
void report_guessed_splitting(const Model& model, std::vector<Change>& lines) {
  if (model.vocabulary.empty() || has_vocabulary_file(model)) return;
  lines.push_back(
      {.kind = ChangeKind::remark,
       .impact = Impact::results,
       .part = "tokenizer.json",
       .detail = fmt::format("how the model splits text is not known; it is {}, and no special tokens are put "
                             "around it",
                             resources::inferred_splitting(model.vocabulary))});
}

// Programs that load a directory begin with its config.json, or with adapter_config.json for an adapter.
void report_unloadable(const Model& model, std::vector<Change>& lines) {
  if (model.tensors.size() < 2 || !model.config.empty() || model.attachment("config.json") != nullptr ||
      model.attachment("adapter_config.json") != nullptr)
    return;
  lines.push_back(
      {.impact = Impact::note,
       .detail = "there is no config.json: programs that load such a directory cannot tell which model it is"});
}

void add_dropped(const std::vector<Attachment>& files, std::vector<Change>& lines) {
  std::vector<std::string> names;
  for (const Attachment& file : files) names.push_back(file.name);
  // Files with weights come first, and all of them are named.
  const auto others = std::stable_partition(names.begin(), names.end(), has_weights);
  const auto weights = static_cast<std::size_t>(others - names.begin());
  lines.push_back({.kind = ChangeKind::dropped,
                   .impact = Impact::lost,
                   .part = "attachments",
                   .items = std::move(names),
                   .named = std::max<std::size_t>(weights, 8)});
}

// Makes files for programs that read only files, from the config and vocabulary.
void make_files(Model& model, std::vector<Change>& lines) {
  const std::size_t before = model.attachments.size();
  resources::complete(model, true);
  std::vector<std::string> made;
  for (std::size_t i = before; i < model.attachments.size(); ++i) made.push_back(model.attachments[i].name);
  if (!made.empty()) lines.push_back({.kind = ChangeKind::made, .impact = Impact::changed, .items = made});
  if (std::ranges::find(made, "tokenizer.json") == made.end()) return;
  for (const std::string_view source : {"tokenizer.model", "spiece.model"}) {
    const Attachment* const file = model.attachment(source);
    if (file == nullptr || file->blob.size() > resources::kMaxFileBytes) continue;
    if (const auto unkept = resources::unkept_normalization(file->blob.bytes()); !unkept.empty())
      lines.push_back({.kind = ChangeKind::left_out,
                       .impact = Impact::results,
                       .part = "tokenizer.json",
                       .items = {fmt::format("what {} does to a text ({})", source, fmt::join(unkept, ", "))},
                       .detail = "which may change what a text becomes"});
  }
}

}  // namespace

void report_dropped(const std::vector<Attachment>& files, const Model& model, std::vector<Change>& lines,
                    std::vector<LostKeys>& lost) {
  add_dropped(files, lines);
  std::vector<std::string> taken;
  if (const Attachment* const file = model.attachment("config.json"))
    for (resources::LostKey& key : resources::keys_beyond_config(text_of(*file), false))
      taken.push_back(std::move(key.name));
  Model before;
  before.attachments = files;
  before.vocabulary.tokens.resize(model.vocabulary.tokens.empty() ? 0 : 1);  // it keeps the ids of special tokens
  name_lost_config(before, lines, lost, taken);
}

void fit_files(Model& model, const Format& target, const AdaptOptions& options, Unplaced& refused,
               std::vector<Change>& lines, std::vector<LostKeys>& lost) {
  const std::optional<Change> taken = take_line_of_conventions(lines);
  // Files that Tare made repeat the config and vocabulary, and are made again if the target needs them.
  std::erase_if(model.attachments, [](const Attachment& file) { return file.made; });
  // A directory's writer makes the files that are missing.
  const bool makes_files = target.holds.wants_files || is_directory(target);
  if (makes_files) tie_without_head(model, lines);
  if (makes_files && !asked_to_drop(options, ModelPart::vocabulary) && !asked_to_drop(options, ModelPart::attachments))
    report_guessed_splitting(model, lines);
  if (is_directory(target)) report_unloadable(model, lines);
  if (target.holds.wants_files && !asked_to_drop(options, ModelPart::attachments)) make_files(model, lines);
  if (model.attachments.empty()) return;
  if (asked_to_drop(options, ModelPart::attachments)) {
    add_dropped(model.attachments, lines);
    // The config is kept, but it is not all of config.json: name the lost keys.
    if (target.holds.config && !asked_to_drop(options, ModelPart::config)) {
      name_lost_config(model, lines, lost, taken ? taken->items : std::vector<std::string>());
      if (taken) lines.push_back(*taken);
    }
    model.attachments.clear();
    return;
  }
  if (!target.holds.attachments) return replace_by_fields(model, target, options, refused, lines, lost);
  // The files are carried unchanged; still report if their vocabulary could not be read.
  if (!model.vocabulary.empty() || asked_to_drop(options, ModelPart::vocabulary) || !has_vocabulary_file(model)) return;
  const FileProblems problems = problems_with(model.attachments);
  lines.insert(lines.end(), problems.remarks().begin(), problems.remarks().end());
}

}  // namespace tare
