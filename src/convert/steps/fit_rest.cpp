// A target that can hold everything gets everything. A target with fixed fields (ALT, MCF's ModelInfo) gets what it has
// fields for, documented defaults for what the source lacks, and a line for what is omitted. Anything else that would
// be lost (metadata keys, files that no field covers) is refused unless the user asked to drop it.
#include "convert/steps/fit_rest.hpp"

#include <fmt/format.h>

#include <utility>

#include "arch/config_names.hpp"
#include "arch/usual_names.hpp"
#include "base/text.hpp"
#include "convert/fill_card.hpp"
#include "convert/steps/fit_files.hpp"
#include "convert/wording.hpp"
#include "formats/format.hpp"
#include "resources/config_file.hpp"
#include "resources/piece_merges.hpp"
#include "resources/resources.hpp"

namespace tare {
namespace {

bool holds_all(std::span<const std::string_view> names) { return lists(names, "*"); }

bool has_place(const Format& target, std::string_view key) {
  return target.holds.metadata != Room::none && lists(target.holds.metadata_keys, key);
}

// A number as text, also if a container with text-only metadata carried it.
std::string spelled(const Value& value) { return value.text() != nullptr ? *value.text() : to_json(value); }

// Why a target that cannot hold a key of some container may omit it; empty if it may not.
std::string reason_to_omit(const OwnKey& own, const Value& value, const Format& target, const Map& config) {
  if (own.about_file || own.about_set) return "it describes the original file";
  if (own.computed != nullptr && own.computed(value)) return "it is computed from the tensors";
  if (const Value* const said = target.holds.has_field(own.repeats) ? config.find(own.repeats) : nullptr;
      said != nullptr && spelled(*said) == spelled(value))
    return fmt::format("the config says it as {}", own.repeats);
  if (!own.assumed.empty() && spelled(value) == own.assumed) return fmt::format("it is the default {}", own.assumed);
  return {};
}

// Omits keys that describe the file or repeat other fields: nothing is lost.
void leave_own_keys(Model& model, const Format& target, const AdaptOptions& options, std::vector<Change>& lines) {
  const Map config = asked_to_drop(options, ModelPart::config) || !target.holds.config ? Map() : model.config.to_map();
  for (const Format& format : formats())
    for (const OwnKey& own : format.own_keys) {
      const bool omitted = own.about_set && options.weights_only;
      const Value* const value = has_place(target, own.key) && !omitted ? nullptr : model.metadata.find(own.key);
      const std::string reason = value == nullptr ? "" : reason_to_omit(own, *value, target, config);
      if (reason.empty()) continue;
      model.metadata.erase(own.key);
      lines.push_back(needless("metadata", own.key, reason));
    }
}

void fit_metadata(Model& model, const Format& target, const AdaptOptions& options, Unplaced& refused,
                  std::vector<Change>& lines) {
  const bool drop = asked_to_drop(options, ModelPart::metadata);
  std::vector<std::string> unplaced;
  bool only_texts = false;
  for (const auto& [key, value] : model.metadata) {
    const bool is_text = target.holds.metadata != Room::strings || value.text() != nullptr;
    // In a target that can hold all keys, dropping metadata means all of it.
    if (has_place(target, key) && is_text && !(drop && holds_all(target.holds.metadata_keys))) continue;
    unplaced.push_back(key);
    only_texts = only_texts || (has_place(target, key) && !is_text);
  }
  if (unplaced.empty()) return;
  if (!drop)
    return refused.add(target.holds.metadata == Room::none
                           ? "metadata"
                           : fmt::format("the metadata key{} {}{}", unplaced.size() == 1 ? "" : "s",
                                         listed_names(unplaced), only_texts ? " (it holds only strings)" : ""),
                       ModelPart::metadata);
  auto next = unplaced.begin();  // in the order of the map
  model.metadata.erase_if([&](const Map::Entry& entry) {
    const bool gone = next != unplaced.end() && entry.first == *next;
    if (gone) ++next;
    return gone;
  });
  lines.push_back(
      {.kind = ChangeKind::dropped, .impact = Impact::lost, .part = "metadata", .items = std::move(unplaced)});
}

// Fills in the numbers that the target's readers expect and the source lacks, from the table. Only for models that are
// transformers.
Change fill_defaults(Model& model, const Capabilities& holds) {
  Change filled{.kind = ChangeKind::defaulted, .impact = Impact::changed, .part = "config"};
  Config& config = model.config;
  // The defaults of the model_type take precedence over the usual ones. A container of any fields carries config.json
  // unchanged.
  if (!holds.own_fields.empty()) {
    Config all = config;
    const Map assumed = resources::assume_fields(all, resources::ConfigFile(model));
    Map fields = config.to_map();
    for (const auto& [field, value] : assumed) {
      if (!holds.has_field(field)) continue;
      fields.set(field, value);
      filled.items.push_back(field);
      filled.values.push_back(to_json(value));
    }
    config = Config::from_map(fields);
  }
  if (config.num_attention_heads.value_or(0) <= 0) return filled;
  for (const arch::ConfigRow& row : arch::kConfigTable) {
    if (row.fallback.value == nullptr || !holds.expects_field(row.field)) continue;
    if (row.fallback.rotating && !resources::rotates(model)) continue;
    Map all = config.to_map();
    const std::optional<Value> value = all.find(row.field) == nullptr ? row.fallback.value(model) : std::nullopt;
    if (!value) continue;
    all.set(row.field, *value);
    config = Config::from_map(all);
    filled.items.emplace_back(row.field);
    filled.values.push_back(to_json(*value));
  }
  return filled;
}

// The number of rows of the embedding, which is what vocab_size means; without an embedding the number of tokens.
std::optional<std::int64_t> counted_vocabulary(const Model& model) {
  for (const Tensor& tensor : model.tensors)
    if (tensor.shape.rank() == 2 && arch::is_embedding(tensor.name) && std::in_range<std::int64_t>(tensor.shape[0]))
      return static_cast<std::int64_t>(tensor.shape[0]);
  if (model.vocabulary.tokens.empty()) return std::nullopt;
  return static_cast<std::int64_t>(model.vocabulary.tokens.size());
}

// Counts vocab_size if the source has no field for it (ALT) and the target has one.
void count_vocabulary(Model& model, const Format& target, std::vector<Change>& lines) {
  const Format* const source = find_format(model.format);
  if (model.config.vocab_size || source == nullptr || source->holds.has_field("vocab_size") ||
      !target.holds.has_field("vocab_size"))
    return;
  model.config.vocab_size = counted_vocabulary(model);
  if (model.config.vocab_size)
    lines.push_back(filled_in("config", "vocab_size", fmt::format("{}", *model.config.vocab_size), "counted"));
}

void leave_unplaced_fields(Model& model, const Format& target, std::vector<Change>& lines) {
  Config& config = model.config;
  std::vector<std::string> unplaced;
  // Not lost if converting back counts the same.
  if (!target.holds.has_field("vocab_size") && config.vocab_size == counted_vocabulary(model))
    config.vocab_size.reset();
  for (const ConfigField& field : config_fields()) {
    if (target.holds.has_field(field.name)) continue;
    std::visit(
        [&](auto member) {
          if (!(config.*member)) return;
          unplaced.emplace_back(field.name);
          (config.*member).reset();
        },
        field.member);
  }
  if (!unplaced.empty()) lines.push_back(no_place("config", std::move(unplaced), target.name));
}

void fit_config(Model& model, const Format& target, const AdaptOptions& options, Unplaced& refused,
                std::vector<Change>& lines) {
  if (model.config.empty()) return;
  if (asked_to_drop(options, ModelPart::config)) {
    lines.push_back(
        {.kind = ChangeKind::dropped, .impact = Impact::lost, .part = "config", .count = model.config.to_map().size()});
    model.config = {};
    return;
  }
  if (!target.holds.config) return refused.add("the config", ModelPart::config);
  count_vocabulary(model, target, lines);
  leave_unplaced_fields(model, target, lines);
  Change filled = fill_defaults(model, target.holds);
  if (!filled.items.empty()) lines.push_back(std::move(filled));
}

void fit_vocabulary(Model& model, const Format& target, const AdaptOptions& options, Unplaced& refused,
                    std::vector<Change>& lines) {
  Vocabulary& vocabulary = model.vocabulary;
  if (vocabulary.empty()) return;
  if (asked_to_drop(options, ModelPart::vocabulary)) {
    lines.push_back(
        {.kind = ChangeKind::dropped, .impact = Impact::lost, .part = "vocabulary", .count = vocabulary.tokens.size()});
    vocabulary = {};
    return;
  }
  if (!target.holds.vocabulary) return refused.add("the vocabulary", ModelPart::vocabulary);
  std::vector<std::string> lost;
  const auto omit = [&](std::string_view part, bool present, std::string what, const auto& clear) {
    if (!present || lists(target.holds.vocabulary_parts, part)) return;
    lost.push_back(std::move(what));
    clear();
  };
  const auto& tokens = vocabulary.tokens;
  // Only the order of the merges matters, and scores can express it.
  if (!lists(target.holds.vocabulary_parts, "merges") && lists(target.holds.vocabulary_parts, "scores") &&
      resources::rank_by_merges(vocabulary)) {
    lines.push_back({.kind = ChangeKind::kept_as,
                     .impact = Impact::detail,
                     .part = "vocabulary",
                     .items = {fmt::format("the order of {} merges", count_text(vocabulary.merges.size()))},
                     .after = "scores",
                     .count = vocabulary.merges.size()});
    vocabulary.merges.clear();
  }
  omit("merges", !vocabulary.merges.empty(), fmt::format("{} merges", count_text(vocabulary.merges.size())),
       [&] { vocabulary.merges.clear(); });
  omit("kind", !vocabulary.kind.empty(), fmt::format("its kind ({})", vocabulary.kind),
       [&] { vocabulary.kind.clear(); });
  omit("scores", std::any_of(tokens.begin(), tokens.end(), [](const Token& t) { return t.score != 0; }), "scores", [&] {
    for (Token& token : vocabulary.tokens) token.score = 0;
  });
  omit("types", std::any_of(tokens.begin(), tokens.end(), [](const Token& t) { return t.type != TokenType::normal; }),
       "token types", [&] {
         for (Token& token : vocabulary.tokens) token.type = TokenType::normal;
       });
  if (!lost.empty()) lines.push_back(no_place("vocabulary", std::move(lost), target.name));
}

}  // namespace

void fit_rest(Model& model, const Format& target, const AdaptOptions& options, std::vector<Change>& lines,
              std::vector<LostKeys>& lost) {
  fill_card(model, target, options, lines);
  leave_own_keys(model, target, options, lines);
  Unplaced refused(target);
  fit_metadata(model, target, options, refused, lines);
  fit_config(model, target, options, refused, lines);
  fit_vocabulary(model, target, options, refused, lines);
  fit_files(model, target, options, refused, lines, lost);
  refused.refuse_any();
}

}  // namespace tare
