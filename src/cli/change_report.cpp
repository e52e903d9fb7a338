#include "cli/change_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/name_map.hpp"
#include "base/text.hpp"
#include "cli/advice.hpp"
#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/text.hpp"
#include "tare/codec.hpp"

namespace tare::cli {
namespace {

// Columns of a line after its label.
constexpr std::size_t kBrief = 68;

// Returns a shorter text: without the names of many tensors, and without what the label "lost" already states.
std::string brief_of(const Change& change, const std::string& full) {
  const bool many = change.impact == Impact::changed && is_about_tensors(change.kind) && display_width(full) > kBrief;
  const bool lost = change.impact == Impact::lost && change.kind == ChangeKind::left_out;
  return many || lost ? to_brief_text(change, words_for(change.remedies)) : full;
}

struct Label {
  std::string_view word;
  Style style;
};

Label label_of(Impact impact) {
  switch (impact) {
    case Impact::results: return {"warning", Style::red};
    case Impact::lost: return {"lost", Style::yellow};
    case Impact::changed: return {"changed", Style::cyan};
    case Impact::note: return {"note", Style::bold};
    case Impact::detail: return {"detail", Style::dim};
  }
  return {"", Style::plain};
}

}  // namespace

bool is_measured(const TensorOutcome& outcome) { return outcome.report != nullptr && outcome.report->complete; }

double relative_error(const std::vector<TensorOutcome>& outcomes) {
  double squared_error = 0, squared_sum = 0;
  for (const TensorOutcome& outcome : outcomes) {
    if (!is_measured(outcome)) continue;
    squared_error += outcome.report->squared_error;
    squared_sum += outcome.report->squared_sum;
  }
  return squared_sum == 0 ? 0 : std::sqrt(squared_error / squared_sum);
}

std::vector<ReportLine> scale_warnings(const std::vector<TensorOutcome>& outcomes) {
  std::vector<ReportLine> warnings;
  for (const Codec& codec : codecs()) {
    std::uint64_t scales = 0, subnormal = 0;
    for (const TensorOutcome& outcome : outcomes) {
      if (codec.subnormal_scales.empty() || outcome.type != codec.name || !is_measured(outcome)) continue;
      scales += outcome.report->scales;
      subnormal += outcome.report->subnormal_scales;
    }
    if (subnormal == 0) continue;
    const std::string text = fmt::format("{} of {} scales of {} are below 2^-14, the smallest normal f16: {}",
                                         count_text(subnormal), count_text(scales), codec.name, codec.subnormal_scales);
    warnings.push_back({Impact::results, text, text});
  }
  return warnings;
}

namespace {

// Whether fallbacks to the same method name all of these tensors.
bool is_said_twice(const Change& change, const std::vector<Change>& changes) {
  if (change.kind != ChangeKind::quantized) return false;
  NameViewSet said;
  for (const Change& other : changes)
    if (other.kind == ChangeKind::fell_back && other.after == change.after)
      said.insert(other.items.begin(), other.items.end());
  return std::ranges::all_of(change.items, [&](const std::string& name) { return said.contains(name); });
}

}  // namespace

std::vector<ReportLine> weigh(const std::vector<Change>& changes, const Verb* verb) {
  std::vector<ReportLine> lines;
  lines.reserve(changes.size());
  for (const Change& change : changes) {
    std::string full = text_of(change, verb);
    const Impact impact = is_said_twice(change, changes) ? Impact::detail : change.impact;
    lines.push_back({impact, brief_of(change, full), full, change.kind});
  }
  std::ranges::stable_sort(lines, {}, &ReportLine::impact);
  return lines;
}

namespace {

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).open('[');
  for (const std::string& text : texts) json.text(one_line(text));
  json.close(']');
}

void write_change(JsonWriter& json, const Change& change, const Verb* verb) {
  json.open('{').key("kind").text(name_of(change.kind)).key("impact").text(name_of(change.impact));
  json.key("part").text(one_line(change.part));
  write_texts(json, "items", change.items);
  write_texts(json, "values", change.values);
  json.key("before").text(one_line(change.before)).key("after").text(one_line(change.after));
  json.key("count").number(change.count).key("lossy").boolean(change.lossy).key("detail").text(one_line(change.detail));
  write_remedies(json, change.remedies);
  json.key("text").text(text_of(change, verb)).close('}');
}

}  // namespace

void write_changes(JsonWriter& json, const Saved& done, const Verb* verb) {
  json.key("changes").open('[');
  for (const Change& change : done.changes) write_change(json, change, verb);
  json.close(']').key("lost").open('[');
  for (const LostKeys& lost : done.lost) {
    json.open('{').key("file").text(lost.file);
    write_texts(json, "harmful", lost.harmful);
    write_texts(json, "harmless", lost.harmless);
    json.close('}');
  }
  json.close(']');
}

std::string conversion_json(const Conversion& done, const Arguments& arguments, const Verb* verb) {
  std::string text;
  JsonWriter json(text);
  json.open('{').key("input").text(arguments.operand(0)).key("output").text(arguments.operand(1));
  json.key("from").text(done.from).key("to").text(done.to).key("tensors").number(done.tensors);
  json.key("bytes").number(done.bytes).key("file_bytes").number(done.file_bytes);
  write_changes(json, done, verb);
  json.close('}');
  return text;
}

std::string headline_of(const Conversion& done, const Arguments& arguments) {
  return fmt::format("{} ({}) -> {} ({}): {}, {}", arguments.operand(0), done.from, arguments.operand(1), done.to,
                     counted(done.tensors, "tensor"), size_text(done.file_bytes));
}

void report_changes(std::string_view headline, const std::vector<ReportLine>& lines, bool verbose, Session& session) {
  session.remark(headline);
  std::size_t unlisted = 0;
  for (const ReportLine& line : lines) {
    if (line.impact == Impact::detail && !verbose) {
      ++unlisted;
      continue;
    }
    const auto [word, style] = label_of(line.impact);
    session.remark_below(style, word, verbose ? line.full : line.brief);
  }
  if (unlisted > 0)
    session.remark_below(Style::dim, "more", fmt::format("{} with --verbose", counted(unlisted, "detail")));
}

}  // namespace tare::cli
