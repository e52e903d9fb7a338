#include "base/simdjson.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/once.hpp"
#include "base/process_mutex.hpp"

namespace tare {
namespace {

// simdjson selects its code for this processor on first use. That allocates, and terminates the process if there is no
// memory. So the first use is here, before any work.
[[maybe_unused]] const bool is_ready = simdjson::validate_utf8("", 0);

std::atomic<unsigned> calls{0};
std::atomic<bool> closed{false};
std::atomic<pthread_t> exiting{};

// A call takes as long as its text is long, and texts have limits. Exit does not wait longer for a thread that is
// stopped in the middle of one.
constexpr std::chrono::milliseconds kStep{1};
constexpr int kMostSteps = 10'000;

void close_at_exit() {
  exiting = ::pthread_self();
  closed = true;
  for (int step = 0; calls > 0 && step < kMostSteps; ++step) std::this_thread::sleep_for(kStep);
}

// Handlers run in the reverse order, so this one has to come after those of simdjson's objects, which exist as soon as
// all constructors of the program have run.
constinit Once registered;
void register_once() {
  registered.run([] { static_cast<void>(std::atexit(close_at_exit)); });
}

[[maybe_unused]] const BeforeFork registered_before_fork(register_once);

// The child of a fork has one thread, which is in no call.
[[maybe_unused]] const int forgotten_by_children = ::pthread_atfork(nullptr, nullptr, [] { calls = 0; });

}  // namespace

SimdjsonCall::SimdjsonCall() noexcept {
  register_once();
  calls.fetch_add(1);  // before `closed` is read: one of the two sees the other
  if (!closed || ::pthread_equal(exiting, ::pthread_self()) != 0) return;
  calls.fetch_sub(1);
  for (;;) ::pause();
}

SimdjsonCall::~SimdjsonCall() { calls.fetch_sub(1); }

}  // namespace tare
