#include "io/mapping_guard.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace tare::io {
namespace {

// A fixed table that the signal handler reads without a lock.
struct Range {
  std::atomic<std::uintptr_t> begin{0}, end{0};  // end 0: free
  std::atomic<bool> damaged{false};
  std::atomic<int> protection{PROT_READ};
};
std::array<Range, kMostGuarded> ranges;
std::atomic<std::size_t> used{0};  // slots ever used; the handler checks only these
std::mutex table_mutex;            // also protects the variables below
std::size_t guarded = 0;
// The handler before ours, stored before ours can run. A different one that is found later uses another element: a
// thread may still be running in our handler with the old one.
std::atomic<const struct sigaction*> previous{nullptr};
std::array<struct sigaction, 16> befores;
std::size_t next_before = 0;
bool installed = false;

// First called before the handler is installed, because the handler must not initialize a static.
std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

void pass_on(int signal_number, siginfo_t* info, void* context) {
  const struct sigaction& next = *previous.load(std::memory_order_acquire);
  if ((next.sa_flags & SA_SIGINFO) != 0 && next.sa_sigaction != nullptr) {
    next.sa_sigaction(signal_number, info, context);
  } else if (next.sa_handler != SIG_DFL && next.sa_handler != SIG_IGN) {
    next.sa_handler(signal_number);
  } else {
    const bool sent = info->si_code <= 0;  // by kill or raise, not by an access
    if (sent && next.sa_handler == SIG_IGN) return;
    // Returning repeats the access, which then gets the default action; a signal that was sent is sent again.
    ::signal(SIGBUS, SIG_DFL);
    if (sent) ::raise(SIGBUS);
  }
}

void on_bus_error(int signal_number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const std::size_t count = used.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    Range& range = ranges[i];
    const std::uintptr_t end = range.end.load(std::memory_order_acquire);
    if (end == 0 || address < range.begin.load(std::memory_order_relaxed) || address >= end) continue;
    const std::uintptr_t page = address & ~(page_size() - 1);
    // Replaces everything up to the end, which the file does not have either: replacing single pages could split the
    // mapping into more pieces than the kernel allows. On Linux mmap is a bare system call, hence safe in a handler
    // although POSIX does not list it.
    void* const replaced =
        ::mmap(reinterpret_cast<void*>(page), end - page, range.protection.load(std::memory_order_relaxed),
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (replaced == MAP_FAILED) break;
    range.damaged.store(true, std::memory_order_release);
    return;
  }
  pass_on(signal_number, info, context);
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_bus_error;
}

struct sigaction current_action() {
  struct sigaction action {};
  ::sigaction(SIGBUS, nullptr, &action);
  return action;
}

void install_handler() {
  const struct sigaction before = current_action();
  // Do not install it twice: a handler that was installed on top of ours calls ours, which would call it again.
  if (installed || is_ours(before)) return;
  const struct sigaction* const last = previous.load(std::memory_order_relaxed);
  if (last == nullptr || last->sa_flags != before.sa_flags || last->sa_handler != before.sa_handler) {
    struct sigaction& place = befores[next_before++ % befores.size()];
    place = before;
    previous.store(&place, std::memory_order_release);
  }
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  installed = ::sigaction(SIGBUS, &action, nullptr) == 0;
}

void remove_handler() {
  if (!installed || !is_ours(current_action())) return;
  ::sigaction(SIGBUS, previous.load(std::memory_order_relaxed), nullptr);
  installed = false;
}

}  // namespace

MappingGuard::MappingGuard(const std::byte* begin, std::size_t length, bool writable) {
  const std::scoped_lock lock(table_mutex);
  const std::size_t count = used.load(std::memory_order_relaxed);
  std::size_t free = 0;
  while (free < count && ranges[free].end.load(std::memory_order_relaxed) != 0) ++free;
  if (free == kMostGuarded) return;
  install_handler();
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  ranges[free].damaged.store(false, std::memory_order_relaxed);
  ranges[free].protection.store(writable ? PROT_READ | PROT_WRITE : PROT_READ, std::memory_order_relaxed);
  ranges[free].begin.store(first, std::memory_order_relaxed);
  ranges[free].end.store((first + length + page_size() - 1) & ~(page_size() - 1), std::memory_order_release);
  if (free >= count) used.store(free + 1, std::memory_order_release);
  ++guarded;
  slot_ = free;
}

bool MappingGuard::damaged() const { return works() && ranges[slot_].damaged.load(std::memory_order_acquire); }

MappingGuard::~MappingGuard() {
  if (!works()) return;
  const std::scoped_lock lock(table_mutex);
  ranges[slot_].end.store(0, std::memory_order_release);
  if (--guarded == 0) remove_handler();
}

}  // namespace tare::io
