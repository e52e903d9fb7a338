#include "cli/table.hpp"

#include <algorithm>

#include "cli/text.hpp"

namespace tare::cli {
namespace {

constexpr std::size_t kGap = 2;
// A name shorter than this says nothing.
constexpr std::size_t kLeast = 8;

void append_cell(std::string& line, const Cell& cell, std::size_t width, Align align, bool last, bool color,
                 std::string_view mark) {
  const std::size_t own = display_width(cell.text);
  const std::string text = own > width ? elide_middle(cell.text, width, mark) : cell.text;
  const std::size_t shown = own > width ? display_width(text) : own;
  const std::size_t padding = width - std::min(width, shown);
  if (align == Align::right) line.append(padding, ' ');
  line += color ? styled(cell.style, text, true) : text;
  if (align == Align::left && !last) line.append(padding, ' ');
}

}  // namespace

Table::Table(std::vector<Column> columns, std::string indent)
    : columns_(std::move(columns)), indent_(std::move(indent)) {}

void Table::add(std::vector<Cell> cells) {
  // Whatever a file calls its tensors, types and layouts: none of it may steer the terminal.
  for (Cell& cell : cells) cell.text = printable(cell.text);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths(const Session& session) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], display_width(row[c].text));
  std::size_t total = indent_.size();
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (widths[c] == 0) continue;
    widths[c] = std::max(widths[c], display_width(columns_[c].title));
    total += widths[c] + kGap;
  }
  total -= std::min(total, kGap);

  // The widest elastic column gives way first.
  while (session.screen().terminal && total > session.screen().columns) {
    std::size_t widest = widths.size();
    for (std::size_t c = 0; c < widths.size(); ++c)
      if (columns_[c].elastic && widths[c] > kLeast && (widest == widths.size() || widths[c] > widths[widest]))
        widest = c;
    if (widest == widths.size()) break;
    --widths[widest];
    --total;
  }
  return widths;
}

void Table::print(Session& session) const {
  if (rows_.empty()) return;
  const auto fitted = widths(session);
  std::size_t last = 0;
  for (std::size_t c = 0; c < fitted.size(); ++c)
    if (fitted[c] > 0) last = c;
  std::string line;
  const auto print_row = [&](const auto& cell_at) {
    line = indent_;
    for (std::size_t c = 0; c < fitted.size(); ++c) {
      if (fitted[c] == 0) continue;
      if (line.size() > indent_.size()) line.append(kGap, ' ');
      append_cell(line, cell_at(c), fitted[c], columns_[c].align, c == last, session.screen().color,
                  session.ellipsis());
    }
    line.erase(line.find_last_not_of(' ') + 1);
    session.line(line);
  };
  if (std::any_of(columns_.begin(), columns_.end(), [](const Column& column) { return !column.title.empty(); }))
    print_row([&](std::size_t c) { return Cell(columns_[c].title, Style::bold); });
  for (const auto& row : rows_) print_row([&](std::size_t c) -> const Cell& { return row[c]; });
}

}  // namespace tare::cli
