#include "measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <new>
#include <thread>

namespace {
std::atomic<std::size_t> allocation_count{0};
}  // namespace

void* operator new(std::size_t size) {
  allocation_count.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace bench {
namespace {

std::uint64_t anonymous_now() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::strtoull(line.c_str() + 8, nullptr, 10) * 1024;
  return 0;
}

}  // namespace

double seconds(const std::function<void()>& job) {
  const auto start = std::chrono::steady_clock::now();
  job();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<double> best_of(int rounds, const std::vector<std::function<void()>>& jobs) {
  std::vector<double> best(jobs.size(), 1e300);
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < jobs.size(); ++i) best[i] = std::min(best[i], seconds(jobs[i]));
  return best;
}

double best_cpu_seconds(int rounds, const std::function<void()>& job) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  double best = 1e300;
  for (int round = 0; round < rounds; ++round) {
    const double start = now();
    job();
    best = std::min(best, now() - start);
  }
  return best;
}

std::size_t allocations() { return allocation_count.load(); }

std::uint64_t anonymous_growth(const std::function<void()>& job) {
  const std::uint64_t before = anonymous_now();
  std::atomic<bool> done{false};
  std::uint64_t most = before;
  std::thread watcher([&] {
    while (!done.load()) {
      most = std::max(most, anonymous_now());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  job();
  done = true;
  watcher.join();
  return most - before;
}

void Table::row(std::string job, std::string ours, std::string against, double ratio, double goal, bool at_most) {
  rows_.push_back({std::move(job), std::move(ours), std::move(against), ratio, goal, at_most});
}

bool Table::print() const {
  bool all = true;
  fmt::print("{:<46} {:>16} {:>30} {:>8} {:>9}\n", "job", "ours", "against", "ratio", "goal");
  for (const Row& row : rows_) {
    const bool good = row.at_most ? row.ratio <= row.goal : row.ratio >= row.goal;
    all = all && good;
    fmt::print("{:<46} {:>16} {:>30} {:>8.3f} {:>2} {:>6.2f}{}\n", row.job, row.ours, row.against, row.ratio,
               row.at_most ? "<=" : ">=", row.goal, good ? "" : "  MISSED");
  }
  return all;
}

std::string machine() {
  std::string model = "unknown CPU";
  std::ifstream cpu("/proc/cpuinfo");
  for (std::string line; std::getline(cpu, line);)
    if (line.starts_with("model name")) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  return fmt::format("{}, {} threads", model, std::thread::hardware_concurrency());
}

}  // namespace bench
