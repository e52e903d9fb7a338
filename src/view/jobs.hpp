// Work that takes longer than a request may: verify, a comparison, the statistics of a whole tensor. It runs on a thread of
// its own; requests start it, ask how far it is, and fetch what it found.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "tare/error.hpp"
#include "tare/progress.hpp"
#include "tare/stop.hpp"

namespace tare::view {

// One piece of work; the thread that does it and the requests that look share it.
struct Job {
  Progress progress;
  Stop stop;
  std::mutex mutex;  // of what follows
  bool done = false;
  std::string result;  // JSON, once it is done
  std::shared_ptr<const Error> error;
  const std::shared_ptr<const Error> no_memory =
      std::make_shared<const Error>(Error(ErrorKind::io, "view.memory", "out of memory"));
};
using JobPtr = std::shared_ptr<Job>;

class Jobs {
 public:
  ~Jobs();
  // The job of that name; null when there is none yet.
  JobPtr find(std::string_view name) const;
  // Begins `work`, which returns JSON, unless it runs already. One that is done is done again, and the oldest of more than
  // a few is forgotten. Throws `view.busy` when as many as may are running.
  JobPtr start(const std::string& name, std::function<std::string(Job&)> work);
  // Stops all and waits for them.
  void clear();

 private:
  struct Running {
    JobPtr job;
    std::jthread thread;
    std::uint64_t number = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Running, std::less<>> jobs_;
  std::uint64_t next_ = 0;
};

}  // namespace tare::view
