// What a conversion changed, sorted by how much a person must know of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/session.hpp"
#include "tare/convert.hpp"

namespace tare::cli {

// In the order in which they are told.
enum class Weight : std::uint8_t {
  warning,  // what the model computes, or what a text becomes, may be different now
  lost,     // not in the output
  changed,  // there, but not as it was
  note,     // anything else that is told
  detail,   // nothing was lost: told with --verbose only
};

struct Change {
  Weight weight = Weight::note;
  std::string brief;  // for a list that says "lost" in front
  std::string full;   // as the library said it
};

// The library tells changes as sentences; how much each matters is decided here. A sentence that nobody has weighed is
// a note, so that what is new is shown rather than hidden. Most important first, in the order given otherwise.
std::vector<Change> weigh(const std::vector<std::string>& changes, const std::vector<LostKeys>& lost);

// Whether it says that something was done to tensors: "quantized from ".
bool tells_of_tensors(const Change& change, std::string_view done);

// "mistral (hf) -> model.alt (alt): 21 tensors, 340.7 KiB", of the operands IN and OUT.
std::string headline_of(const Conversion& done, const Arguments& arguments);
// A remark, `headline`, and below it the changes, one per line. Without `verbose` they are brief, and of details only the
// number is told.
void tell_changes(std::string_view headline, const std::vector<Change>& changes, bool verbose, Session& session);

}  // namespace tare::cli
