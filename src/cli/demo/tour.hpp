// Converts a downloaded model from container to container, and finally quantizes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/change_report.hpp"
#include "cli/command.hpp"

namespace tare::cli {

// How much of a part of the model is left, compared with the start.
enum class Kept : std::uint8_t { same, part, changed };

struct Stop {
  std::string file;     // made from the file of the previous stop
  std::string made_by;  // "convert, bf16"
  std::uint64_t bytes = 0;
  std::string weights;        // "same, as f32"
  bool weights_same = false;  // all numbers are equal to the original's
  Kept config = Kept::same, tokens = Kept::same;
  std::vector<ReportLine> changes;  // on the way to this stop
  bool verified = false;
  bool good = false;  // nothing was lost without a report
};

struct Tour {
  std::string model;  // "21 tensors, 168.6 KiB, 96 tokens"
  std::vector<Stop> stops;
};

// Leaves the files under `directory`.
Tour demo_tour(const std::string& directory, const Arguments& arguments);

}  // namespace tare::cli
