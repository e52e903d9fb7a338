// Statistics in two passes: first the range and the counts, then the moments and the histogram over that range. If there
// are outliers, two more passes make the histogram of all other values.
//
// The second pass scales values by a power of two to at most 1, so that squares neither overflow nor underflow for data
// of any magnitude.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "base/stopping.hpp"
#include "inspect/blocks.hpp"
#include "inspect/inner_range.hpp"
#include "inspect/moments.hpp"
#include "inspect/whole_numbers.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tare/inspect.hpp"

namespace tare {
namespace {

using inspect::kBlockElements;
using inspect::kRunElements;
using inspect::Moments;

struct Extent {
  std::uint64_t nan = 0, inf = 0, zeros = 0, finite = 0;
  double min = std::numeric_limits<double>::infinity(), max = -std::numeric_limits<double>::infinity();

  void take(std::span<const double> values) {
    std::uint64_t not_finite = 0, not_numbers = 0, nothing = 0;
    double low = min, high = max;
    for (const double v : values) {
      const bool fine = std::abs(v) <= std::numeric_limits<double>::max();
      not_finite += !fine;
      not_numbers += v != v;
      nothing += v == 0;
      low = fine && v < low ? v : low;
      high = fine && v > high ? v : high;
    }
    nan += not_numbers;
    inf += not_finite - not_numbers;
    zeros += nothing;
    finite += values.size() - not_finite;
    min = low;
    max = high;
  }
  void merge(const Extent& other) {
    nan += other.nan;
    inf += other.inf;
    zeros += other.zeros;
    finite += other.finite;
    min = std::min(min, other.min);
    max = std::max(max, other.max);
  }
};

using Visit = std::function<void(std::size_t block, std::span<const double> run)>;

// Splits the elements into pieces of whole blocks, in parallel: calls `work` once per piece, with a function that reads
// the runs of the piece in order.
void for_each_piece(const Component& data, unsigned threads,
                    const std::function<void(const std::function<void(const Visit&)>&)>& work) {
  const std::uint64_t count = inspect::storage_elements(data);
  const std::uint64_t stride = inspect::blocks_per_piece(data) * kBlockElements;
  parallel_for(ceil_div(count, stride), threads, [&](std::size_t piece) {
    const std::uint64_t begin = piece * stride, end = begin + std::min(stride, count - begin);
    inspect::ElementPuller puller(data, begin);
    work([&](const Visit& visit) {
      for (std::uint64_t at = begin; at < end;) {
        const auto run = puller.next();
        visit(at / kBlockElements, run);
        at += run.size();
      }
    });
  });
}

template <typename Partial>
Partial merged(const std::vector<Partial>& blocks) {
  Partial all;
  for (const Partial& block : blocks) all.merge(block);
  return all;
}

Extent measure(const Component& data, std::size_t blocks, unsigned threads) {
  std::vector<Extent> extents(blocks);
  for_each_piece(data, threads, [&](const auto& each_run) {
    each_run([&](std::size_t block, std::span<const double> run) { extents[block].take(run); });
  });
  return merged(extents);
}

using inspect::Magnitudes;

// Counts the values of each magnitude.
std::vector<std::uint64_t> count_magnitudes(const Component& data, unsigned threads) {
  std::vector<std::uint64_t> all(Magnitudes::kCount);
  std::mutex mutex;
  for_each_piece(data, threads, [&](const auto& each_run) {
    std::vector<std::uint64_t> counts(Magnitudes::kCount);
    each_run([&](std::size_t, std::span<const double> run) {
      for (const double v : run)
        if (std::isfinite(v) && v != 0) ++counts[Magnitudes::bin_of(v)];
    });
    const std::scoped_lock lock(mutex);
    for (std::size_t i = 0; i < counts.size(); ++i) all[i] += counts[i];
  });
  return all;
}

InnerHistogram inner_histogram(const Component& data, const inspect::Range& range, std::size_t bins, unsigned threads) {
  InnerHistogram all{.low = range.low, .high = range.high, .histogram = std::vector<std::uint64_t>(bins)};
  const double bins_per_unit = static_cast<double>(bins) / (range.high - range.low);
  std::mutex mutex;
  for_each_piece(data, threads, [&](const auto& each_run) {
    std::vector<std::uint64_t> counts(bins);
    std::uint64_t below = 0, above = 0;
    each_run([&](std::size_t, std::span<const double> run) {
      for (const double v : run) {
        if (!std::isfinite(v)) continue;
        if (v < range.low)
          ++below;
        else if (v > range.high)
          ++above;
        else
          ++counts[inspect::bin_of((v - range.low) * bins_per_unit, bins)];
      }
    });
    const std::scoped_lock lock(mutex);
    all.below += below, all.above += above;
    for (std::size_t i = 0; i < bins; ++i) all.histogram[i] += counts[i];
  });
  return all;
}

// The second pass. `out` already has its range and counts.
void fill_moments(const Component& data, std::size_t blocks, std::size_t bins, unsigned threads, Statistics& out) {
  const inspect::Scale range = inspect::Scale::of(out.min, out.max);
  const double scale = range.factor, low = out.min * scale;
  const double bins_per_unit = static_cast<double>(bins) / (out.max * scale - low);

  // Whether there are outliers; the range of nothing otherwise.
  const auto widest = bins == 0 ? std::nullopt : inspect::widest_inner_range(out.min, out.max);
  const double inner_low = widest ? widest->low * scale : 1, inner_high = widest ? widest->high * scale : -1;
  std::uint64_t inside = 0;

  std::vector<Moments> moments(blocks);
  std::mutex mutex;
  for_each_piece(data, threads, [&](const auto& each_run) {
    std::vector<std::uint64_t> counts(bins);
    std::array<double, kRunElements> kept;
    std::uint64_t in_piece = 0;
    each_run([&](std::size_t block, std::span<const double> run) {
      std::size_t finite = 0;
      for (const double v : run) {
        kept[finite] = v * scale;
        finite += v >= out.min && v <= out.max;  // excludes values that changed since the range was measured
      }
      const std::span values(kept.data(), finite);
      moments[block].merge(inspect::moments_of(values));
      if (bins == 0) return;
      for (const double v : values) {
        ++counts[inspect::bin_of((v - low) * bins_per_unit, bins)];
        in_piece += v >= inner_low && v <= inner_high && v != 0;
      }
    });
    const std::scoped_lock lock(mutex);
    inside += in_piece;
    for (std::size_t i = 0; i < bins; ++i) out.histogram[i] += counts[i];
  });

  const Moments all = merged(moments);
  if (all.count == 0) return;  // all have become infinite or NaN
  out.mean = std::clamp(std::ldexp(all.mean, range.exponent), out.min, out.max);
  out.std = std::ldexp(std::sqrt(all.squares / all.count), range.exponent);
  if (inside == 0 || static_cast<double>(inside) < inspect::kInnerShare * (all.count - static_cast<double>(out.zeros)))
    return;
  if (const auto inner = inspect::inner_range(out.min, out.max, count_magnitudes(data, threads)))
    out.inner = inner_histogram(data, *inner, bins, threads);
}

std::vector<double> first_values(const Component& data, std::uint64_t count) {
  std::vector<double> values;
  inspect::ElementPuller puller(data, 0);
  while (values.size() < count) {
    const auto run = puller.next();
    values.insert(
        values.end(), run.begin(),
        run.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(run.size(), count - values.size())));
  }
  return values;
}

Statistics statistics_of(const Component& data, std::size_t bins, std::size_t first, unsigned threads) {
  Statistics out;
  out.count = inspect::storage_elements(data);
  out.histogram.resize(bins);
  if (out.count == 0) return out;
  if (out.count > inspect::kMostElements)
    throw Error(ErrorKind::limit, "stats.too_large",
                fmt::format("{} values, at most {} are looked at", out.count, inspect::kMostElements));
  out.first = first_values(data, std::min<std::uint64_t>(first, out.count));

  const auto blocks = ceil_div(out.count, kBlockElements);
  const Extent extent = measure(data, blocks, threads);
  out.nan = extent.nan;
  out.inf = extent.inf;
  out.zeros = extent.zeros;
  if (extent.finite == 0) return out;
  out.min = extent.min;
  out.max = extent.max;
  if (extent.min == extent.max) {  // no range to divide and no rounding: all are in the first bin
    out.mean = extent.min;
    if (bins > 0) out.histogram.front() = extent.finite;
  } else {
    fill_moments(data, blocks, bins, threads, out);
  }
  return out;
}

}  // namespace

Statistics statistics(const Tensor& tensor, std::size_t bins, std::size_t first, const Work& work) {
  const StopScope stop(work);
  constexpr std::size_t kMost = std::size_t{1} << 20;
  if (bins > kMost || first > kMost)
    throw Error(ErrorKind::usage, "stats.bins",
                fmt::format("{} bins and {} first values, at most {} of each", bins, first, kMost));
  const Tensor decoded = to_dense(tensor);
  const Component* const data = decoded.component("data");
  if (data == nullptr || !is_numeric(data->dtype, data->type))
    throw Error(ErrorKind::unsupported, "stats.type",
                fmt::format("elements of type {} are not numbers", data == nullptr ? "(none)" : data->type_name()))
        .about("tensor " + quote(tensor.name));
  try {
    Statistics out = statistics_of(*data, bins, first, work.threads);
    out.whole = inspect::whole_numbers(*data, first, work.threads);
    return out;
  } catch (Error& error) {
    error.about("tensor " + quote(tensor.name));
    throw;
  }
}

}  // namespace tare
