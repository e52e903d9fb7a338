#include "cli/progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/interrupts.hpp"
#include "cli/text.hpp"

namespace tare::cli {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr std::size_t kBarColumns = 20;

std::string time_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::min(seconds + 0.5, 359999.0));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string bar_text(double share, bool unicode) {
  const auto full = static_cast<std::size_t>(share * kBarColumns);
  std::string bar;
  for (std::size_t i = 0; i < kBarColumns; ++i) bar += i < full ? (unicode ? "█" : "#") : (unicode ? "░" : ".");
  return bar;
}

}  // namespace

ProgressBar::ProgressBar(const Session& session, std::string doing, std::optional<std::uint64_t> total)
    : doing_(std::move(doing)), total_(total), columns_(session.messages().columns), unicode_(session.unicode()) {
  if (wanted(session)) thread_ = std::thread([this] { run(); });
}

ProgressBar::~ProgressBar() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
  draw();  // short work has been seen too, and whole
  wipe_line();
}

void ProgressBar::run() {
  std::unique_lock lock(mutex_);
  do draw();
  while (!wake_.wait_for(lock, kInterval, [this] { return stop_; }));
}

void ProgressBar::draw() {
  const std::uint64_t done = progress_.done(), total = total_.value_or(progress_.expected());
  const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;

  std::string text = doing_;
  if (total > 0) {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    text += fmt::format("  {:3.0f}%  {}  {} of {}", share * 100, bar_text(share, unicode_), size_text(done),
                        size_text(total));
  } else {
    text += fmt::format("  {}", size_text(done));
  }
  if (seconds >= 0.1) text += fmt::format("  {}/s", size_text(static_cast<std::uint64_t>(rate)));
  if (rate > 0 && seconds >= 0.5 && done < total)
    text += fmt::format("  {} left", time_text(static_cast<double>(total - done) / rate));
  // One column is left free: a full line would scroll.
  draw_line(fmt::format("\r{}\x1b[K", elide_end(text, columns_ - 1, unicode_ ? "…" : "...")));
}

}  // namespace tare::cli
