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

void finish(Job& job, std::string&& result, std::shared_ptr<const Error>&& error) noexcept {
  const std::scoped_lock lock(job.mutex);
  job.result = std::move(result);
  job.error = std::move(error);
  job.done = true;
}

void do_job(Job& job, const Jobs::Work& work) noexcept {
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
          job.preempted
              ? Error(ErrorKind::limit, "view.busy",
                      "it was stopped for other work, since nobody had asked about it for minutes; start it again")
                    .blame(Subject::machine)
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

bool is_stopped(const JobPtr& job) {
  if (job == nullptr || job->preempted) return false;
  const std::scoped_lock lock(job->mutex);
  return job->done && job->error != nullptr && job->stop.asked();
}

void lower_thread_priority(int nice_value) noexcept {
  // Linux keeps the priority per thread, and new threads inherit it. 0 is the calling thread. (glibc has gettid since 2.30;
  // the released files run with 2.28.)
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, nice_value));
}

Jobs::~Jobs() { clear(); }

JobPtr Jobs::find(std::string_view name) {
  const std::scoped_lock lock(mutex_);
  const auto found = jobs_.find(name);
  if (found == jobs_.end()) return nullptr;
  found->second.asked = Clock::now();
  return found->second.job;
}

// Drops the oldest finished job. Needs the mutex.
void Jobs::drop_oldest_finished() {
  auto oldest = jobs_.end();
  for (auto entry = jobs_.begin(); entry != jobs_.end(); ++entry)
    if (entry->second.job->is_done() && (oldest == jobs_.end() || entry->second.number < oldest->second.number))
      oldest = entry;
  if (oldest != jobs_.end()) jobs_.erase(oldest);
}

// Stops jobs that no request has asked about for `patience`. Needs the mutex.
void Jobs::stop_abandoned() {
  const Clock::time_point now = Clock::now();
  for (const auto& [name, entry] : jobs_)
    if (!entry.job->is_done() && now - entry.asked >= limits_.patience) {
      entry.job->preempted = true;
      entry.job->stop.ask();
    }
  finish_stopped();
}

// Ends stopped jobs that still wait, without a thread. Needs the mutex.
void Jobs::finish_stopped() {
  std::erase_if(waiting_, [](const Waiting& waiting) {
    if (!waiting.job->stop.asked()) return false;
    do_job(*waiting.job, {});
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
  if (found != jobs_.end() && !found->second.job->is_done()) {
    found->second.asked = Clock::now();
    return found->second.job;
  }
  if (closed_)
    throw Error(ErrorKind::limit, "view.busy", "the model is being opened again; ask once more")
        .blame(Subject::machine);
  if (running_.size() + waiting_.size() >= limits_.running) stop_abandoned();
  if (running_.size() + waiting_.size() >= limits_.running + limits_.waiting)
    throw Error(ErrorKind::limit, "view.busy",
                fmt::format("{} long tasks are running and {} are waiting; ask again when one is done", running_.size(),
                            waiting_.size()))
        .blame(Subject::machine);
  running_.reserve(limits_.running);  // so that a thread need not allocate
  if (found != jobs_.end()) jobs_.erase(found);
  while (jobs_.size() >= limits_.kept) {
    const std::size_t before = jobs_.size();
    drop_oldest_finished();
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
  while (do_next_job()) {
  }
  return made;
}

void Jobs::stop(std::string_view name) {
  const std::scoped_lock lock(mutex_);
  const auto found = jobs_.find(name);
  if (found == jobs_.end()) return;
  found->second.job->stop.ask();
  finish_stopped();
}

bool Jobs::do_next_job() {
  Waiting next;
  {
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty()) return false;
    running_.push_back(waiting_.front().job);
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
  do_job(*next.job, next.work);
  next.work = nullptr;  // releases what the work holds before the job is reported as done
  const std::scoped_lock lock(mutex_);
  std::erase(running_, next.job);
  return true;
}

void Jobs::run() {
  bool lowered = false;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
    }
    if (!lowered && low_priority_.load(std::memory_order_relaxed)) {
      constexpr int kLowPriority = 10;
      lower_thread_priority(kLowPriority);
      lowered = true;
    }
    do_next_job();
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
