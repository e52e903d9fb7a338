#include "cli/statistics_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/model_text.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"

namespace tare::cli {
namespace {

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  if (part == 0 || whole == 0) return count_text(part);
  return fmt::format("{} ({:.2f}%)", count_text(part), 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void print_histogram(const Statistics& stats, Session& session) {
  // Without the outliers, if there are any, because next to them all other values would be one bar.
  const auto& histogram = stats.inner ? stats.inner->histogram : stats.histogram;
  const double low = stats.inner ? stats.inner->low : stats.min, high = stats.inner ? stats.inner->high : stats.max;
  const std::uint64_t top = *std::max_element(histogram.begin(), histogram.end());
  // Equal numbers are no distribution, and every bar would have the same label.
  if (top == 0 || !(low < high)) return;
  std::vector<std::string> edges;
  std::size_t edge_columns = 0;
  const auto bins = static_cast<double>(histogram.size());
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    // Interpolates, because max - min may overflow.
    const double at = static_cast<double>(i) / bins;
    edges.push_back(number_text(low * (1 - at) + high * at, 3));
    edge_columns = std::max(edge_columns, edges.back().size());
  }
  const std::size_t count_columns = count_text(top).size();
  const std::size_t width = session.screen().terminal ? session.screen().columns : 72;
  const std::size_t used = edge_columns + count_columns + 6;
  const std::size_t room = std::min<std::size_t>(60, width > used ? width - used : 1);
  session.line();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const double share = static_cast<double>(histogram[i]) / static_cast<double>(top);
    const std::string bar = share_bar(share, room, session.unicode());
    std::string line = fmt::format("  {:>{}}  {:>{}}  {}", edges[i], edge_columns, count_text(histogram[i]),
                                   count_columns, session.paint(Style::green, bar));
    line.erase(line.find_last_not_of(' ') + 1);
    session.line(line);
  }
  if (!stats.inner) return;
  const std::string outside = fmt::format(
      "{} outside: {} below {}, {} above {}", counted(stats.inner->below + stats.inner->above, "value"),
      count_text(stats.inner->below), number_text(low, 3), count_text(stats.inner->above), number_text(high, 3));
  for (const std::string& part : wrap(outside, std::max<std::size_t>(20, width) - 2))
    session.line("  " + session.paint(Style::yellow, part));
}

// Returns as many of the first values as fit the line.
std::string first_text(const Statistics& stats, const Session& session) {
  constexpr std::size_t kBefore = sizeof("  first  ") - 1;
  const std::size_t room =
      session.screen().terminal ? session.screen().columns - std::min(kBefore, session.screen().columns) : SIZE_MAX;
  std::string line;
  for (std::size_t i = 0; i < stats.first.size(); ++i) {
    const std::string value = stats.whole ? to_json(stats.whole->first[i]) : number_text(stats.first[i], 6);
    if (line.size() + 1 + value.size() > room) break;
    line += (line.empty() ? "" : " ") + value;
  }
  return line;
}

// Returns whether there is a finite value, so that minimum, maximum and mean exist.
bool has_finite(const Statistics& stats) { return stats.count > stats.nan + stats.inf; }

}  // namespace

void print_statistics(const Statistics& stats, Session& session) {
  session.line();
  Table numbers({{}, {}}, "  ");
  const auto add = [&](std::string_view name, std::string value) {
    numbers.add({Cell(name, Style::dim), std::move(value)});
  };
  const bool some = has_finite(stats);
  // What no model should have comes first.
  const bool odd = stats.nan + stats.inf > 0;
  const auto add_odd = [&](std::string_view name, std::uint64_t count) {
    numbers.add({Cell(name, odd ? Style::yellow : Style::dim),
                 Cell(share_text(count, stats.count), count > 0 ? Style::yellow : Style::plain)});
  };
  const auto add_both = [&] { add_odd("nan", stats.nan), add_odd("inf", stats.inf); };
  if (odd) add_both();
  add("min", !some ? "-" : stats.whole ? to_json(stats.whole->min) : number_text(stats.min, 6));
  add("max", !some ? "-" : stats.whole ? to_json(stats.whole->max) : number_text(stats.max, 6));
  add("mean", some ? number_text(stats.mean, 6) : "-");
  add("std", some ? number_text(stats.std, 6) : "-");
  add("zeros", share_text(stats.zeros, stats.count));
  if (!odd) add_both();
  add("first", first_text(stats, session));
  numbers.print(session);
  if (!stats.histogram.empty()) print_histogram(stats, session);
}

void write_statistics(JsonWriter& json, const Statistics& stats) {
  json.open('{').key("count").number(stats.count).key("nan").number(stats.nan).key("inf").number(stats.inf);
  json.key("zeros").number(stats.zeros);
  if (!has_finite(stats))
    json.key("min").raw("null").key("max").raw("null").key("mean").raw("null").key("std").raw("null");
  else if (stats.whole)
    json.key("min").raw(to_json(stats.whole->min)).key("max").raw(to_json(stats.whole->max));
  else
    json.key("min").real(stats.min).key("max").real(stats.max);
  if (has_finite(stats)) json.key("mean").real(stats.mean).key("std").real(stats.std);
  json.key("histogram").open('[');
  for (const std::uint64_t count : stats.histogram) json.number(count);
  json.close(']').key("inner");
  if (stats.inner) {
    json.open('{').key("low").real(stats.inner->low).key("high").real(stats.inner->high);
    json.key("below").number(stats.inner->below).key("above").number(stats.inner->above).key("histogram").open('[');
    for (const std::uint64_t count : stats.inner->histogram) json.number(count);
    json.close(']').close('}');
  } else {
    json.null();
  }
  json.key("first").open('[');
  for (std::size_t i = 0; i < stats.first.size(); ++i) {
    if (stats.whole)
      json.raw(to_json(stats.whole->first[i]));
    else
      json.real(stats.first[i]);
  }
  json.close(']').close('}');
}

}  // namespace tare::cli
