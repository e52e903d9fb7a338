#include "device/budget.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "base/parallel.hpp"

namespace tare::device {
namespace {

// More threads than this do not use an H200's link better (docs/gpu.md). Hashing needs a few more.
constexpr unsigned kEnough = 14, kEnoughToHash = 16;

// The first number in a file of the process's control group; nothing for "max".
std::optional<double> group_number(const char* path, double* second = nullptr) {
  std::ifstream file(path);
  std::string first;
  if (!(file >> first)) return std::nullopt;
  if (second != nullptr && !(file >> *second)) return std::nullopt;
  try {
    return std::stod(first);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

unsigned reader_threads(unsigned asked, bool verify) {
  if (asked != 0) return asked;
  unsigned most = std::min(thread_count(0), verify ? kEnoughToHash : kEnough);
  double period = 0;
  const std::optional<double> quota = group_number("/sys/fs/cgroup/cpu.max", &period);
  if (quota && period > 0) most = std::min(most, std::max(1U, static_cast<unsigned>(*quota / period + 0.5)));
  return most;
}

std::uint64_t pinned_budget(std::uint64_t asked) {
  const std::optional<double> limit = group_number("/sys/fs/cgroup/memory.max");
  return limit ? std::min(asked, static_cast<std::uint64_t>(*limit / 8)) : asked;
}

}  // namespace tare::device
