// The file of `tare plan`: a conversion, as the words of its command line, and how it is divided.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "tare/plan.hpp"

namespace tare::cli {

struct PlanFile {
  std::string path;       // as it was given; absolute once it has been entered
  std::string directory;  // in which the words were typed: relative names in them are relative to it
  Words words;            // what would follow `tare convert`
  std::vector<Part> parts;

  const std::string& id() const { return parts.front().plan; }
  // The file of one part, next to the plan.
  std::string part_path(std::size_t number) const;
};

inline constexpr Option kAnyOwner = {
    .name = "any-owner",
    .help = "take the plan and its parts whoever owns them; for a directory that only people you trust can write to"};
inline Owners owners_of(const Arguments& arguments) {
  return arguments.has(kAnyOwner.name) ? Owners::any : Owners::trusted;
}

// Divides these tensors into about `tasks` runs of the same size. There is at least one.
std::vector<Part> divide(const std::vector<PlannedTensor>& tensors, std::size_t tasks);

// Throws `io.sink.*`.
void write_plan_file(PlanFile& plan, bool overwrite);
// Reads it and goes into its directory. Throws `cli.plan.file` for what is not such a file, `cli.plan.owner` for that of somebody
// else: it says what to read and what to overwrite.
PlanFile enter_plan_file(const std::string& path, Owners owners);
// Removes the files of all parts. Returns those that could not be removed.
std::vector<std::string> remove_parts(const PlanFile& plan);

}  // namespace tare::cli
