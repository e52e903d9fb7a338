// The quantization job: speed and loss.
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"

namespace bench {

// The cost and loss of a method. Errors are relative: the root of (squared error / squared weights).
struct MethodError {
  std::string method;
  double bits = 0;  // per weight
  struct Pair {
    double fast = 0, searched = 0;
  } gaussian, laplace;
};

// Encodes with MCF's methods on one core, and compares with plain loops and ggml (if built in). Prints the table of
// errors as Markdown, and draws it into the file `plot` unless that is empty.
void encode(int rounds, const std::string& plot, Table& table);

// Error over bits, as SVG.
std::string draw_errors(const std::vector<MethodError>& methods);

}  // namespace bench
