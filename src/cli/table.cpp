#include "cli/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "cli/text.hpp"

namespace tare::cli {
namespace {

constexpr std::size_t kGap = 2;
// A shorter name cannot be recognized.
constexpr std::size_t kLeast = 8;
// What a spare column leaves to an elastic one, if that wants it.
constexpr std::size_t kUseful = 24;
// Shorter, the names of a model's tensors look the same: model.layers.1…own_proj.weight.
constexpr std::size_t kName = 32;
// If nothing is shortened, columns are at most this wide: one long name must not add as many spaces to every row.
constexpr std::size_t kWidestColumn = 160;

// `mark` replaces what a text has too much; if it is empty, the text is not shortened.
void append_cell(std::string& line, const Cell& cell, std::size_t width, const Column& column, bool last, bool color,
                 std::string_view mark) {
  const std::size_t own = display_width(cell.text);
  const bool cut = own > width && !mark.empty();
  const std::string text = cut ? (column.prose ? elide_end : elide_middle)(cell.text, width, mark) : cell.text;
  const std::size_t shown = cut ? display_width(text) : own;
  const std::size_t padding = width - std::min(width, shown);
  if (column.align == Align::right) line.append(padding, ' ');
  line += color ? styled(cell.style, text, true) : text;
  if (column.align == Align::left && !last) line.append(padding, ' ');
}

}  // namespace

Table::Table(std::vector<Column> columns, std::string indent)
    : columns_(std::move(columns)), indent_(std::move(indent)) {}

void Table::add(std::vector<Cell> cells) {
  // Names from files must not contain control sequences for the terminal.
  for (Cell& cell : cells) cell.text = printable(cell.text);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], display_width(row[c].text));
  for (std::size_t c = 0; c < widths.size(); ++c)
    if (widths[c] > 0) widths[c] = std::max(widths[c], display_width(columns_[c].title));
  return widths;
}

// Sets the width of spare columns to 0 until the others fit. Returns the titles of these columns.
std::vector<std::string> Table::omit_spare(std::size_t room, std::vector<std::size_t>& widths) const {
  const auto used = [&] {
    std::size_t total = indent_.size();
    for (std::size_t c = 0; c < widths.size(); ++c)
      if (widths[c] > 0)
        total += (total > indent_.size() ? kGap : 0) + (columns_[c].elastic ? std::min(widths[c], kUseful) : widths[c]);
    return total;
  };
  std::vector<bool> omitted(widths.size(), false);
  while (used() > room) {
    unsigned next = 0;
    for (std::size_t c = 0; c < widths.size(); ++c)
      if (widths[c] > 0) next = std::max(next, columns_[c].spare);
    if (next == 0) break;
    for (std::size_t c = 0; c < widths.size(); ++c)
      if (columns_[c].spare == next && std::exchange(widths[c], 0) > 0) omitted[c] = true;
  }
  std::vector<std::string> titles;
  for (std::size_t c = 0; c < widths.size(); ++c)
    if (omitted[c] && !columns_[c].title.empty()) titles.push_back(columns_[c].title);
  return titles;
}

// Divides the columns that have text into as few parts as fit if elastic ones are shortened. `repeat`: all parts begin
// with the first column.
std::vector<Table::Part> Table::parts(const std::vector<std::size_t>& widths, std::size_t room, bool repeat) const {
  std::vector<Part> parts(1);
  std::size_t used = indent_.size();
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (widths[c] == 0) continue;
    const std::size_t least = kGap + (columns_[c].elastic ? std::min(widths[c], kLeast) : widths[c]);
    if (parts.back().size() > (repeat ? 1 : 0) && used + least - kGap > room) {
      const std::size_t first = parts.back().front();
      parts.emplace_back();
      used = indent_.size();
      if (repeat) {
        parts.back().push_back(first);
        used += kGap + (columns_[first].elastic ? std::min(widths[first], kLeast) : widths[first]);
      }
    }
    parts.back().push_back(c);
    used += least;
  }
  return parts;
}

// Shortens columns until they fit: the widest elastic one first, down to the least useful width; the others only if
// that is not enough.
void Table::fit(const Part& part, std::size_t room, std::vector<std::size_t>& widths) const {
  std::size_t total = kGap * (part.size() - std::min<std::size_t>(1, part.size()));
  for (const std::size_t c : part) total += widths[c];
  const auto shrink = [&](bool all, std::size_t least) {
    while (total > room) {
      std::size_t* widest = nullptr;
      for (const std::size_t c : part)
        if ((all || columns_[c].elastic) && widths[c] > least && (widest == nullptr || widths[c] > *widest))
          widest = &widths[c];
      if (widest == nullptr) return;
      --*widest;
      --total;
    }
  };
  shrink(false, kLeast);
  shrink(true, 1);
}

std::vector<Cell> Table::heading() const {
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.emplace_back(column.title, Style::bold);
  if (std::ranges::all_of(columns_, [](const Column& column) { return column.title.empty(); })) titles.clear();
  return titles;
}

void Table::print_line(const std::vector<Cell>& row, const Line& line, Session& session) const {
  std::string text = line.indent;
  for (const std::size_t c : line.part) {
    if (c != line.part.front()) text.append(kGap, ' ');
    append_cell(text, row[c], line.widths[c], columns_[c], c == line.part.back(), session.screen().color,
                session.screen().terminal ? session.ellipsis() : std::string_view());
  }
  text.erase(text.find_last_not_of(' ') + 1);
  session.line(text);
}

// Whether names would be shortened so far that they look the same, because not even that makes one table of it.
bool Table::stacks(const std::vector<std::size_t>& widths, std::size_t room) const {
  const auto first = static_cast<std::size_t>(
      std::ranges::find_if(widths, [](std::size_t width) { return width > 0; }) - widths.begin());
  if (first == widths.size() || widths[first] <= kUseful) return false;
  std::size_t least = indent_.size() + (columns_[first].elastic ? std::min(widths[first], kName) : widths[first]);
  for (std::size_t c = first + 1; c < widths.size(); ++c)
    if (widths[c] > 0) least += kGap + (columns_[c].elastic ? std::min(widths[c], kLeast) : widths[c]);
  return least > room;
}

// Prints each row as its first column, then the others below, indented.
void Table::print_stacked(const std::vector<std::size_t>& widths, std::size_t room, Session& session) const {
  std::vector<std::size_t> others = widths;
  const auto first = static_cast<std::size_t>(
      std::ranges::find_if(widths, [](std::size_t width) { return width > 0; }) - widths.begin());
  others[first] = 0;
  std::vector<Line> lines = {{{first}, widths, indent_}};
  const std::string indent(indent_.size() + kGap, ' ');
  for (const Part& part : parts(others, room - std::min(room, kGap), false)) lines.push_back({part, widths, indent});
  for (Line& line : lines) fit(line.part, room - std::min(room, line.indent.size()), line.widths);
  const auto print_row = [&](const std::vector<Cell>& row) {
    for (const Line& line : lines) print_line(row, line, session);
  };
  if (const auto titles = heading(); !titles.empty()) print_row(titles);
  for (const auto& row : rows_) print_row(row);
}

void Table::print(Session& session) const {
  if (rows_.empty()) return;
  const std::size_t room = session.screen().terminal ? session.screen().columns : SIZE_MAX;
  std::vector<std::size_t> natural = widths();
  const std::vector<std::string> omitted =
      session.screen().terminal ? omit_spare(room, natural) : std::vector<std::string>();
  if (session.screen().terminal && stacks(natural, room))
    print_stacked(natural, room, session);
  else
    print_parts(natural, room, session);
  if (omitted.empty() || session.quiet()) return;
  const std::string what =
      omitted.size() == 1 ? "1 column does not fit" : fmt::format("{} columns do not fit", omitted.size());
  for (const std::string& line : wrap(fmt::format("{}: {}", what, fmt::join(omitted, ", ")), room))
    session.line(session.paint(Style::dim, line));
}

void Table::print_parts(const std::vector<std::size_t>& natural, std::size_t room, Session& session) const {
  const auto titles = heading();
  const std::vector<Part> all = parts(natural, room, true);
  for (const Part& part : all) {
    if (&part != &all.front()) session.line();
    Line line{part, natural, indent_};
    if (session.screen().terminal)
      fit(part, room - std::min(room, indent_.size()), line.widths);
    else
      for (std::size_t& width : line.widths) width = std::min(width, kWidestColumn);
    if (!titles.empty()) print_line(titles, line, session);
    for (const auto& row : rows_) print_line(row, line, session);
  }
}

}  // namespace tare::cli
