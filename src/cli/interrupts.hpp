// Handles SIGINT, SIGTERM and SIGHUP: removes unfinished files, ends the line of a progress bar, and then ends the
// process by the same signal, so that its parent sees the reason. A second signal ends it at once.
#pragma once

#include <string_view>

namespace tare::cli {

// Blocks the signals for all threads that start later, and waits for them in a thread of its own. Ignored signals stay
// ignored (nohup, background jobs). If no thread can be started, signals have their default effect.
class Interrupts {
 public:
  Interrupts();
};

// Writes text without a line feed to standard error, for a line that is redrawn repeatedly. An interrupt ends that
// line, and nothing is drawn afterwards.
void draw_line(std::string_view text);
// Clears the line; the cursor is then at the beginning of an empty line.
void wipe_line();

}  // namespace tare::cli
