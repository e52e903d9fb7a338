// The one place where changes become sentences.
#include "tare/change.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "tare/value.hpp"

namespace tare {
namespace {

std::string listed_items(const Change& change, std::size_t most) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(change.items.size(), most); ++i) {
    texts.push_back(escape_name(change.items[i]));
    if (i < change.values.size()) texts.back() += " = " + escape_name(change.values[i]);
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// "a, b and 3 more"
std::string some_items(const Change& change) {
  const std::size_t more = change.items.size() - std::min(change.items.size(), change.named);
  return listed_items(change, change.named) + (more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string all_items(const Change& change) { return listed_items(change, change.items.size()); }

// "X: "; nothing without a part.
std::string part_of(const Change& change) { return change.part.empty() ? "" : change.part + ": "; }

std::string with(std::string_view before, std::string_view text, std::string_view after = {}) {
  return text.empty() ? std::string() : fmt::format("{}{}{}", before, text, after);
}

// What was done to tensors, without their number and names.
std::string deed(const Change& c, std::string_view advice) {
  switch (c.kind) {
    case ChangeKind::cast: return fmt::format("cast from {} to {}{}", c.before, c.after, c.lossy ? " (lossy)" : "");
    case ChangeKind::widened: return fmt::format("widened from {} to {}", c.before, c.after);
    case ChangeKind::decoded:
      return fmt::format("decoded from {} to dense {}{}", c.before, c.after, with(" (", c.detail, ")"));
    case ChangeKind::quantized: return fmt::format("quantized from {} to {}", c.before, c.after);
    case ChangeKind::overflowed:
      return fmt::format("with values beyond the largest {} ({} {})", c.after, count_text(c.count), c.detail);
    case ChangeKind::kept: return fmt::format("kept: {} already{}", c.after, with(", ", advice));
    case ChangeKind::unfit: return fmt::format("kept although a rule says {}, which takes {}", c.after, c.detail);
    case ChangeKind::unweighted:
      return fmt::format("without a use for its importance: the search of {} does not weigh columns", c.after);
    case ChangeKind::fell_back:
      return fmt::format("{}, not {}, which takes {}", c.after.empty() ? "kept" : c.after, c.before, c.detail);
    case ChangeKind::skipped: return "omitted";
    case ChangeKind::unpacked: return fmt::format("compressed no longer{}", with(", ", advice));
    default: return {};
  }
}

std::string tensors_text(const Change& change, std::string_view advice) {
  return fmt::format("{} tensor{} {}", change.items.size(), change.items.size() == 1 ? "" : "s", deed(change, advice));
}

std::string tensor_names(const Change& change) {
  constexpr std::size_t kShown = 4;
  if (change.kind == ChangeKind::unpacked) return some_items(change);
  const std::size_t more = change.items.size() - std::min(change.items.size(), kShown);
  return listed_items(change, kShown) + (more > 0 ? fmt::format(", and {} more", more) : "");
}

std::string rest_text(const Change& c, std::string_view advice) {
  switch (c.kind) {
    case ChangeKind::dropped:
      return c.items.empty() ? fmt::format("{} dropped ({} entries)", c.part, c.count)
                             : fmt::format("{} dropped: {}", c.part, some_items(c));
    case ChangeKind::left_out: return fmt::format("{}{} omitted{}", part_of(c), some_items(c), with(", ", c.detail));
    case ChangeKind::kept_as:
      return fmt::format("{}{} kept as {}{}", part_of(c), all_items(c), c.after,
                         !c.part.empty()       ? ""
                         : c.items.size() == 1 ? ", not as a file"
                                               : ", not as files");
    case ChangeKind::filled_in: return fmt::format("{}{}{}", part_of(c), some_items(c), with(", ", c.detail));
    case ChangeKind::defaulted: return fmt::format("{}{} by default", part_of(c), all_items(c));
    case ChangeKind::restated:
      return fmt::format("{}: its {} is {} now, not {}; the rest of it is as it was", c.part, all_items(c), c.after,
                         c.before);
    case ChangeKind::made: return fmt::format("{} made, not copied", all_items(c));
    case ChangeKind::renamed: return fmt::format("{} are called {}, not {}", c.part, c.after, c.before);
    case ChangeKind::unsaid:
      return fmt::format("{}, the source does not say: {}{}", c.detail, all_items(c), with("; ", advice));
    case ChangeKind::left_behind: return fmt::format("left behind, {}{}", c.detail, with(" (", advice, ")"));
    default: return fmt::format("{}{}{}", part_of(c), c.detail, with("; ", advice));
  }
}

}  // namespace

std::string_view name_of(ChangeKind kind) {
  constexpr std::string_view kNames[] = {"cast",     "widened",    "decoded",     "quantized", "overflowed", "kept",
                                         "unfit",    "unweighted", "fell_back",   "skipped",   "unpacked",   "dropped",
                                         "left_out", "kept_as",    "filled_in",   "defaulted", "restated",   "made",
                                         "renamed",  "unsaid",     "left_behind", "remark"};
  const auto index = static_cast<std::size_t>(kind);
  return index < std::size(kNames) ? kNames[index] : "?";
}

std::string_view name_of(Impact impact) {
  constexpr std::string_view kNames[] = {"results", "lost", "changed", "note", "detail"};
  const auto index = static_cast<std::size_t>(impact);
  return index < std::size(kNames) ? kNames[index] : "?";
}

std::string_view name_of(ModelPart part) {
  switch (part) {
    case ModelPart::metadata: return "metadata";
    case ModelPart::config: return "config";
    case ModelPart::vocabulary: return "vocabulary";
    case ModelPart::attachments: return "attachments";
    case ModelPart::attributes: return "attributes";
  }
  return "?";
}

std::optional<ModelPart> parse_model_part(std::string_view name) {
  for (const ModelPart part : kModelParts)
    if (name_of(part) == name) return part;
  return std::nullopt;
}

bool is_about_tensors(ChangeKind kind) { return kind <= ChangeKind::unpacked; }

std::string to_text(const Change& change, std::string_view advice) {
  if (!is_about_tensors(change.kind)) return rest_text(change, advice);
  return fmt::format("{}: {}", tensors_text(change, advice), tensor_names(change));
}

std::string to_brief_text(const Change& change, std::string_view advice) {
  if (is_about_tensors(change.kind)) return tensors_text(change, advice);
  return change.kind == ChangeKind::left_out ? part_of(change) + some_items(change) : rest_text(change, advice);
}

}  // namespace tare
