#include "io/mapping_guard.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/process_mutex.hpp"

namespace tare::io {
namespace {

// A fixed table that the signal handler reads without a lock.
struct Range {
  std::atomic<std::uintptr_t> begin{0}, end{0};  // end 0: free
  std::atomic<bool> damaged{false};
  // Guarded by `replacing`.
  std::uintptr_t replaced = 0;  // zeros are mapped from here to the end; a user may have written over them
  int protection = PROT_READ;
};
std::array<Range, kMostGuarded> ranges;
std::atomic<std::size_t> used{0};               // slots ever taken; the handler looks no further
std::atomic_flag replacing = ATOMIC_FLAG_INIT;  // held while the mapping of a range changes
// A thread of the parent may have been in the handler during the fork.
ProcessMutex table_mutex(LockOrder::mappings, [] { replacing.clear(); });  // also guards what follows
std::size_t guarded = 0;
// The handler before ours, stored before ours can run. If a different one is found later, it uses another element: a
// thread may still be running in our handler with the old one.
std::atomic<const struct sigaction*> previous{nullptr};
std::array<struct sigaction, 16> befores;
std::size_t next_before = 0;
bool installed = false;

const auto page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));

// Holds `replacing`. Signals are blocked, because a handler could touch a guarded page and wait for this thread.
class ExclusiveWithoutSignals {
 public:
  ExclusiveWithoutSignals() {
    sigset_t every;
    ::sigfillset(&every);
    ::pthread_sigmask(SIG_SETMASK, &every, &before_);
    while (replacing.test_and_set(std::memory_order_acquire)) ::sched_yield();
  }
  ~ExclusiveWithoutSignals() {
    replacing.clear(std::memory_order_release);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  ExclusiveWithoutSignals(const ExclusiveWithoutSignals&) = delete;
  ExclusiveWithoutSignals& operator=(const ExclusiveWithoutSignals&) = delete;

 private:
  sigset_t before_{};
};

// Maps zeros from the faulting page up to the zeros that were mapped before. Returns false if the access cannot
// continue.
bool replace_from(Range& range, std::uintptr_t address, int code) {
  const ExclusiveWithoutSignals exclusive;
  const std::uintptr_t end = range.end.load(std::memory_order_acquire);
  if (end == 0 || address < range.begin.load(std::memory_order_relaxed) || address >= end) return false;
  const std::uintptr_t page = address & ~(page_size - 1);
  // Another thread faulted at the same end of the file first, and may have written there since: the access is repeated.
  // Broken memory (BUS_MCEERR_AR) would fail again.
  if (page >= range.replaced) return code == BUS_ADRERR;
  // All pages up to the earlier zeros at once, since the file does not reach them either: page by page, scattered
  // accesses would cut the mapping into more pieces than the kernel allows a process. On Linux this is a bare system
  // call, so it is safe in a handler although POSIX does not list it.
  void* const made = ::mmap(reinterpret_cast<void*>(page), range.replaced - page, range.protection,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return false;
  range.replaced = page;
  range.damaged.store(true, std::memory_order_release);
  return true;
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
    if (!replace_from(range, address, info->si_code)) break;
    return;
  }
  pass_on(signal_number, info, context);
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_bus_error;
}

constexpr int kWritable = PROT_READ | PROT_WRITE;

// The address after the last page of the range.
std::uintptr_t end_of(std::uintptr_t first, std::size_t length) {
  return (first + length + page_size - 1) & ~(page_size - 1);
}

struct sigaction current_action() {
  struct sigaction action {};
  ::sigaction(SIGBUS, nullptr, &action);
  return action;
}

bool is_default(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN);
}

// Returns whether our handler is the one that is called first.
bool install_handler() {
  const struct sigaction before = current_action();
  if (is_ours(before)) return true;
  // Do not install it twice: a handler that was installed on top of ours may call ours, which would call it again. If it
  // does not, faults in our mappings never reach us.
  if (installed && !is_default(before)) return false;
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
  return installed;
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
  if (free == kMostGuarded || !install_handler()) return;
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t end = end_of(first, length);
  {
    const ExclusiveWithoutSignals exclusive;
    Range& range = ranges[free];
    range.damaged.store(false, std::memory_order_relaxed);
    range.protection = writable ? kWritable : PROT_READ;
    range.replaced = end;
    range.begin.store(first, std::memory_order_relaxed);
    range.end.store(end, std::memory_order_release);
  }
  if (free >= count) used.store(free + 1, std::memory_order_release);
  ++guarded;
  slot_ = free;
}

bool MappingGuard::damaged() const { return works() && ranges[slot_].damaged.load(std::memory_order_acquire); }

bool MappingGuard::let_write(std::span<const std::byte> mapping) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(mapping.data());
  const std::uintptr_t end = end_of(first, mapping.size());
  const std::scoped_lock lock(table_mutex);
  for (std::size_t i = 0; i < used.load(std::memory_order_relaxed); ++i) {
    Range& range = ranges[i];
    if (range.begin.load(std::memory_order_relaxed) != first || range.end.load(std::memory_order_relaxed) != end)
      continue;
    const ExclusiveWithoutSignals exclusive;
    if (::mprotect(reinterpret_cast<void*>(first), end - first, kWritable) != 0) return false;
    range.protection = kWritable;
    return true;
  }
  return false;
}

MappingGuard::~MappingGuard() {
  if (!works()) return;
  const std::scoped_lock lock(table_mutex);
  {
    const ExclusiveWithoutSignals exclusive;
    ranges[slot_].end.store(0, std::memory_order_release);
  }
  if (--guarded == 0) remove_handler();
}

}  // namespace tare::io
