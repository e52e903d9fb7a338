// One scale for a whole tensor: the range of values whose codes lose least.
//
// A scale made for the largest magnitude spends most codes on values that hardly occur. Of a range that cuts a few of them
// the rest has finer steps. The search takes two passes over the weights, on all cores and in memory that does not grow
// with the tensor: the first counts how often which values occur (the pass that looks for the largest does that, too), and
// tells what any range would lose, nearly; the second measures exactly the best few of those and the whole range, which
// stays unless another loses less.
//
// Counts are whole numbers, sums are taken in an order that depends on nothing but the weights, and no function is used
// that libraries compute differently: every machine and any number of threads find the same range.
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

// Values from `low` to `high` have codes, others that of the nearer end.
struct CodeRange {
  float low = 0, high = 0;
  friend bool operator==(const CodeRange&, const CodeRange&) = default;
};

// What codes stand for: w = origin + step * q, q a whole number from `lowest` to `highest`. A step of 0 stands for no code.
struct CodeGrid {
  double origin = 0, step = 0, lowest = 0, highest = 0;
};

// How often which values occur. A bin is the sign, the exponent and nine bits of the fraction: values within it differ by
// less than 1/512.
class ValueHistogram {
 public:
  // Finite values.
  void add(std::span<const float> values);
  void add(const ValueHistogram& other);

  struct Bin {
    double value, count;  // the mean, nearly
  };
  // Those that are not empty.
  std::vector<Bin> bins() const;

 private:
  struct Count {
    std::uint64_t values = 0, low_bits = 0;  // their number, and the sum of what the bin does not tell
  };
  // The bins of a sign and an exponent, of which a tensor has few: made for the first value in them.
  static constexpr unsigned kPageBits = 9, kLowBits = 23 - kPageBits;
  using Page = std::array<Count, std::size_t{1} << kPageBits>;
  std::array<std::unique_ptr<Page>, 512> pages_;
};

// A histogram for each thread that works at a time.
class ValueHistograms {
 public:
  // Calls action(histogram) with one that nobody else has meanwhile.
  template <typename Action>
  void with(const Action& action) {
    std::unique_ptr<ValueHistogram> mine = take();
    action(*mine);
    give_back(std::move(mine));
  }
  // All of them in one. Nobody may have one meanwhile.
  const ValueHistogram& sum();

 private:
  std::unique_ptr<ValueHistogram> take();
  void give_back(std::unique_ptr<ValueHistogram> histogram);
  std::mutex mutex_;
  std::vector<std::unique_ptr<ValueHistogram>> free_;
};

struct RangeSearch {
  CodeRange all;          // of the weights; symmetric: around 0
  bool symmetric = true;  // only ranges around 0, by grids with the origin 0
  // The codes that a range would have.
  std::function<CodeGrid(const CodeRange&)> grid_of;
  // The weights in parts, each of which is read front to back by one thread: calls visit(values) for a few at a time. The
  // number of parts does not depend on that of the threads.
  std::size_t parts = 0;
  std::function<void(std::size_t part, const std::function<void(std::span<const float>)>& visit)> read;
  unsigned threads = 0;
};
// The range that loses least, of those tried; never one that loses more than all of the weights.
CodeRange search_range(const RangeSearch& search, const ValueHistogram& values);

}  // namespace tare
