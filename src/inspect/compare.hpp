// Compares two runs of elements: how many differ, by how much, and the cosine between them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "inspect/blocks.hpp"

namespace tare::inspect {

// value * 2^exponent: a sum of squares that neither overflows nor underflows for any doubles.
struct ScaledSum {
  double value = 0;
  int exponent = 0;

  void add(const ScaledSum& other);
};

struct Comparison {
  std::uint64_t different = 0;  // logical elements
  std::optional<std::uint64_t> first;
  double max_abs = 0;           // infinite if exactly one side is NaN or infinite
  ScaledSum squared_distances;  // sum of (a - b)^2 over finite differences
  ScaledSum aa, bb, ab;         // over elements that are finite on both sides

  // Adds the result of the elements that follow.
  void merge(const Comparison& other);
  double rms(std::uint64_t values) const;
  // The same, relative to the first run; infinite if that is all zeros and there is a difference.
  double relative_rms() const;
  // 1 if both are zero; 0 if one is; NaN if `max_abs` is infinite.
  double cosine() const;
};

// Keeps its buffers between runs; for one thread.
class RunComparer {
 public:
  // Storage elements per logical element: 2 for complex numbers, which differ if either part does.
  explicit RunComparer(unsigned per_element) : per_element_(per_element) {}

  // The runs have the same length, at most kRunElements. `at` is the index of the first storage element.
  Comparison compare(std::span<const double> a, std::span<const double> b, std::uint64_t at);
  // The same for 64-bit integers, which doubles cannot all distinguish: equality and distance are computed on the
  // integers themselves.
  Comparison compare_integers(std::span<const double> a, std::span<const double> b, std::span<const std::byte> raw_a,
                              std::span<const std::byte> raw_b, bool is_signed, std::uint64_t at);

 private:
  std::optional<Comparison> compare_finite(std::span<const double> a, std::span<const double> b, std::uint64_t at);
  void note(Comparison& out, std::uint64_t element, double distance);
  void sum_up(Comparison& out);

  unsigned per_element_;
  // The elements of this run that count, on both sides, and their distances.
  std::array<double, kRunElements> a_, b_, distance_;
  std::size_t kept_ = 0, distance_count_ = 0;
  std::uint64_t last_ = 0;  // the logical element that was counted last
};

}  // namespace tare::inspect
