// Starts as many threads as the system allows.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace tare {

// Starts up to `count` threads that run body(0), body(1), ... and returns those that started, in that order. Limits on
// processes or memory can make it fewer, even none: the caller continues with those. Never throws.
std::vector<std::jthread> start_threads(unsigned count, const std::function<void(unsigned)>& body) noexcept;

}  // namespace tare
