// Threads, as many as there are to be had.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace tare {

// Starts up to `count` threads that run body(0), body(1), ... and returns those it could start, in that order. A limit on
// processes or memory makes it fewer, down to none: work goes on with those there are. Never throws.
std::vector<std::jthread> start_threads(unsigned count, const std::function<void(unsigned)>& body) noexcept;

}  // namespace tare
