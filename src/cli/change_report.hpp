// What a conversion changed, sorted by how much a person must know of it.
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
  std::string brief;  // for a list that says "lost" in front
  std::string full;   // the whole sentence
  ChangeKind kind = ChangeKind::remark;
};

// Whether its errors are known.
bool is_measured(const TensorOutcome& outcome);
// Of weights so small that their scales leave f16's normal numbers, where a program that reads them is known to fail.
std::vector<ReportLine> scale_warnings(const std::vector<TensorOutcome>& outcomes);

// Most important first, in the order given otherwise. `verb`: whose options they may name.
std::vector<ReportLine> weigh(const std::vector<Change>& changes, const Verb* verb = nullptr);

// The keys "changes" and "lost": what was done, as data and in a sentence. `verb`: as above.
void write_changes(JsonWriter& json, const Saved& done, const Verb* verb);

// "mistral (hf) -> model.alt (alt): 21 tensors, 340.7 KiB", of the operands IN and OUT.
std::string headline_of(const Conversion& done, const Arguments& arguments);
// A remark, `headline`, and below it the lines. Without `verbose` they are brief, and of details only the
// number is told.
void tell_changes(std::string_view headline, const std::vector<ReportLine>& lines, bool verbose, Session& session);

}  // namespace tare::cli
