// Converts a model with every type and layout to every container that can be written, and back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "tare/format.hpp"

namespace tare::cli {

// The result for one container: the model, or what the container can hold of it.
struct Visit {
  const Format* format = nullptr;
  std::string file;
  std::uint64_t bytes = 0;
  std::size_t tensors = 0;
  std::vector<std::string> changes;  // why it is not the complete model
  bool kept = false;                 // the content digest is the original's
  bool read = false;                 // what was read equals what was written
  bool back = false;                 // and it is the same after converting back to the first container
  bool verified = false, findings = false;

  bool good() const { return read && back && verified && (kept || !changes.empty()); }
};

// Visits each container, and leaves its file under `directory`.
std::vector<Visit> visit_containers(const std::string& directory, const Arguments& arguments);

}  // namespace tare::cli
