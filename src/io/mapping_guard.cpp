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

// A fixed table that the handler may read without a lock. A mapping beyond its capacity is simply not guarded: the
// process then behaves as it would without us.
struct Range {
  std::atomic<std::uintptr_t> begin{0}, end{0};  // end 0: free
  std::atomic<bool> damaged{false};
};
constexpr std::size_t kCapacity = 4096;
std::array<Range, kCapacity> ranges;
std::atomic<std::size_t> used{0};  // slots ever taken; the handler looks no further
std::mutex table_mutex;
struct sigaction previous;
long page_size = 4096;

void pass_on(int signal_number, siginfo_t* info, void* context) {
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
    previous.sa_sigaction(signal_number, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal_number);
  } else {
    const bool sent = info->si_code <= 0;  // by kill or raise, not by an access
    if (sent && previous.sa_handler == SIG_IGN) return;
    // Returning re-executes the access, which now meets the default action; a signal that was sent is sent again.
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
    const std::uintptr_t page = address & ~(static_cast<std::uintptr_t>(page_size) - 1);
    // A bare system call on Linux, hence safe in a handler although POSIX does not list it.
    void* const replaced = ::mmap(reinterpret_cast<void*>(page), static_cast<std::size_t>(page_size), PROT_READ,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (replaced == MAP_FAILED) break;
    range.damaged.store(true, std::memory_order_release);
    return;
  }
  pass_on(signal_number, info, context);
}

void install_handler() {
  page_size = ::sysconf(_SC_PAGESIZE);
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &previous);
}

}  // namespace

MappingGuard::MappingGuard(const std::byte* begin, std::size_t length) : slot_(kCapacity) {
  static std::once_flag once;
  std::call_once(once, install_handler);
  const std::scoped_lock lock(table_mutex);
  const std::size_t count = used.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < kCapacity; ++i) {
    if (i < count && ranges[i].end.load(std::memory_order_relaxed) != 0) continue;
    slot_ = i;
    ranges[i].damaged.store(false, std::memory_order_relaxed);
    ranges[i].begin.store(reinterpret_cast<std::uintptr_t>(begin), std::memory_order_relaxed);
    ranges[i].end.store(reinterpret_cast<std::uintptr_t>(begin) + length, std::memory_order_release);
    if (i >= count) used.store(i + 1, std::memory_order_release);
    break;
  }
}

MappingGuard::~MappingGuard() {
  if (slot_ < kCapacity) ranges[slot_].end.store(0, std::memory_order_release);
}

bool MappingGuard::damaged() const {
  return slot_ < kCapacity && ranges[slot_].damaged.load(std::memory_order_acquire);
}

}  // namespace tare::io
