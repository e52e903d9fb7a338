#include "cli/progress_bar.hpp"

#include <fmt/format.h>

#include <new>

#include "base/threads.hpp"
#include "cli/interrupts.hpp"
#include "cli/progress_line.hpp"

namespace tare::cli {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);

}  // namespace

ProgressBar::ProgressBar(const Session& session, std::string doing, std::optional<std::uint64_t> total)
    : doing_(std::move(doing)), total_(total), columns_(session.messages().columns), unicode_(session.unicode()) {
  // If no thread can be started, there is no progress bar.
  if (wanted(session)) thread_ = start_threads(1, [this](unsigned) { run(); });
}

ProgressBar::~ProgressBar() {
  if (thread_.empty()) return;
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.clear();
  draw();  // draws the final state, also for work that was too short for a redraw
  wipe_line();
}

void ProgressBar::run() {
  std::unique_lock lock(mutex_);
  do draw();
  while (!wake_.wait_for(lock, kInterval, [this] { return stop_; }));
}

// If memory runs out, nothing is drawn this time; the work may still succeed.
void ProgressBar::draw() noexcept try {
  const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
  const ProgressState now{doing_, progress_.done(), total_.value_or(progress_.expected()), seconds};
  // One column is left free, because a full line would scroll.
  draw_line(fmt::format("\r{}\x1b[K", progress_line(now, columns_ - 1, unicode_)));
} catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
}

}  // namespace tare::cli
