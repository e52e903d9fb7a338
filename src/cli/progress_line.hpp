// One line that says how far long work is, made to fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tare::cli {

struct ProgressState {
  std::string doing;                  // "converting"; printable
  std::uint64_t done = 0, total = 0;  // bytes; total 0: not known yet
  double seconds = 0;                 // since the beginning
};

// "converting   21%  ████░░░░  133.3 MiB of 635.4 MiB  33.5 MiB/s  0:15 left", at most `columns` wide. Where that is too
// much, what goes first is what tells least: the bar, the end of `doing`, the rate, the bytes. How far it is and how
// long it will take stay.
std::string progress_line(const ProgressState& state, std::size_t columns, bool unicode);

}  // namespace tare::cli
