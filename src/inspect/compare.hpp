// Two runs of elements set side by side: how many differ, by how much, and how nearly they point the same
// way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "inspect/blocks.hpp"

namespace tare::inspect {

// value * 2^exponent: a sum of squares that neither overflows nor vanishes for any doubles.
struct ScaledSum {
  double value = 0;
  int exponent = 0;

  void add(const ScaledSum& other);
};

struct Comparison {
  std::uint64_t different = 0;  // logical elements
  std::optional<std::uint64_t> first;
  double max_abs = 0;    // infinite where one side only is NaN or infinite
  ScaledSum apart;       // sum of (a - b)^2 over what is finite
  ScaledSum aa, bb, ab;  // over elements that are finite on both sides

  // Takes in the elements that follow.
  void merge(const Comparison& other);
  double rms(std::uint64_t values) const;
  // 1 when both are zero; 0 when one is.
  double cosine() const;
};

// Keeps its work space between runs; one thread.
class RunComparer {
 public:
  // Storage elements of a logical one: 2 for complex numbers, which differ when either part does.
  explicit RunComparer(unsigned per_element) : per_element_(per_element) {}

  // Runs of the same length, at most kRunElements. `at` is the number of the first storage element.
  Comparison compare(std::span<const double> a, std::span<const double> b, std::uint64_t at);
  // The same for 64-bit integers, of which doubles cannot tell all apart: equality and distance come from the
  // integers themselves.
  Comparison compare_integers(std::span<const double> a, std::span<const double> b, std::span<const std::byte> raw_a,
                              std::span<const std::byte> raw_b, bool is_signed, std::uint64_t at);

 private:
  std::optional<Comparison> compare_finite(std::span<const double> a, std::span<const double> b, std::uint64_t at);
  void note(Comparison& out, std::uint64_t element, double distance);
  void sum_up(Comparison& out);

  unsigned per_element_;
  // Of the elements of this run that count: both sides, and the distances that are not zero.
  std::array<double, kRunElements> a_, b_, apart_;
  std::size_t kept_ = 0, distances_ = 0;
  std::uint64_t last_ = 0;  // the logical element that was counted last
};

}  // namespace tare::inspect
