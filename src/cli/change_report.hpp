// Reports what a conversion changed, the most important changes first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_stream.hpp"
#include "cli/session.hpp"
#include "tare/convert.hpp"

namespace tare::cli {

struct ReportLine {
  Impact impact = Impact::note;
  std::string brief;  // for a list with the label "lost"
  std::string full;   // the whole sentence
  ChangeKind kind = ChangeKind::remark;
};

// Returns whether the errors of the tensor are known.
bool is_measured(const TensorOutcome& outcome);
// The rms of all measured errors relative to that of the weights.
double relative_error(const std::vector<TensorOutcome>& outcomes);
// Warns of weights that are so small that their scales are subnormal in f16, if a program that reads them is known to
// fail.
std::vector<ReportLine> scale_warnings(const std::vector<TensorOutcome>& outcomes);

// Sorts changes by importance, and keeps the order otherwise. `verb`: the verb whose options the texts may name.
std::vector<ReportLine> weigh(const std::vector<Change>& changes, const Verb* verb = nullptr);

// Writes the keys "changes" and "lost": the changes as data and as sentences. `verb`: as above.
void write_changes(JsonWriter& json, const Saved& done, const Verb* verb);

// Returns for example "mistral (hf) -> model.alt (alt): 21 tensors, 340.7 KiB", from the operands IN and OUT.
std::string headline_of(const Conversion& done, const Arguments& arguments);
// Prints the remark `headline` and the lines below it. Without `verbose` the lines are brief, and details are only
// counted.
void report_changes(std::string_view headline, const std::vector<ReportLine>& lines, bool verbose, Session& session);

}  // namespace tare::cli
