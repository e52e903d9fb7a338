// Work that takes too long for one request: verify, a comparison, the statistics of a whole tensor. It runs on a few
// threads of its own; requests start it, ask for its progress, and fetch the result. If no thread is free, work waits
// in a short queue.
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

// One piece of work, shared by the thread that does it and the requests that ask about it.
struct Job {
  Progress progress;
  Stop stop;
  std::atomic<bool> preempted{false};  // it was stopped in favour of other work
  mutable std::mutex mutex;            // guards the members below
  bool begun = false, done = false;
  std::string result;  // JSON, once done
  std::shared_ptr<const Error> error;
  const std::shared_ptr<const Error> no_memory =
      std::make_shared<const Error>(Error(ErrorKind::io, "view.memory", "out of memory"));

  bool is_done() const {
    const std::scoped_lock lock(mutex);
    return done;
  }
};
using JobPtr = std::shared_ptr<Job>;

// Whether a user stopped the job. That is not an error: the job counts as never started.
bool is_stopped(const JobPtr& job);

struct JobLimits {
  std::size_t running = 2, waiting = 8, kept = 16;
  // If other work has to wait, a job is stopped once no request has asked about it for this long. Browsers poll only
  // once a minute for pages in background tabs.
  std::chrono::steady_clock::duration patience = std::chrono::minutes(3);
};

class Jobs {
 public:
  using Work = std::function<std::string(Job&)>;

  explicit Jobs(JobLimits limits = {}) : limits_(limits) {}
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  // The job of that name; null if there is none. Counts as a request about the job.
  JobPtr find(std::string_view name);
  // Begins or queues `work`, which returns JSON, unless the job is already under way. A finished job is started again.
  // Beyond `kept` jobs, the oldest finished one is dropped. If no thread can be started, the caller does the work
  // before this returns. Throws `view.busy` if the queue is full.
  JobPtr start(const std::string& name, Work work);
  // Stops the job of that name, if there is one: soon if it runs, at once if it waits.
  void stop(std::string_view name);
  // Stops all jobs, waits for them, and accepts no more.
  void clear();
  // From now on, work runs at a lower priority, so that requests get the processors first.
  void lower_priority() { low_priority_.store(true, std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    JobPtr job;
    std::uint64_t number = 0;
    Clock::time_point asked = Clock::now();
  };
  struct Waiting {
    JobPtr job;
    Work work;
  };
  void start_thread();
  void run();
  // Does the work that has waited longest. Returns false if none is waiting.
  bool do_next_job();
  void drop_oldest_finished();
  void stop_abandoned();
  void finish_stopped();

  const JobLimits limits_;
  std::atomic<bool> low_priority_{false};
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  std::map<std::string, Entry, std::less<>> jobs_;
  std::deque<Waiting> waiting_;
  std::vector<JobPtr> running_;
  std::uint64_t next_ = 0;
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

// Lowers the priority of the calling thread. Does nothing if the system does not allow it.
void lower_thread_priority(int nice_value) noexcept;

}  // namespace tare::view
