// A model with every type and layout, taken into every container that can be written and back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "tare/format.hpp"

namespace tare::cli {

// What became of the model, or of what the container can hold of it.
struct Visit {
  const Format* format = nullptr;
  std::string file;
  std::uint64_t bytes = 0;
  std::size_t tensors = 0;
  std::vector<std::string> changes;  // why it is not the whole model
  bool kept = false;                 // the content digest is that of the original
  bool read = false;                 // what was read is what was written
  bool back = false;                 // and is the same after a return to the first container
  bool verified = false, findings = false;

  bool good() const { return read && back && verified && (kept || !changes.empty()); }
};

// One for each container, its file left under `directory`.
std::vector<Visit> visit_containers(const std::string& directory, const Arguments& arguments);

}  // namespace tare::cli
