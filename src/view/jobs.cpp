#include "view/jobs.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "base/stopping.hpp"
#include "base/threads.hpp"

namespace tare::view {
namespace {

bool is_done(const JobPtr& job) {
  const std::scoped_lock lock(job->mutex);
  return job->done;
}

void finish(Job& job, std::string&& result, std::shared_ptr<const Error>&& error) noexcept {
  const std::scoped_lock lock(job.mutex);
  job.result = std::move(result);
  job.error = std::move(error);
  job.done = true;
}

void carry_out(Job& job, const Jobs::Work& work) noexcept {
  // Allocated in advance, for use when memory has run out.
  std::shared_ptr<const Error> problem = job.no_memory;
  std::string result;
  {
    const std::scoped_lock lock(job.mutex);
    job.begun = true;
  }
  try {
    try {
      const Stoppable stoppable(job.stop);
      check_stop();  // it may have been stopped while it waited
      result = work(job);
      problem = nullptr;
    } catch (const Error& error) {
      problem = std::make_shared<const Error>(
          job.gave_way
              ? Error(ErrorKind::limit, "view.busy",
                      "it was stopped for other work, since nobody had asked about it for minutes; start it again")
              : error);
    } catch (const std::bad_alloc&) {
    } catch (const std::exception& error) {
      problem = std::make_shared<const Error>(Error(ErrorKind::io, "view.failed", error.what()));
    }
  } catch (...) {  // not even memory for an error
  }
  finish(job, std::move(result), std::move(problem));
}

}  // namespace

void stay_behind_others(int how_far) noexcept {
  // Linux keeps the priority per thread (0: the calling one), and new threads inherit it. glibc 2.28 has no gettid.
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, how_far));
}

Jobs::~Jobs() { clear(); }

JobPtr Jobs::find(std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = jobs_.find(name);
  if (found == jobs_.end()) return nullptr;
  found->second.asked = Clock::now();
  return found->second.job;
}

// Drops the oldest finished job. Needs the mutex.
void Jobs::forget_oldest() {
  auto oldest = jobs_.end();
  for (auto entry = jobs_.begin(); entry != jobs_.end(); ++entry)
    if (is_done(entry->second.job) && (oldest == jobs_.end() || entry->second.number < oldest->second.number))
      oldest = entry;
  if (oldest != jobs_.end()) jobs_.erase(oldest);
}

// Stops jobs that no request has asked about for `patience`. Needs the mutex.
void Jobs::make_room() {
  const Clock::time_point now = Clock::now();
  for (const auto& [name, entry] : jobs_)
    if (!is_done(entry.job) && now - entry.asked >= limits_.patience) {
      entry.job->gave_way = true;
      entry.job->stop.ask();
    }
  end_stopped();
}

// Ends stopped jobs that still wait, without a thread. Needs the mutex.
void Jobs::end_stopped() {
  std::erase_if(waiting_, [](const Waiting& waiting) {
    if (!waiting.job->stop.asked()) return false;
    carry_out(*waiting.job, {});
    return true;
  });
}

// Starts one more thread, if there is work for it and the system allows it. Needs the mutex.
void Jobs::start_thread() {
  if (threads_.size() >= limits_.running || running_.size() + waiting_.size() < threads_.size()) return;
  threads_.reserve(limits_.running);
  // The thread outlives the request that starts it, so it must not be stopped with that request.
  for (std::jthread& started : start_threads(1, [this](unsigned) {
         listen_to(nullptr);
         run();
       }))
    threads_.push_back(std::move(started));
}

JobPtr Jobs::start(const std::string& name, Work work) {
  std::unique_lock lock(mutex_);
  const auto found = jobs_.find(name);
  if (found != jobs_.end() && !is_done(found->second.job)) {
    found->second.asked = Clock::now();
    return found->second.job;
  }
  if (closed_) throw Error(ErrorKind::limit, "view.busy", "the model is being opened again; ask once more");
  if (running_.size() + waiting_.size() >= limits_.running) make_room();
  if (running_.size() + waiting_.size() >= limits_.running + limits_.waiting)
    throw Error(ErrorKind::limit, "view.busy",
                fmt::format("{} long tasks are running and {} are waiting; ask again when one is done", running_.size(),
                            waiting_.size()));
  running_.reserve(limits_.running);  // so that a thread need not allocate
  if (found != jobs_.end()) jobs_.erase(found);
  while (jobs_.size() >= limits_.kept) {
    const std::size_t before = jobs_.size();
    forget_oldest();
    if (jobs_.size() == before) break;
  }
  start_thread();
  const JobPtr made = std::make_shared<Job>();
  const auto entry = jobs_.emplace(name, Entry{made, next_++}).first;
  try {
    waiting_.push_back({made, std::move(work)});
  } catch (...) {
    jobs_.erase(entry);
    throw;
  }
  if (!threads_.empty()) {
    wake_.notify_all();
    return made;
  }
  // No thread could be started: the request's own thread does the work, including what other requests queued.
  lock.unlock();
  while (carry_out_next()) {
  }
  return made;
}

void Jobs::stop(std::string_view name) {
  const std::scoped_lock lock(mutex_);
  const auto found = jobs_.find(name);
  if (found == jobs_.end()) return;
  found->second.job->stop.ask();
  end_stopped();
}

bool Jobs::carry_out_next() {
  Waiting next;
  {
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty()) return false;
    running_.push_back(waiting_.front().job);
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
  carry_out(*next.job, next.work);
  next.work = nullptr;  // releases what the work holds before the job is reported as done
  const std::scoped_lock lock(mutex_);
  std::erase(running_, next.job);
  return true;
}

void Jobs::run() {
  bool behind = false;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
    }
    if (!behind && behind_.load(std::memory_order_relaxed)) {
      constexpr int kFarBehind = 10;
      stay_behind_others(kFarBehind);
      behind = true;
    }
    carry_out_next();
  }
}

void Jobs::clear() {
  std::vector<std::jthread> threads;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    for (const auto& [name, entry] : jobs_) entry.job->stop.ask();
    for (const JobPtr& job : running_) job->stop.ask();
    threads.swap(threads_);
  }
  wake_.notify_all();
}

}  // namespace tare::view
