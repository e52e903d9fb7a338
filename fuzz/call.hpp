// A call of the library as `open` makes it, with the budget for this many bytes. The parsers charge this budget.
// Without it every charge is free, so their cost would not be checked.
#pragma once

#include "base/budget.hpp"

namespace tare::fuzz {

class Call {
 public:
  explicit Call(std::uint64_t bytes) { current_budget()->grant(bytes); }

 private:
  Spending spending_;
};

}  // namespace tare::fuzz
