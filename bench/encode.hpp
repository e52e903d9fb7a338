// The job about quantizing: how fast, and at what loss.
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"

namespace bench {

// What a method costs and loses. Errors are relative: the root of (squared error / squared weights).
struct MethodError {
  std::string method;
  double bits = 0;  // a weight
  struct Pair {
    double fast = 0, searched = 0;
  } gaussian, laplace;
};

// Encoding by MCF's methods on one core, against straightforward loops and (where it was built in) ggml; prints the table
// of errors as Markdown, and draws it into the file `plot` unless that is empty.
void encode(int rounds, const std::string& plot, Table& table);

// Error against bits, as SVG.
std::string draw_errors(const std::vector<MethodError>& methods);

}  // namespace bench
