// Chooses the scale of ALT codes. Reads the weights once for the range, and unless `fast` once more to search for the
// range that loses least (scale_search.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "codecs/alt/quant.hpp"
#include "codecs/scale_search.hpp"
#include "codecs/streams.hpp"
#include "tare/error.hpp"

namespace tare::codec::alt {
namespace {

struct Extent {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void take(const Extent& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};

// The weights in parts that threads can read independently; one part if they can only be read from front to back.
class Parts {
 public:
  Parts(const Component& data, std::uint64_t elements) : data_(data), elements_(elements) {
    constexpr std::uint64_t kPart = std::uint64_t{1} << 20;
    size_ = is_seekable(data.blob) ? kPart : std::max<std::uint64_t>(elements, 1);
  }

  std::size_t count() const { return ceil_div(elements_, size_); }

  // Calls visit(values, number of the first element).
  template <typename Visit>
  void read(std::size_t part, const Visit& visit) const {
    const std::uint64_t begin = part * size_, end = std::min(elements_, begin + size_);
    ElementStream weights(data_, begin);
    std::array<double, 4096> buffer;
    for (std::uint64_t at = begin; at < end;) {
      const auto some =
          std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - at)));
      weights.read(some);
      visit(std::span<const double>(some), at);
      at += some.size();
    }
  }

 private:
  const Component& data_;
  std::uint64_t elements_, size_;
};

Extent extent_of(std::span<const double> weights, std::uint64_t first, const Tensor& tensor) {
  // A NaN or an infinity makes the sum of x * 0 NaN, which is not zero. This needs no branch per element.
  Extent extent;
  double low = extent.low, high = extent.high, finite = 0;
  for (const double w : weights) {
    low = w < low ? w : low;
    high = w > high ? w : high;
    finite += w * 0;
  }
  if (finite != 0) {
    const auto bad = std::find_if(weights.begin(), weights.end(), [](double w) { return !std::isfinite(w); });
    throw Error(ErrorKind::unsupported, "qint.nonfinite",
                fmt::format("element {} is {}: only finite weights can be quantized",
                            first + static_cast<std::uint64_t>(bad - weights.begin()), *bad))
        .about(tensor.name)
        .blame(Subject::input);
  }
  return {low, high};
}

// Converts weights to floats for the search. Values outside f32 are clamped here and refused later.
std::span<const float> floats(std::span<const double> weights, std::array<float, 4096>& buffer) {
  constexpr double kMost = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < weights.size(); ++i)
    buffer[i] = static_cast<float>(std::clamp(weights[i], -kMost, kMost));
  return std::span(buffer).first(weights.size());
}

// The first pass over the weights.
Extent extent_of(const Tensor& tensor, const Parts& parts, unsigned threads, ValueHistograms* histograms) {
  Extent extent;
  std::mutex lock;
  const auto look_at = [&](std::size_t part, ValueHistogram* histogram) {
    Extent mine;
    std::array<float, 4096> buffer;
    parts.read(part, [&](std::span<const double> weights, std::uint64_t first) {
      mine.take(extent_of(weights, first, tensor));
      if (histogram != nullptr) histogram->add(floats(weights, buffer));
    });
    const std::lock_guard guard(lock);
    extent.take(mine);
  };
  parallel_for(parts.count(), threads, [&](std::size_t part) {
    if (histograms != nullptr)
      histograms->with([&](ValueHistogram& histogram) { look_at(part, &histogram); });
    else
      look_at(part, nullptr);
  });
  return extent;
}

// Returns a positive f32, at least the smallest: a scale of 0 would make every code 0.
float scale_of(double span, double steps) {
  const auto scale = static_cast<float>(span / steps);
  if (span > 0 && scale == 0) return std::numeric_limits<float>::denorm_min();
  // A scale that was rounded up may decode the largest floats to infinity.
  const bool beyond = !std::isfinite(scale * static_cast<float>(steps));
  return beyond ? std::nextafter(scale, 0.0F) : scale;
}

// Sets the plan's scale for a range; a symmetric one is centred on 0.
void set_scale(const CodeRange& range, Plan& plan) {
  plan.min = plan.max = 0;
  if (!plan.ranged) {
    plan.delta = scale_of(range.high, plan.highest());
    return;
  }
  plan.min = range.low;
  plan.max = range.high;
  plan.delta = scale_of(static_cast<double>(plan.max) - static_cast<double>(plan.min), plan.highest());
  // A delta that was rounded up may decode the highest code to infinity.
  while (!std::isfinite(value_of(plan, static_cast<unsigned>(plan.highest()))))
    plan.delta = std::nextafter(plan.delta, 0.0F);
}

// Returns the range of all weights, and sets `plan.ranged`.
CodeRange whole_range(const Tensor& tensor, const Extent& extent, bool ranged, Plan& plan) {
  if (extent.low > extent.high) return {};  // no elements
  const double largest = std::max(std::fabs(extent.low), std::fabs(extent.high));
  if (largest > std::numeric_limits<float>::max())
    throw Error(ErrorKind::unsupported, "qint.overflow", fmt::format("weights up to {} are beyond f32", largest))
        .about(tensor.name)
        .blame(Subject::input);
  if (!ranged || largest == 0) return {static_cast<float>(-largest), static_cast<float>(largest)};
  // All weights are equal: extend the range to 0, because an empty range has no scale.
  const bool constant = static_cast<float>(extent.low) == static_cast<float>(extent.high);
  const CodeRange range{static_cast<float>(constant ? std::min(extent.low, 0.0) : extent.low),
                        static_cast<float>(constant ? std::max(extent.high, 0.0) : extent.high)};
  plan.ranged = true;
  const double span = static_cast<double>(range.high) - static_cast<double>(range.low);
  if (span > std::numeric_limits<float>::max())
    throw Error(ErrorKind::unsupported, "qint.overflow",
                fmt::format("weights from {} to {} span more than f32 holds", range.low, range.high))
        .about(tensor.name)
        .blame(Subject::input)
        .remedy(Remedy::no_range);
  return range;
}

CodeGrid grid_of(Plan plan, const CodeRange& range) {
  // Equal min and max mean symmetric codes, so an empty range cannot be encoded.
  if (plan.ranged && !(range.high > range.low)) return {};
  set_scale(range, plan);
  return {static_cast<double>(plan.min), static_cast<double>(plan.delta), static_cast<double>(plan.lowest()),
          static_cast<double>(plan.highest())};
}

CodeRange searched(const Plan& plan, const CodeRange& all, const Parts& parts, unsigned threads,
                   ValueHistograms& histograms) {
  return search_range({.all = all,
                       .symmetric = !plan.ranged,
                       .grid_of = [&](const CodeRange& range) { return grid_of(plan, range); },
                       .parts = parts.count(),
                       .read =
                           [&](std::size_t part, const std::function<void(std::span<const float>)>& visit) {
                             std::array<float, 4096> buffer;
                             parts.read(part, [&](std::span<const double> weights, std::uint64_t /*first*/) {
                               visit(floats(weights, buffer));
                             });
                           },
                       .threads = threads},
                      histograms.sum());
}

}  // namespace

void choose_scale(const Tensor& tensor, const EncodeOptions& options, Plan& plan) {
  const Parts parts(*tensor.component("data"), plan.elements);
  const bool search = !options.fast && !options.clip;
  ValueHistograms histograms;
  Extent extent = extent_of(tensor, parts, options.threads, search ? &histograms : nullptr);
  if (options.clip && extent.low <= extent.high) {
    // The range is enough: encoding clamps codes to it.
    extent.low = std::clamp<double>(extent.low, options.clip->first, options.clip->second);
    extent.high = std::clamp<double>(extent.high, options.clip->first, options.clip->second);
  }
  CodeRange range = whole_range(tensor, extent, options.range, plan);
  if (search && range.high > range.low) range = searched(plan, range, parts, options.threads, histograms);
  set_scale(range, plan);
}

}  // namespace tare::codec::alt
