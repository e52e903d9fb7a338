// A line on standard error that shows how far long work is: bytes, rate, time left. Drawn about ten times a second
// by a thread that polls a tare::Progress; nothing at all when standard error is not a terminal or --quiet was given.
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
  // `total` in bytes; nothing when only the work will know (Progress::expect).
  ProgressBar(const Session& session, std::string doing, std::optional<std::uint64_t> total);
  // Wipes the line.
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
