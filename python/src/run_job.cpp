#include "run_job.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tare/stop.hpp"

namespace tare::py {
namespace {

constexpr std::chrono::milliseconds kInterval{50};  // between two looks at signals

// A job on a thread of its own. The caller's thread looks after signals and calls `report(done, expected)`, unless it is
// None; if one of them raises, the job is stopped and the exception is passed on.
class Worker {
 public:
  explicit Worker(const Job& job)
      : thread_([this, &job] {
          try {
            const Stoppable here(stop_);
            job(progress_);
          } catch (...) {
            failure_ = std::current_exception();
          }
          const std::scoped_lock lock(mutex_);
          ended_ = true;
          changed_.notify_all();
        }) {}

  // Without the GIL. Whether the job has ended.
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kInterval, [this] { return ended_; });
  }
  void stop() {
    stop_.ask();
    const Unlocked others;
    thread_.join();
  }
  void finish() {
    {
      const Unlocked others;
      thread_.join();
    }
    if (failure_) std::rethrow_exception(failure_);
  }
  const Progress& progress() const { return progress_; }

 private:
  Progress progress_;
  Stop stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // last: it uses all of the above
};

// Lets the other Python threads run, and looks for signals now and then.
class Listening final : public Stop {
 private:
  bool look() const noexcept override {
    if (std::this_thread::get_id() != thread_) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return raised_;
    next_ = now + kInterval;
    raised_ = others_.locked([] { return check_signals(); }) != 0;
    return raised_;
  }

  const std::thread::id thread_ = std::this_thread::get_id();
  mutable Unlocked others_;
  mutable std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kInterval;
  mutable bool raised_ = false;  // what the exception is, Python knows
};

void report_progress(PyObject* report, const Progress& progress) {
  if (report == Py_None) return;
  Ref::take(call(report, number(progress.done()).get(), number(progress.expected()).get()));
}

}  // namespace

void run_here(const Job& job) {
  try {
    Listening stop;
    const Stoppable here(stop);
    Progress progress;
    job(progress);
  } catch (...) {
    if (PyErr_Occurred() != nullptr) throw PythonError();
    throw;
  }
  if (PyErr_Occurred() != nullptr) throw PythonError();
}

void run_job(PyObject* report, const Job& job) {
  Worker worker(job);
  try {
    for (;;) {
      bool ended = false;
      {
        const Unlocked others;
        ended = worker.wait();
      }
      if (ended) break;
      checked(check_signals());
      report_progress(report, worker.progress());
    }
  } catch (...) {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    worker.stop();
    PyErr_Restore(type, value, trace);
    throw;
  }
  worker.finish();
  report_progress(report, worker.progress());
}

}  // namespace tare::py
