// Which wish to stop the work of this thread listens to.
#pragma once

#include "tare/stop.hpp"

namespace tare {

// Null: none.
const Stop* current_stop() noexcept;
// Of a thread that was started for work which listens to `stop`; for the rest of its life.
void listen_to(const Stop* stop) noexcept;
// Throws `work.stopped` if it was asked for.
void check_stop();
// The same right before an output gets its name (Stop::asked_last).
void check_last_stop();

}  // namespace tare
