#include "view/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace tare::view {
namespace {

constexpr std::size_t kMostRunning = 2, kMostKept = 16;

bool is_done(const JobPtr& job) {
  const std::scoped_lock lock(job->mutex);
  return job->done;
}

void finish(Job& job, std::string result, std::shared_ptr<const Error> error) {
  const std::scoped_lock lock(job.mutex);
  job.result = std::move(result);
  job.error = std::move(error);
  job.done = true;
}

void carry_out(Job& job, const std::function<std::string(Job&)>& work) {
  try {
    const Stoppable stoppable(job.stop);
    finish(job, work(job), nullptr);
  } catch (const Error& error) {
    finish(job, {}, std::make_shared<const Error>(error));
  } catch (const std::bad_alloc&) {
    finish(job, {}, std::make_shared<const Error>(Error(ErrorKind::io, "view.memory", "out of memory")));
  } catch (const std::exception& error) {
    finish(job, {}, std::make_shared<const Error>(Error(ErrorKind::io, "view.failed", error.what())));
  }
}

}  // namespace

Jobs::~Jobs() { clear(); }

JobPtr Jobs::find(std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = jobs_.find(name);
  return found == jobs_.end() ? nullptr : found->second.job;
}

JobPtr Jobs::start(const std::string& name, std::function<std::string(Job&)> work) {
  const std::scoped_lock lock(mutex_);
  const auto found = jobs_.find(name);
  if (found != jobs_.end() && !is_done(found->second.job)) return found->second.job;
  const auto running =
      std::count_if(jobs_.begin(), jobs_.end(), [](const auto& entry) { return !is_done(entry.second.job); });
  if (static_cast<std::size_t>(running) >= kMostRunning)
    throw Error(ErrorKind::limit, "view.busy", fmt::format("{} long tasks are running already", running));
  if (found != jobs_.end()) jobs_.erase(found);
  while (jobs_.size() >= kMostKept) {
    auto oldest = jobs_.end();
    for (auto entry = jobs_.begin(); entry != jobs_.end(); ++entry)
      if (is_done(entry->second.job) && (oldest == jobs_.end() || entry->second.number < oldest->second.number))
        oldest = entry;
    if (oldest == jobs_.end()) break;
    jobs_.erase(oldest);
  }
  Running started;
  started.job = std::make_shared<Job>();
  started.number = next_++;
  started.thread = std::jthread([job = started.job, task = std::move(work)] { carry_out(*job, task); });
  return jobs_.emplace(name, std::move(started)).first->second.job;
}

void Jobs::clear() {
  std::map<std::string, Running, std::less<>> all;
  {
    const std::scoped_lock lock(mutex_);
    all.swap(jobs_);
  }
  for (auto& [name, running] : all) running.job->stop.ask();
}

}  // namespace tare::view
