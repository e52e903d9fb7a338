#include "codecs/scale_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"

namespace tare {
namespace {

// Powers of two as literals, because libraries round them differently.
constexpr double kCoarse = 0.95760328069857364694;  // 2^(-1/16)
constexpr double kFine = 0.99459942348363317565;    // 2^(-1/128)
constexpr int kFineSteps = 8;                       // per coarse step
constexpr double kLeastShare = 0x1p-20;             // share of the whole range

// Another range must lose less by this factor, which is more than rounding errors can explain.
constexpr double kBetter = 1 - 0x1p-12;

// --- estimates from the histogram

double loss(const std::vector<ValueHistogram::Bin>& bins, const CodeGrid& grid) {
  constexpr double kMagic = 0x1.8p52;  // adding and subtracting it rounds to an integer, ties to even
  double sum = 0;
  if (!(grid.step > 0)) return std::numeric_limits<double>::infinity();
  const double inverse = 1 / grid.step;
  for (const auto& [value, count] : bins) {
    const double x = value - grid.origin;
    const double q = (std::clamp(x * inverse, grid.lowest, grid.highest) + kMagic) - kMagic;
    const double error = x - grid.step * q;
    sum += count * (error * error);
  }
  return sum;
}

class Estimate {
 public:
  Estimate(const RangeSearch& search, const ValueHistogram& values)
      : search_(search), bins_(values.bins()), best_(search.all), least_(of(search.all)) {}

  CodeRange best() {
    if (search_.symmetric) {
      along([](const CodeRange& all, double share) { return scaled(all, share); });
      return best_;
    }
    // One end at a time, twice, because the best place of each end depends a little on the other.
    const auto between = [](float from, float to, double share) {
      return share == 1 ? to : static_cast<float>(from + (static_cast<double>(to) - from) * share);
    };
    for (int round = 0; round < 2; ++round) {
      along([&, low = best_.low](const CodeRange& all, double share) {
        return CodeRange{low, between(low, all.high, share)};
      });
      along([&, high = best_.high](const CodeRange& all, double share) {
        return CodeRange{between(high, all.low, share), high};
      });
    }
    return best_;
  }

  static CodeRange scaled(const CodeRange& range, double share) {
    return {static_cast<float>(range.low * share), static_cast<float>(range.high * share)};
  }

 private:
  double of(const CodeRange& range) const { return loss(bins_, search_.grid_of(range)); }

  bool take_if_better(const CodeRange& range) {
    const double found = of(range);
    last_ = found;
    if (!(found < least_)) return false;
    least_ = found;
    best_ = range;
    return true;
  }

  // Tries range_of(all, share), the range for a share of the whole: coarse steps down from 1, then fine ones around the
  // best.
  template <typename RangeOf>
  void along(const RangeOf& range_of) {
    // If the least share has the same codes, so has every share between: this end of the range decides nothing.
    if (search_.grid_of(range_of(search_.all, kLeastShare)) == search_.grid_of(range_of(search_.all, 1))) return;
    double best_share = 1;
    for (double share = 1; share > kLeastShare; share *= kCoarse) {
      if (take_if_better(range_of(search_.all, share))) best_share = share;
      // From here on, clipping more only loses more.
      if (share < best_share / 4 && last_ > 4 * least_) break;
    }
    for (const double step : {kFine, 1 / kFine}) {
      double share = best_share;
      for (int i = 1; i < kFineSteps && (share *= step) <= 1; ++i) take_if_better(range_of(search_.all, share));
    }
  }

  const RangeSearch& search_;
  std::vector<ValueHistogram::Bin> bins_;
  CodeRange best_;
  double least_, last_ = 0;
};

// --- measurements on the weights

constexpr std::size_t kMostTried = 4;
constexpr std::size_t kLanes = 16, kRun = 1024;

// In units of a power of two near the largest weight, so that squares neither underflow nor overflow.
struct UnitGrid {
  float origin = 0, step = 0, inverse = 0, lowest = 0, highest = 0;
};

struct Sums {
  double error = 0, xq = 0, qq = 0;
  void add(const Sums& other) {
    error += other.error;
    xq += other.xq;
    qq += other.qq;
  }
};
using AllSums = std::array<Sums, kMostTried>;

double sum_of(const std::array<float, kLanes>& lanes) {
  double sum = 0;
  for (const float lane : lanes) sum += static_cast<double>(lane);
  return sum;
}

// Separate sums per lane: compilers can vectorize the loop at any width, with the same sums.
Sums measure(const float* values, std::size_t count, const UnitGrid& grid) {
  constexpr float kMagic = 0x1.8p23f;  // as above
  std::array<float, kLanes> error{}, xq{}, qq{};
  const auto add = [&](std::size_t lane, float value) {
    const float x = value - grid.origin;
    float y = x * grid.inverse;
    y = y < grid.lowest ? grid.lowest : y;
    y = y > grid.highest ? grid.highest : y;
    const float q = (y + kMagic) - kMagic;
    const float e = x - grid.step * q;
    error[lane] += e * e;
    xq[lane] += x * q;
    qq[lane] += q * q;
  };
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) add(lane, values[i + lane]);
  for (std::size_t lane = 0; i + lane < count; ++lane) add(lane, values[i + lane]);
  return {sum_of(error), sum_of(xq), sum_of(qq)};
}

class Measurement {
 public:
  Measurement(const RangeSearch& search, std::span<const CodeRange> tried) : search_(search), tried_(tried.size()) {
    int exponent = 0;
    std::frexp(std::max(std::fabs(search.all.low), std::fabs(search.all.high)), &exponent);
    unit_ = -exponent;
    for (std::size_t i = 0; i < tried_; ++i) {
      const CodeGrid grid = search.grid_of(tried[i]);
      const double step = std::ldexp(grid.step, unit_);
      grids_[i] = {static_cast<float>(std::ldexp(grid.origin, unit_)), static_cast<float>(step),
                   static_cast<float>(1 / step), static_cast<float>(grid.lowest), static_cast<float>(grid.highest)};
    }
  }

  AllSums run() const {
    std::vector<AllSums> parts(search_.parts);
    parallel_for(search_.parts, search_.threads, [&](std::size_t part) {
      search_.read(part, [&](std::span<const float> values) { add(values, parts[part]); });
    });
    AllSums all{};
    for (const AllSums& part : parts)
      for (std::size_t i = 0; i < tried_; ++i) all[i].add(part[i]);
    return all;
  }

  // Converts a step from these units to those of the weights.
  double in_weights(double step) const { return std::ldexp(step, -unit_); }

 private:
  void add(std::span<const float> values, AllSums& sums) const {
    std::array<float, kRun> run;
    while (!values.empty()) {
      const std::size_t count = std::min(values.size(), kRun);
      scale(values.first(count), run.data());
      for (std::size_t i = 0; i < tried_; ++i) sums[i].add(measure(run.data(), count, grids_[i]));
      values = values.subspan(count);
    }
  }

  // Multiplies by a power of two, in two steps because the power itself may be outside f32.
  void scale(std::span<const float> values, float* out) const {
    const auto half = static_cast<float>(std::ldexp(1.0, unit_ / 2)),
               rest = static_cast<float>(std::ldexp(1.0, unit_ - unit_ / 2));
    for (std::size_t i = 0; i < values.size(); ++i) out[i] = values[i] * half * rest;
  }

  const RangeSearch& search_;
  std::size_t tried_;
  int unit_ = 0;
  std::array<UnitGrid, kMostTried> grids_{};
};

}  // namespace

void ValueHistogram::add(std::span<const float> values) {
  constexpr std::uint32_t kLowMask = (std::uint32_t{1} << kLowBits) - 1,
                          kPageMask = (std::uint32_t{1} << kPageBits) - 1;
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    std::unique_ptr<Page>& page = pages_[bits >> 23];
    if (page == nullptr) [[unlikely]]
      page = std::make_unique<Page>();
    Count& count = (*page)[bits >> kLowBits & kPageMask];
    ++count.values;
    count.low_bits += bits & kLowMask;
  }
}

void ValueHistogram::add(const ValueHistogram& other) {
  for (std::size_t number = 0; number < pages_.size(); ++number) {
    if (other.pages_[number] == nullptr) continue;
    if (pages_[number] == nullptr) pages_[number] = std::make_unique<Page>();
    for (std::size_t i = 0; i < std::tuple_size_v<Page>; ++i) {
      (*pages_[number])[i].values += (*other.pages_[number])[i].values;
      (*pages_[number])[i].low_bits += (*other.pages_[number])[i].low_bits;
    }
  }
}

std::vector<ValueHistogram::Bin> ValueHistogram::bins() const {
  std::vector<Bin> bins;
  for (std::size_t number = 0; number < pages_.size(); ++number) {
    if (pages_[number] == nullptr) continue;
    for (std::size_t i = 0; i < std::tuple_size_v<Page>; ++i) {
      const auto& [values, low_bits] = (*pages_[number])[i];
      if (values == 0) continue;
      const auto mean =
          static_cast<std::uint32_t>(number << 23 | i << kLowBits) | static_cast<std::uint32_t>(low_bits / values);
      bins.push_back({static_cast<double>(std::bit_cast<float>(mean)), static_cast<double>(values)});
    }
  }
  return bins;
}

std::unique_ptr<ValueHistogram> ValueHistograms::take() {
  {
    const std::scoped_lock lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<ValueHistogram> histogram = std::move(free_.back());
      free_.pop_back();
      return histogram;
    }
  }
  return std::make_unique<ValueHistogram>();
}

void ValueHistograms::give_back(std::unique_ptr<ValueHistogram> histogram) {
  const std::scoped_lock lock(mutex_);
  free_.push_back(std::move(histogram));
}

const ValueHistogram& ValueHistograms::sum() {
  if (free_.empty()) free_.push_back(std::make_unique<ValueHistogram>());
  while (free_.size() > 1) {
    free_.front()->add(*free_.back());
    free_.pop_back();
  }
  return *free_.front();
}

CodeRange search_range(const RangeSearch& search, const ValueHistogram& values) {
  const CodeRange guess = Estimate(search, values).best();
  if (guess == search.all) return guess;
  std::vector<CodeRange> tried = {search.all, guess};
  if (search.symmetric)
    for (const double share : {kFine, 1 / kFine}) tried.push_back(Estimate::scaled(guess, share));
  const Measurement measurement(search, tried);
  const AllSums sums = measurement.run();
  std::size_t best = 1;
  for (std::size_t i = 2; i < tried.size(); ++i)
    if (sums[i].error < sums[best].error) best = i;
  if (!(sums[best].error < kBetter * sums[0].error)) return search.all;
  if (!search.symmetric || !(sums[best].qq > 0)) return tried[best];
  // The step that loses least for the codes of this range; codes chosen again with it lose no more.
  const double step = measurement.in_weights(sums[best].xq / sums[best].qq);
  const auto end =
      static_cast<float>(std::min(step * search.grid_of(tried[best]).highest, static_cast<double>(search.all.high)));
  return {-end, end};
}

}  // namespace tare
