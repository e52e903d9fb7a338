// Observes the inputs of the matrices while the layers run.
#pragma once

#include <cstdint>
#include <span>

#include "base/aligned.hpp"
#include "run/plan.hpp"

namespace tare::run {

class InputWatch {
 public:
  InputWatch() = default;
  InputWatch(const InputWatch&) = delete;
  InputWatch& operator=(const InputWatch&) = delete;
  virtual ~InputWatch() = default;
  // `weight` is one of the plan's. `x`: panels of weight.columns features, of which the first used[panel] places are
  // tokens. One call at a time.
  virtual void see(const Weight& weight, const AlignedVector<float>& x, std::span<const std::uint8_t> used) = 0;
};

}  // namespace tare::run
