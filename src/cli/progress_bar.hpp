// A line on standard error that shows the progress of long work: bytes, rate, time left. A thread polls a
// tare::Progress and redraws the line about ten times a second. Nothing is drawn if standard error is not a terminal or
// --quiet was given.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/session.hpp"
#include "tare/progress.hpp"

namespace tare::cli {

class ProgressBar {
 public:
  // `total` in bytes; nothing if the work itself states it (Progress::expect).
  ProgressBar(const Session& session, std::string doing, std::optional<std::uint64_t> total);
  // Clears the line.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  static bool wanted(const Session& session) { return session.messages().terminal && !session.quiet(); }
  Progress* progress() { return &progress_; }

 private:
  void run();
  void draw() noexcept;

  using Clock = std::chrono::steady_clock;
  Progress progress_;
  std::string doing_;
  std::optional<std::uint64_t> total_;
  std::size_t columns_;
  bool unicode_;
  Clock::time_point begun_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::vector<std::jthread> thread_;  // one or none
};

}  // namespace tare::cli
