#include "base/threads.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <system_error>

#include "base/stopping.hpp"

namespace tare {
namespace {

// Reserves address space while threads are started. If it is limited (`ulimit -v`), their stacks would otherwise use it
// up and leave none for the work.
class Headroom {
 public:
  Headroom() : begin_(::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Headroom() {
    if (*this) ::munmap(begin_, kBytes);
  }
  Headroom(const Headroom&) = delete;
  Headroom& operator=(const Headroom&) = delete;
  explicit operator bool() const { return begin_ != MAP_FAILED; }

 private:
  static constexpr std::size_t kBytes = std::size_t{64} << 20;
  void* begin_;
};

}  // namespace

std::vector<std::jthread> start_threads(unsigned count, const std::function<void(unsigned)>& body) noexcept {
  std::vector<std::jthread> threads;
  const Headroom headroom;
  if (!headroom) return threads;
  try {
    for (unsigned i = 0; i < count; ++i) {
      // Reserve first: otherwise a thread that already runs would be lost if the vector cannot grow.
      if (threads.size() == threads.capacity()) threads.reserve(2 * threads.size() + 8);
      threads.emplace_back(
          [body, stop = current_stop()](unsigned number) {
            listen_to(stop);
            body(number);
          },
          i);
    }
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): the system has no more, and says EAGAIN
  } catch (const std::bad_alloc&) {     // NOLINT(bugprone-empty-catch): nor room for one more
  }
  return threads;
}

}  // namespace tare
