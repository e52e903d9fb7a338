// Aligned columns. On a terminal, spare columns are omitted, and named below the table, and elastic ones shortened until a
// line fits. If that is not enough, long names get a line of their own, with the other columns below; under short ones, the columns are printed in
// parts, one below the other, each with the first column. In a pipe nothing is shortened.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/session.hpp"

namespace tare::cli {

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string title = {};
  Align align = Align::left;
  bool elastic = false;  // may be shortened: in the middle, because both ends of a name matter
  bool prose = false;    // shortened at the end
  // On a terminal, a column with a number is omitted if not all fit: the largest number first, columns with the same
  // number together.
  unsigned spare = 0;
};

// A column of sentences or values.
inline Column prose(std::string title = {}) { return {.title = std::move(title), .elastic = true, .prose = true}; }

struct Cell {
  std::string text;
  Style style = Style::plain;

  Cell(std::string t, Style s = Style::plain) : text(std::move(t)), style(s) {}
  Cell(std::string_view t, Style s = Style::plain) : text(t), style(s) {}
  Cell(const char* t, Style s = Style::plain) : text(t), style(s) {}
};

class Table {
 public:
  explicit Table(std::vector<Column> columns, std::string indent = {});

  // Adds a row, with one cell per column.
  void add(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }
  // Omits columns without text; prints nothing if there are no rows.
  void print(Session& session) const;

 private:
  using Part = std::vector<std::size_t>;  // numbers of columns
  struct Line {
    Part part;
    std::vector<std::size_t> widths;  // one for each column
    std::string indent;
  };

  std::vector<std::size_t> widths() const;
  std::vector<std::string> omit_spare(std::size_t room, std::vector<std::size_t>& widths) const;
  std::vector<Part> parts(const std::vector<std::size_t>& widths, std::size_t room, bool repeat) const;
  void fit(const Part& part, std::size_t room, std::vector<std::size_t>& widths) const;
  std::vector<Cell> heading() const;
  void print_line(const std::vector<Cell>& row, const Line& line, Session& session) const;
  bool stacks(const std::vector<std::size_t>& widths, std::size_t room) const;
  void print_parts(const std::vector<std::size_t>& widths, std::size_t room, Session& session) const;
  void print_stacked(const std::vector<std::size_t>& widths, std::size_t room, Session& session) const;

  std::vector<Column> columns_;
  std::string indent_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace tare::cli
