#include "cli/progress_line.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/text.hpp"

namespace tare::cli {
namespace {

constexpr std::size_t kMostBar = 20, kLeastBar = 5;
// A name with this many columns can still be recognized.
constexpr std::size_t kLeastDoing = 24;

std::string time_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::min(seconds + 0.5, 359999.0));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string bar_text(double share, std::size_t columns, bool unicode) {
  const auto full = static_cast<std::size_t>(share * static_cast<double>(columns));
  std::string bar;
  for (std::size_t i = 0; i < columns; ++i) bar += i < full ? (unicode ? "█" : "#") : (unicode ? "░" : ".");
  return bar;
}

// The parts of the line; empty: unknown or omitted.
struct Parts {
  std::string doing, percent, bar, amount, rate, left;

  std::string joined() const {
    std::string line = doing;
    for (const std::string* part : {&percent, &bar, &amount, &rate, &left})
      if (!part->empty()) line += "  " + *part;
    return line;
  }
  std::size_t width() const { return display_width(joined()); }
};

Parts parts_of(const ProgressState& state) {
  const double rate = state.seconds > 0 ? static_cast<double>(state.done) / state.seconds : 0;
  // Bytes that are read twice count twice, so what is done may exceed what was expected.
  const std::uint64_t shown = state.total > 0 ? std::min(state.done, state.total) : state.done;
  Parts parts{state.doing, {}, {}, size_text(shown), {}, {}};
  if (state.total > 0) {
    const double share = std::min(1.0, static_cast<double>(state.done) / static_cast<double>(state.total));
    parts.percent = fmt::format("{:3.0f}%", share * 100);
    parts.amount += fmt::format(" of {}", size_text(state.total));
  }
  if (state.seconds >= 0.1) parts.rate = fmt::format("{}/s", size_text(static_cast<std::uint64_t>(rate)));
  if (rate > 0 && state.seconds >= 0.5 && state.done < state.total)
    parts.left = fmt::format("{} left", time_text(static_cast<double>(state.total - state.done) / rate));
  return parts;
}

}  // namespace

std::string progress_line(const ProgressState& state, std::size_t columns, bool unicode) {
  const std::string_view mark = unicode ? "…" : "...";
  Parts parts = parts_of(state);
  const auto fits = [&] { return parts.width() <= columns; };
  // Shortens `doing` by the excess width, but not below `least`.
  const auto shorten = [&](std::size_t least) {
    const std::size_t now = display_width(parts.doing), excess = parts.width() - std::min(parts.width(), columns);
    parts.doing = elide_end(parts.doing, std::max(least, now - std::min(now, excess)), mark);
  };
  if (state.total > 0 && columns >= parts.width() + 2 + kLeastBar) {
    const double share = std::min(1.0, static_cast<double>(state.done) / static_cast<double>(state.total));
    parts.bar = bar_text(share, std::min(kMostBar, columns - parts.width() - 2), unicode);
  }
  if (!fits()) shorten(kLeastDoing);
  if (!fits()) parts.rate.clear();
  if (!fits() && !parts.percent.empty()) parts.amount.clear();
  if (!fits()) shorten(0);
  return elide_end(parts.joined(), columns, mark);
}

}  // namespace tare::cli
