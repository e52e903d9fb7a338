#include "view/workers.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>

namespace tare::view {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kThreads = 2;              // per kind of request
constexpr std::size_t kMostFromMemory = 128;  // requests that no thread has begun
constexpr std::size_t kMostFromData = 96;     // the same, for requests that read data
constexpr int kDataNiceValue = 3;             // lists take priority over pictures
// How often to check whether clients that wait for data are still connected.
constexpr std::chrono::milliseconds kLook{50};
constexpr std::chrono::seconds kSecond{1};

}  // namespace

Workers::Workers(const HttpLibrary& http, Service& service) : http_(http), service_(service) {
  from_memory_.most = kMostFromMemory;
  from_data_.most = kMostFromData;
  from_data_.nice_value = kDataNiceValue;
  for (WorkQueue* const queue : {&from_memory_, &from_data_}) queue->running.reserve(kThreads);
  disconnected_.reserve(from_data_.most);
}

void Workers::start(std::function<void()> each_second) {
  for (WorkQueue* const queue : {&from_memory_, &from_data_})
    for (unsigned i = 0; i < kThreads; ++i) threads_.emplace_back([this, queue] { work(*queue); });
  threads_.emplace_back([this, each_second = std::move(each_second)] { watch(each_second); });
}

void Workers::stop() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
    for (const PendingRequest& pending : from_data_.waiting) pending.request->stop.ask();
    for (const PendingRequest& pending : from_data_.running) pending.request->stop.ask();
  }
  for (std::condition_variable* const sleeper : {&from_memory_.wake, &from_data_.wake, &watch_wake_})
    sleeper->notify_all();
  threads_.clear();
}

bool Workers::enqueue(MHD_Connection* connection, Request& request) {
  const bool reads_data = service_.reads_data(request.admission.target);
  const auto* const info = http_.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  const std::scoped_lock lock(mutex_);
  WorkQueue& queue = reads_data ? from_data_ : from_memory_;
  if (ending_ || queue.waiting.size() >= queue.most) return false;
  queue.waiting.push_back({connection, &request, info == nullptr ? -1 : info->connect_fd});
  http_.suspend_connection(connection);
  queue.wake.notify_one();
  if (reads_data) watch_wake_.notify_one();  // without such requests it sleeps longer
  return true;
}

QueueLoad Workers::load(bool reads_data) const {
  const std::scoped_lock lock(mutex_);
  const WorkQueue& queue = reads_data ? from_data_ : from_memory_;
  const auto stopping =
      std::ranges::count_if(queue.running, [](const PendingRequest& pending) { return pending.request->stop.asked(); });
  return {queue.waiting.size(), queue.running.size(), static_cast<std::size_t>(stopping)};
}

void Workers::work(WorkQueue& queue) {
  if (queue.nice_value > 0) lower_thread_priority(queue.nice_value);
  for (;;) {
    PendingRequest next;
    {
      std::unique_lock lock(mutex_);
      queue.wake.wait(lock, [&] { return ending_ || !queue.waiting.empty(); });
      if (queue.waiting.empty()) return;
      next = queue.waiting.front();
      queue.waiting.pop_front();
      queue.running.push_back(next);  // its capacity is reserved
    }
    answer(next);
    {
      const std::scoped_lock lock(mutex_);
      std::erase_if(queue.running, [&](const PendingRequest& pending) { return pending.request == next.request; });
    }
    resume(next);
  }
}

void Workers::answer(const PendingRequest& pending) {
  Request& request = *pending.request;
  if (request.stop.asked()) {
    request.answer.status = 503;
    return;
  }
  const Stoppable stoppable(request.stop);
  request.answer = service_.answer(request.admission.target, request.admission.change);
  if (request.answer.body.size() > kMostAnswer)
    request.answer = error_answer(500, ErrorKind::limit, "view.answer", "the answer is larger than any should be");
}

// Lets the library send the answer. Afterwards it may close the connection, which destroys the request.
void Workers::resume(const PendingRequest& pending) const {
  pending.request->ready = true;
  http_.resume_connection(pending.connection);
}

void Workers::watch(const std::function<void()>& each_second) {
  std::unique_lock lock(mutex_);
  Clock::time_point called = Clock::now();
  const auto is_needed = [&] { return !from_data_.waiting.empty() || !from_data_.running.empty(); };
  while (!ending_) {
    if (is_needed())
      watch_wake_.wait_for(lock, kLook, [&] { return ending_; });
    else
      watch_wake_.wait_for(lock, kSecond, [&] { return ending_ || is_needed(); });
    lock.unlock();
    stop_disconnected();
    if (Clock::now() - called >= kSecond) {
      each_second();
      called = Clock::now();
    }
    lock.lock();
  }
}

// Stops reading data for clients that have disconnected. The descriptor of a suspended connection stays valid, and no
// other thread polls it.
void Workers::stop_disconnected() {
  const auto is_disconnected = [](const PendingRequest& pending) {
    pollfd look{pending.descriptor, POLLRDHUP, 0};
    return ::poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
  };
  disconnected_.clear();
  {
    const std::scoped_lock lock(mutex_);
    for (const PendingRequest& pending : from_data_.running)
      if (is_disconnected(pending)) pending.request->stop.ask();
    std::erase_if(from_data_.waiting, [&](const PendingRequest& pending) {
      if (!is_disconnected(pending)) return false;
      disconnected_.push_back(pending);  // its capacity is reserved
      return true;
    });
  }
  for (const PendingRequest& pending : disconnected_) {
    pending.request->answer.status = 503;
    resume(pending);
  }
}

}  // namespace tare::view
