// Random decisions of a mutator: the same for the same seed, on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tare::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {  // splitmix64
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  // 0 .. count - 1; 0 for 0.
  std::size_t below(std::size_t count) { return count == 0 ? 0 : next() % count; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <typename Items>
  const auto& one_of(const Items& items) {
    return items[below(std::size(items))];
  }
  // A number of repetitions: mostly a few, sometimes so many that the cost becomes visible.
  std::size_t many() {
    constexpr std::size_t kMany[] = {0, 1, 1, 2, 2, 3, 4, 8, 30, 200, 2000, 20000};
    return one_of(kMany);
  }
  // Boundary values.
  std::uint64_t number() {
    constexpr std::uint64_t kNumbers[] = {0,          1,          2,          3,           7,          8,
                                          16,         31,         32,         64,          127,        128,
                                          255,        256,        1024,       4096,        65535,      65536,
                                          1 << 20,    0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,  1ULL << 32, 1ULL << 40,
                                          1ULL << 50, ~0ULL >> 1, 1ULL << 63, ~0ULL - 100, ~0ULL};
    return one_in(4) ? next() >> below(64) : one_of(kNumbers) + (one_in(4) ? below(3) - 1 : 0);
  }

 private:
  std::uint64_t state_;
};

}  // namespace tare::fuzz
