// How work is done: on how many threads, who watches it, who may stop it. The other options say what is done.
#pragma once

#include "tare/progress.hpp"
#include "tare/stop.hpp"

namespace tare {

struct Work {
  unsigned threads = 0;          // 0: all cores
  Progress* progress = nullptr;  // advanced as bytes of tensors are read or written; null: not counted
  // Ends the work soon after it is asked, with Error usage `work.stopped`; null: the thread's Stoppable, if any.
  const Stop* stop = nullptr;
};

}  // namespace tare
