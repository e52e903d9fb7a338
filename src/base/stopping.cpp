#include "base/stopping.hpp"

#include "tare/error.hpp"

namespace tare {
namespace {

thread_local const Stop* listening = nullptr;

Error stopped() { return {ErrorKind::usage, "work.stopped", "the work was stopped, as was asked for"}; }

}  // namespace

const Stop* current_stop() noexcept { return listening; }

void listen_to(const Stop* stop) noexcept { listening = stop; }

void check_stop() {
  if (listening != nullptr && listening->asked()) throw stopped();
}

void check_last_stop() {
  if (listening != nullptr && listening->asked_last()) throw stopped();
}

Stoppable::Stoppable(const Stop& stop) noexcept : before_(listening) { listening = &stop; }

Stoppable::~Stoppable() { listening = before_; }

}  // namespace tare
