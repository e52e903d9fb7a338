// The two parts of `tare demo`, and the small models that they use, which are the same on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/embedded_file.hpp"
#include "cli/change_report.hpp"
#include "cli/command.hpp"
#include "formats/format.hpp"

namespace tare::cli {

// Every storage type, every logical type, every layout, metadata, a configuration, a vocabulary and an attachment.
Model demo_model();
// For the container that holds no other architecture.
Model tiny_llama_model();
// A small Mistral like a downloaded one, with its files.
Model mistral_model();
// The files in the folder mistral: config.json, generation_config.json, and the pieces of the vocabulary.
std::vector<EmbeddedFile> mistral_files();

// One file of the tour.
struct Stop {
  std::string file = {};  // made from the file of the previous stop
  std::string_view made_by = {};
  std::uint64_t bytes = 0;
  std::string weights = {};                   // "same, as f32"
  std::string_view config = {}, tokens = {};  // "same", "part" or "changed", compared with the start
  std::vector<ReportLine> changes = {};       // on the way to this stop
  bool verified = false;
  bool good = false;  // nothing was lost without a report
};

struct Tour {
  std::string model;  // "21 tensors, 168.6 KiB, 96 tokens"
  std::vector<Stop> stops;
};

// Converts a downloaded model from container to container, quantizes it, and leaves the files under `directory`.
Tour demo_tour(const std::string& directory, const Arguments& arguments);

// The result for one container: the model with every type and layout, or what the container can hold of it.
struct Visit {
  const Format* format = nullptr;
  std::string file;
  std::uint64_t bytes = 0;
  std::size_t tensors = 0;
  std::vector<std::string> changes;  // why it is not the complete model
  bool kept = false;                 // the content digest is the original's
  bool read = false;                 // what was read equals what was written
  bool back = false;                 // and it is the same after converting back to the first container
  bool verified = false;

  bool good() const { return read && back && verified && (kept || !changes.empty()); }
};

// Visits each container that can be written, and leaves its file under `directory`.
std::vector<Visit> visit_containers(const std::string& directory, const Arguments& arguments);

}  // namespace tare::cli
