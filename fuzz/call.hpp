// A call of the library as `open` makes one: with the budget that so many bytes have. The parsers charge it; without one
// every charge is free, and what they cost would be nobody's promise.
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
