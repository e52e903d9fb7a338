// The threads that compute answers, and the requests that wait for them.
//
// Requests that read the model's data have their own threads and queue (Service::reads_data), so that requests answered
// from memory never wait for a disk or a decoder. A waiting request's connection is suspended: the library does not
// touch it, or destroy its request, until it is resumed.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "view/clients.hpp"
#include "view/http_library.hpp"

namespace tare::view {

struct QueueLoad {
  std::size_t waiting = 0, running = 0;
  std::size_t stopping = 0;  // those of `running` whose clients have disconnected
};

class Workers {
 public:
  Workers(const HttpLibrary& http, Service& service);
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Starts the threads; one of them calls `each_second` about once a second.
  void start(std::function<void()> each_second);
  // Answers the waiting requests, because a suspended connection cannot be closed, and ends the threads. Accepts no
  // more requests.
  void stop();

  // Queues the request and suspends its connection. Returns false if the queue is full.
  bool enqueue(MHD_Connection* connection, Request& request);

  QueueLoad load(bool reads_data) const;

 private:
  struct PendingRequest {
    MHD_Connection* connection = nullptr;
    Request* request = nullptr;
    int descriptor = -1;
  };
  // Threads for one kind of request, and the requests that wait for them.
  struct WorkQueue {
    std::size_t most = 0;  // limit of `waiting`
    int nice_value = 0;    // how much lower the priority of its threads is
    std::condition_variable wake = {};
    std::deque<PendingRequest> waiting = {};
    std::vector<PendingRequest> running = {};
  };

  void work(WorkQueue& queue);
  void answer(const PendingRequest& pending);
  void resume(const PendingRequest& pending) const;
  void watch(const std::function<void()>& each_second);
  void stop_disconnected();

  const HttpLibrary& http_;
  Service& service_;
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable watch_wake_;
  WorkQueue from_memory_, from_data_;
  bool ending_ = false;
  std::vector<std::jthread> threads_;
  std::vector<PendingRequest> disconnected_;  // used only by the thread that watches
};

}  // namespace tare::view
