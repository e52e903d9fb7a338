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

void finish(Job& job, std::string&& result, std::shared_ptr<const Error>&& error) noexcept {
  const std::scoped_lock lock(job.mutex);
  job.result = std::move(result);
  job.error = std::move(error);
  job.done = true;
}

void carry_out(Job& job, const std::function<std::string(Job&)>& work) noexcept {
  // Made while there is memory for it.
  std::shared_ptr<const Error> problem = job.no_memory;
  std::string result;
  try {
    try {
      const Stoppable stoppable(job.stop);
      result = work(job);
      problem = nullptr;
    } catch (const Error& error) {
      problem = std::make_shared<const Error>(error);
    } catch (const std::bad_alloc&) {
    } catch (const std::exception& error) {
      problem = std::make_shared<const Error>(Error(ErrorKind::io, "view.failed", error.what()));
    }
  } catch (...) {  // not even memory to say so
  }
  finish(job, std::move(result), std::move(problem));
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
  const JobPtr made = std::make_shared<Job>();
  const auto entry = jobs_.emplace(name, Running{made, {}, next_++}).first;
  try {
    entry->second.thread = std::jthread([made, task = std::move(work)] { carry_out(*made, task); });
  } catch (...) {
    jobs_.erase(entry);
    throw;
  }
  return made;
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
