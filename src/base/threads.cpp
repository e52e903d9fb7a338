#include "base/threads.hpp"

#include <algorithm>
#include <new>
#include <system_error>

namespace tare {

std::vector<std::jthread> start_threads(unsigned count, const std::function<void(unsigned)>& body) noexcept {
  std::vector<std::jthread> threads;
  try {
    for (unsigned i = 0; i < count; ++i) {
      // In two steps: a thread that runs already must not be lost to a vector that cannot grow.
      if (threads.size() == threads.capacity()) threads.reserve(2 * threads.size() + 8);
      threads.emplace_back(body, i);
    }
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): the system has no more, and says EAGAIN
  } catch (const std::bad_alloc&) {     // NOLINT(bugprone-empty-catch): nor room for one more
  }
  return threads;
}

}  // namespace tare
