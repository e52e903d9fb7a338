// SplitMix64: random numbers that are the same on every machine.
#pragma once

#include <cstdint>

namespace tare {

struct SplitMix64 {
  std::uint64_t state;

  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;
  // The number that follows a state. A state advances by kStep, so the number at any position can be computed.
  static constexpr std::uint64_t mixed(std::uint64_t state) {
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB;
    return state ^ (state >> 31);
  }
  constexpr std::uint64_t next() { return mixed(state += kStep); }
};

}  // namespace tare
