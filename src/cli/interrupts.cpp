#include "cli/interrupts.hpp"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <mutex>
#include <thread>

#include "base/process_mutex.hpp"
#include "cli/session.hpp"
#include "tare/unfinished.hpp"

namespace tare::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

ProcessMutex of_bar(LockOrder::table);
bool line_open = false, line_ended = false;

void end_line() {
  const std::scoped_lock lock(of_bar);
  if (line_open) to_stderr("\n");
  line_ended = true;
}

// Signals that would end the process.
sigset_t fatal_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kSignals) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) sigaddset(&set, signal);
  }
  return set;
}

void watch(sigset_t signals) {
  int signal = 0;
  while (::sigwait(&signals, &signal) != 0) {
  }
  // From here on, a second signal kills the process.
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  discard_unfinished();
  end_line();
  ::kill(::getpid(), signal);
  // The first process of a container is not killed by its own signals.
  ::_exit(128 + signal);
}

}  // namespace

Interrupts::Interrupts() {
  const sigset_t signals = fatal_signals();
  sigset_t before;
  if (::pthread_sigmask(SIG_BLOCK, &signals, &before) != 0) return;
  try {
    std::thread(watch, signals).detach();
  } catch (const std::exception&) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
}

void draw_line(std::string_view text) {
  const std::scoped_lock lock(of_bar);
  if (line_ended) return;
  line_open = true;
  to_stderr(text);
}

void wipe_line() {
  const std::scoped_lock lock(of_bar);
  if (line_ended) return;
  line_open = false;
  to_stderr("\r\x1b[K");
}

}  // namespace tare::cli
