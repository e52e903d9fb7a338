// SIGINT, SIGTERM and SIGHUP: what is unfinished is removed, the line of a progress bar ended, and then the process dies
// by that very signal, so that whoever started it sees why. A second signal ends it at once.
#pragma once

#include <string_view>

namespace tare::cli {

// Blocks the signals for all threads that start later and waits for them in one of its own. Signals that are ignored
// stay so (nohup, jobs in the background). Where no thread is to be had, signals do what they do without us.
class Interrupts {
 public:
  Interrupts();
};

// Writes to standard error text that leaves the cursor behind it, on a line that is drawn again and again. An interrupt
// ends that line, and nothing is drawn any more.
void draw_line(std::string_view text);
// Wipes it; the cursor is at the beginning of an empty line.
void wipe_line();

}  // namespace tare::cli
