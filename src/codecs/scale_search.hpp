// The search for one scale for a whole tensor: the range of values whose codes lose least.
//
// A scale for the largest magnitude spends most codes on values that hardly occur. A range that clips a few of them has
// finer steps for the rest. The search takes two passes over the weights, on all cores and in memory that does not grow
// with the tensor. The first counts how often each value occurs (in the same pass that finds the largest), from which
// the loss of any range is estimated. The second measures exactly the best few ranges and the whole range, which stays
// unless another one loses less.
//
// Counts are integers, the order of sums depends on nothing but the weights, and no function is used that libraries
// compute differently: every machine and any number of threads find the same range.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace tare {

// Values from `low` to `high` have codes; others get the code of the nearer end.
struct CodeRange {
  float low = 0, high = 0;
  friend bool operator==(const CodeRange&, const CodeRange&) = default;
};

// The values of codes: w = origin + step * q, q an integer from `lowest` to `highest`. No codes exist if the step is 0.
struct CodeGrid {
  double origin = 0, step = 0, lowest = 0, highest = 0;
  friend bool operator==(const CodeGrid&, const CodeGrid&) = default;
};

// Counts how often values occur. A bin is the sign, the exponent and nine bits of the fraction: the values in it differ
// by less than 1/512.
class ValueHistogram {
 public:
  // Values must be finite.
  void add(std::span<const float> values);
  void add(const ValueHistogram& other);

  struct Bin {
    double value, count;  // approximate mean of the values, and their number
  };
  // The bins that are not empty.
  std::vector<Bin> bins() const;

 private:
  struct Count {
    std::uint64_t values = 0, low_bits = 0;  // number of values, and the sum of their bits below the bin's
  };
  // The bins of one sign and exponent. A tensor has few of these, so pages are allocated for the first value in them.
  static constexpr unsigned kPageBits = 9, kLowBits = 23 - kPageBits;
  using Page = std::array<Count, std::size_t{1} << kPageBits>;
  std::array<std::unique_ptr<Page>, 512> pages_;
};

// One histogram per thread that works at the same time.
class ValueHistograms {
 public:
  // Calls action(histogram) with a histogram that no other thread uses at the same time.
  template <typename Action>
  void with(const Action& action) {
    std::unique_ptr<ValueHistogram> mine = take();
    action(*mine);
    give_back(std::move(mine));
  }
  // The sum of all histograms. None may be in use.
  const ValueHistogram& sum();

 private:
  std::unique_ptr<ValueHistogram> take();
  void give_back(std::unique_ptr<ValueHistogram> histogram);
  std::mutex mutex_;
  std::vector<std::unique_ptr<ValueHistogram>> free_;
};

struct RangeSearch {
  CodeRange all;          // the range of the weights; if symmetric, around 0
  bool symmetric = true;  // only ranges around 0, with grids of origin 0
  // The codes that a range would have.
  std::function<CodeGrid(const CodeRange&)> grid_of;
  // The weights in parts: calls visit(values) for a few at a time. Each part is read from front to back by one thread;
  // the number of parts does not depend on the number of threads.
  std::size_t parts = 0;
  std::function<void(std::size_t part, const std::function<void(std::span<const float>)>& visit)> read;
  unsigned threads = 0;
};
// The range that loses least of those tried; never one that loses more than the whole range.
CodeRange search_range(const RangeSearch& search, const ValueHistogram& values);

}  // namespace tare
