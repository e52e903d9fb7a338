#include "run_job.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/threads.hpp"
#include "tare/stop.hpp"

namespace tare::py {
namespace {

constexpr std::chrono::milliseconds kInterval{50};  // between two checks for signals

// Handles signals and calls `report`. Throws PythonError if one of them raises.
void attend(PyObject* report, const Progress& progress) {
  checked(check_signals());
  if (report != Py_None) Ref::take(call(report, number(progress.done()).get(), number(progress.expected()).get()));
}

// Runs a job on its own thread, which waits for `go_on` before its output gets its name.
class Worker final : public Stop {
 public:
  enum class State : std::uint8_t { works, waits, ended };

  explicit Worker(const Job& job)
      : thread_(start_threads(1, [this, &job](unsigned) {
          try {
            const Stoppable here(*this);
            job(progress_);
          } catch (...) {
            failure_ = std::current_exception();
          }
          become(State::ended);
        })) {}

  // False if no thread could be created; then nothing was done.
  explicit operator bool() const { return !thread_.empty(); }

  // Returns the state after a short while, or as soon as the job waits or has ended. Call without the GIL.
  State wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kInterval, [this] { return state_ != State::works; });
    return state_;
  }
  void go_on() { become(State::works); }
  void stop() {
    {
      const std::scoped_lock lock(mutex_);  // it may be about to wait
      ask();
      changed_.notify_all();
    }
    const Unlocked others;
    thread_.clear();
  }
  void finish() {
    {
      const Unlocked others;
      thread_.clear();
    }
    if (failure_) std::rethrow_exception(failure_);
  }
  const Progress& progress() const { return progress_; }
  // False in a child of fork, which has a copy of this object but not the thread.
  bool is_here() const { return ::getpid() == process_; }

 private:
  bool look_last() const noexcept override {
    std::unique_lock lock(mutex_);
    state_ = State::waits;
    changed_.notify_all();
    changed_.wait(lock, [this] { return state_ != State::waits || asked(); });
    lock.unlock();
    return asked();
  }
  // `ended` is final.
  void become(State state) const {
    const std::scoped_lock lock(mutex_);
    if (state_ != State::ended) state_ = state;
    changed_.notify_all();
  }

  const pid_t process_ = ::getpid();
  Progress progress_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable State state_ = State::works;
  std::exception_ptr failure_;
  std::vector<std::jthread> thread_;  // last, because it uses all of the above
};

// Runs the work on the caller's thread, without the GIL, and calls `attend` from time to time.
class StopFromPython final : public Stop {
 public:
  StopFromPython(PyObject* report, const Progress& progress) : report_(report), progress_(progress) {}
  // Whether an output was about to get its name; by then all of the work had been reported.
  bool was_last() const { return last_; }

 private:
  bool look() const noexcept override {
    if (raised_ || std::this_thread::get_id() != thread_ || std::chrono::steady_clock::now() < next_) return raised_;
    return attended();
  }
  bool look_last() const noexcept override {
    last_ = true;
    return attended();
  }
  bool attended() const noexcept {
    raised_ = others_.locked([this] {
      return guarded<int>(-1, [this] {
        attend(report_, progress_);
        return 0;
      });
    }) != 0;
    next_ = std::chrono::steady_clock::now() + kInterval;
    return raised_;
  }

  PyObject* report_;
  const Progress& progress_;
  const std::thread::id thread_ = std::this_thread::get_id();
  mutable Unlocked others_;
  mutable std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kInterval;
  mutable std::atomic<bool> raised_{false};  // Python holds the exception
  mutable bool last_ = false;
};

void run_on_caller(PyObject* report, const Job& job) {
  Progress progress;
  bool last = false;
  try {
    const StopFromPython stop(report, progress);
    const Stoppable here(stop);
    job(progress);
    last = stop.was_last();
  } catch (...) {
    if (PyErr_Occurred() != nullptr) throw PythonError();
    throw;
  }
  if (PyErr_Occurred() != nullptr) throw PythonError();
  if (!last) attend(report, progress);
}

}  // namespace

void run_here(const Job& job) { run_on_caller(Py_None, job); }

void run_job(PyObject* report, const Job& job) {
  auto worker = std::make_unique<Worker>(job);
  if (!*worker) return run_on_caller(report, job);
  bool last = false;
  try {
    for (;;) {
      Worker::State state{};
      {
        const Unlocked others;
        state = worker->wait();
      }
      if (state == Worker::State::ended) break;
      attend(report, worker->progress());
      if (!worker->is_here())
        throw Error(ErrorKind::usage, "python.fork", "a child of fork cannot continue the work that its parent began");
      if (state != Worker::State::waits) continue;
      last = true;
      worker->go_on();
    }
  } catch (...) {
    if (!worker->is_here()) {
      // In a child of fork. Its locks may be held by the thread that is missing here, and destroying it would wait.
      static_cast<void>(worker.release());  // NOLINT(bugprone-unused-return-value): never freed
      throw;
    }
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    worker->stop();
    PyErr_Restore(type, value, trace);
    throw;
  }
  worker->finish();
  // The output has its name and stays, so nothing that could raise may be called.
  if (!last) attend(report, worker->progress());
}

}  // namespace tare::py
