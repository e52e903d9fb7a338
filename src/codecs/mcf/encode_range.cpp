// What encoding learns from all weights: the range that the codes of int* cover, and the clips in the attributes.
#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "codecs/mcf/encode_chunks.hpp"
#include "codecs/scale_search.hpp"

namespace tare::codec::mcf {
namespace {

constexpr std::uint64_t kPart = std::uint64_t{1} << 20;  // weights
constexpr std::size_t kBuffer = 8192;

// The weights in parts that threads can read independently; one part if they can only be read from front to back.
class Parts {
 public:
  explicit Parts(const Tensor& tensor, std::uint64_t elements) : tensor_(tensor), elements_(elements) {
    const Component& data = *tensor.component("data");
    const std::uint64_t step = data.blob.seek_granularity();
    size_ = step != 0 && step <= kPart * size_of(data.dtype) ? kPart : std::max<std::uint64_t>(elements, 1);
  }

  std::size_t count() const { return ceil_div(elements_, size_); }

  // Calls visit(values, number of the first element).
  template <typename Visit>
  void read(std::size_t part, const Visit& visit) const {
    const std::uint64_t first = part * size_, end = std::min(elements_, first + size_);
    WeightStream values(tensor_, Beyond::infinite, kNotFinite, first);
    std::vector<float> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(kBuffer, end - first)));
    for (std::uint64_t at = first; at < end; at = values.position()) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - at));
      values.read(buffer.data(), count);
      visit(std::span<const float>(buffer.data(), count), at);
    }
    values.check();
  }

 private:
  const Tensor& tensor_;
  std::uint64_t elements_, size_;
};

// The values that the codes of a range decode to.
CodeGrid grid_of(const Geometry& geometry, const CodeRange& range) {
  const ScaleZero made = scale_zero(*geometry.method, geometry.domain, range.low, range.high);
  const double highest = geometry.method->qmax, zero = static_cast<double>(made.zero);
  const double lowest = geometry.domain == Domain::weights ? -highest : -highest - 1;
  return {0, static_cast<double>(made.scale), lowest - zero, highest - zero};
}

}  // namespace

Range Chunks::range_of_all() const {
  ranged_.run([this] {
    const Parts parts(tensor_, geometry_.elements());
    const bool searched = geometry_.method->family == Family::raw && !options_.fast && !options_.clip;
    ValueHistograms histograms;
    std::mutex mutex;
    Range all{0, 0, true};
    bool any = false;
    const auto look_at = [&](std::size_t part, ValueHistogram* histogram) {
      parts.read(part, [&](std::span<const float> values, std::uint64_t first) {
        const Range here = range_of(values.data(), values.size());
        if (!here.finite) {
          const auto bad = std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
          throw not_finite(tensor_, first + static_cast<std::uint64_t>(bad - values.begin()), kNotFinite);
        }
        if (histogram != nullptr) histogram->add(values);
        const std::scoped_lock lock(mutex);
        all.min = any ? std::min(all.min, here.min) : here.min;
        all.max = any ? std::max(all.max, here.max) : here.max;
        any = true;
      });
    };
    parallel_for(parts.count(), options_.threads, [&](std::size_t part) {
      if (searched)
        histograms.with([&](ValueHistogram& histogram) { look_at(part, &histogram); });
      else
        look_at(part, nullptr);
    });
    range_ = all;
    if (!searched) return;
    const float absmax = std::max(std::fabs(all.min), std::fabs(all.max));
    const bool symmetric = geometry_.domain == Domain::weights;
    const CodeRange best = search_range(
        {.all = symmetric ? CodeRange{-absmax, absmax} : CodeRange{std::min(all.min, 0.0f), std::max(all.max, 0.0f)},
         .symmetric = symmetric,
         .grid_of = [this](const CodeRange& range) { return mcf::grid_of(geometry_, range); },
         .parts = parts.count(),
         .read =
             [&](std::size_t part, const std::function<void(std::span<const float>)>& visit) {
               parts.read(part, [&](std::span<const float> values, std::uint64_t /*first*/) { visit(values); });
             },
         .threads = options_.threads},
        histograms.sum());
    range_.min = best.low;
    range_.max = best.high;
  });
  return range_;
}

ScaleZero Chunks::parameters() const {
  if (options_.clip)
    return scale_zero(*geometry_.method, geometry_.domain, options_.clip->first, options_.clip->second);
  const Range range = range_of_all();
  return scale_zero(*geometry_.method, geometry_.domain, range.min, range.max);
}

Map Chunks::learned() const {
  if (options_.clip) return {};
  Attributes info{geometry_.domain, 0, 0};
  float absmax = 0;
  bool known = false;
  if (geometry_.method->family != Family::raw) {
    const std::scoped_lock lock(mutex_);
    known = made_ == slots_.size();
    for (const Slot& slot : slots_) absmax = std::max(absmax, slot.absmax);
  }
  if (!known) {
    const Range range = range_of_all();
    absmax = std::max(std::fabs(range.min), std::fabs(range.max));
    info.min_clip = std::min(range.min, 0.0f);
    info.max_clip = std::max(range.max, 0.0f);
  }
  if (geometry_.domain == Domain::weights) {
    info.min_clip = -absmax;
    info.max_clip = absmax;
  }
  Map attributes;
  set_attributes(attributes, info);
  return attributes;
}

}  // namespace tare::codec::mcf
