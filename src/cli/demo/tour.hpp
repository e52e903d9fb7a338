// A downloaded model on its way from container to container, and finally into few bits per weight.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/change_report.hpp"
#include "cli/command.hpp"

namespace tare::cli {

// What there is of something of the model, compared with the start.
enum class Kept : std::uint8_t { same, part, changed };

struct Stop {
  std::string file;     // made from the file of the stop before
  std::string made_by;  // "convert, bf16"
  std::uint64_t bytes = 0;
  std::string weights;        // "same, as f32"
  bool weights_same = false;  // every number is what it was
  Kept config = Kept::same, tokens = Kept::same;
  std::vector<ReportLine> changes;  // on the way to it
  bool verified = false;
  bool good = false;  // nothing was lost without a word
};

struct Tour {
  std::string model;  // "21 tensors, 168.6 KiB, 96 tokens"
  std::vector<Stop> stops;
};

// Leaves its files under `directory`.
Tour demo_tour(const std::string& directory, const Arguments& arguments);

}  // namespace tare::cli
