// The stop request that the work of this thread checks.
#pragma once

#include <optional>

#include "tare/work.hpp"

namespace tare {

// Null if there is none.
const Stop* current_stop() noexcept;
// For a thread that was started for work which checks `stop`; applies for the rest of its life.
void listen_to(const Stop* stop) noexcept;
// Throws `work.stopped` if a stop was requested.
void check_stop();
// The same right before an output gets its name (Stop::asked_last).
void check_last_stop();

// While it lives, this thread checks the stop request of the work; the current one if the work has none.
class StopScope {
 public:
  explicit StopScope(const Work& work) {
    if (work.stop != nullptr) stoppable_.emplace(*work.stop);
  }

 private:
  std::optional<Stoppable> stoppable_;
};

}  // namespace tare
