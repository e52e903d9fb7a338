// How work is done: the number of threads, a progress counter, a stop request. The other options define the result.
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
