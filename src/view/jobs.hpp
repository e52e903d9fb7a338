// Work that takes longer than a request may: verify, a comparison, the statistics of a whole tensor. It runs on a few threads
// of its own; requests start it, ask how far it is, and fetch what it found. What finds no thread free waits in a short queue.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tare/error.hpp"
#include "tare/progress.hpp"
#include "tare/stop.hpp"

namespace tare::view {

// One piece of work; the thread that does it and the requests that look share it.
struct Job {
  Progress progress;
  Stop stop;
  std::atomic<bool> gave_way{false};  // it was stopped for other work
  std::mutex mutex;                   // of what follows
  bool begun = false, done = false;
  std::string result;  // JSON, once it is done
  std::shared_ptr<const Error> error;
  const std::shared_ptr<const Error> no_memory =
      std::make_shared<const Error>(Error(ErrorKind::io, "view.memory", "out of memory"));
};
using JobPtr = std::shared_ptr<Job>;

struct JobLimits {
  std::size_t running = 2, waiting = 8, kept = 16;
  // Work that nobody has asked about for so long gives way when other work has to wait. Browsers ask once a minute for pages
  // that are not seen.
  std::chrono::steady_clock::duration patience = std::chrono::minutes(3);
};

class Jobs {
 public:
  using Work = std::function<std::string(Job&)>;

  explicit Jobs(JobLimits limits = {}) : limits_(limits) {}
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  // The job of that name; null when there is none yet. Counts as asking about it.
  JobPtr find(std::string_view name) const;
  // Begins `work`, which returns JSON, or lets it wait, unless it is under way already. One that is done is done again, and
  // the oldest of more than a few is forgotten. Where no thread can be started the caller does the work, and it is done when
  // this returns. Throws `view.busy` when as many wait as may.
  JobPtr start(const std::string& name, Work work);
  // Stops the job of that name, if there is one: soon if it runs, at once if it waits.
  void stop(std::string_view name);
  // Stops all, waits for them, and lets none begin.
  void clear();
  // From now on work leaves the processors to others that want them: to requests.
  void stay_behind() { behind_.store(true, std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    JobPtr job;
    std::uint64_t number = 0;
    mutable Clock::time_point asked = Clock::now();
  };
  struct Waiting {
    JobPtr job;
    Work work;
  };
  void start_thread();
  void run();
  // Does what has waited longest. False when nothing waits.
  bool carry_out_next();
  void forget_oldest();
  void make_room();
  void end_stopped();

  const JobLimits limits_;
  std::atomic<bool> behind_{false};
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  std::map<std::string, Entry, std::less<>> jobs_;
  std::deque<Waiting> waiting_;
  std::vector<JobPtr> running_;
  std::uint64_t next_ = 0;
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

// Of this thread: it runs when no other wants to, more or less. Where that cannot be had, nothing happens.
void stay_behind_others(int how_far) noexcept;

}  // namespace tare::view
