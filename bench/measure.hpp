// Times jobs against each other in one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

// Runs the jobs in turn, `rounds` times, and returns the best seconds of each. Taking turns makes a noisy machine
// disturb them equally.
std::vector<double> best_of(int rounds, const std::vector<std::function<void()>>& jobs);

double seconds(const std::function<void()>& job);

// The best of `rounds`, in processor time of this thread: for small single-threaded work on a busy machine.
double best_cpu_seconds(int rounds, const std::function<void()>& job);

// Allocations through operator new since the program started.
std::size_t allocations();

// The most anonymous memory (heap and stacks, no file pages) that this process used during `job`, beyond what it used
// before.
std::uint64_t anonymous_growth(const std::function<void()>& job);

// One line of the result: what was measured, against what, the ratio and its goal.
class Table {
 public:
  void row(std::string job, std::string ours, std::string against, double ratio, double goal, bool at_most = false);
  // Prints everything; returns true if every goal was reached.
  bool print() const;

 private:
  struct Row {
    std::string job, ours, against;
    double ratio, goal;
    bool at_most;
  };
  std::vector<Row> rows_;
};

std::string machine();

}  // namespace bench
