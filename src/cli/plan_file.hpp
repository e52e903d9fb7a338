// The file of `tare plan`: the words of a conversion's command line, and how its tensors are divided.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "tare/plan.hpp"

namespace tare::cli {

struct PlanFile {
  std::string path;       // as given; absolute once it has been entered
  std::string directory;  // the directory of the command: relative names in the words are relative to it
  Words words;            // the words after `tare convert`
  std::vector<Part> parts;

  const std::string& id() const { return parts.front().plan; }
  // Returns the path of a part's file, next to the plan.
  std::string part_path(std::size_t number) const;
};

inline constexpr Option kAnyOwner = {
    .name = "any-owner",
    .help = "take the plan and its parts whoever owns them; for a directory that only people you trust can write to"};
inline Owners owners_of(const Arguments& arguments) {
  return arguments.has(kAnyOwner.name) ? Owners::any : Owners::trusted;
}

// Divides these tensors into about `tasks` runs of similar size; at least one.
std::vector<Part> divide(const std::vector<PlannedTensor>& tensors, std::size_t tasks);

// Throws UsageError if the plan or one of its parts would be written under the name of the output.
void require_other_name(const std::string& output, const PlanFile& plan);
// Throws `io.sink.*`.
void write_plan_file(PlanFile& plan, bool overwrite);
// Reads the file and changes to its directory. Throws `cli.plan.file` for another kind of file, and `cli.plan.owner`
// for a file of another user: a plan decides what is read and overwritten.
PlanFile enter_plan_file(const std::string& path, Owners owners);
// Removes the files of all parts. Returns those that could not be removed.
std::vector<std::string> remove_parts(const PlanFile& plan);

}  // namespace tare::cli
