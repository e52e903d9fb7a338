// The text of a progress line, made to fit its width.
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

// Returns for example "converting   21%  ████░░░░  133.3 MiB of 635.4 MiB  33.5 MiB/s  0:15 left", at most `columns`
// wide. If that is too wide, it omits the least important parts first: the bar, the end of `doing`, the rate, the
// bytes. The percentage and the time left stay.
std::string progress_line(const ProgressState& state, std::size_t columns, bool unicode);

}  // namespace tare::cli
