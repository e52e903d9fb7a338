#include "model/slice_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tare/error.hpp"

namespace tare {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Error usage(std::string_view rule, std::string_view sentence) { return Error(ErrorKind::usage, rule, sentence); }

// What a range selects from an axis, by the rules of Python's slice.indices.
struct Taken {
  std::int64_t start, step;
  std::uint64_t count;
};

std::int64_t clamped(std::int64_t bound, std::int64_t length, std::int64_t low, std::int64_t high) {
  if (bound < 0) bound += length;
  return std::clamp(bound, low, high);
}

Taken take_range(const SliceItem& item, std::int64_t length) {
  std::int64_t step = item.step.value_or(1);
  if (step == 0) throw usage("slice.step", "the step must not be 0");
  step = std::max(step, -kMost);  // so that it can be negated
  const bool forward = step > 0;
  // Backwards, -1 means "before the first element".
  const std::int64_t low = forward ? 0 : -1, high = forward ? length : length - 1;
  const std::int64_t start = item.start ? clamped(*item.start, length, low, high) : forward ? low : high;
  const std::int64_t stop = item.stop ? clamped(*item.stop, length, low, high) : forward ? high : low;
  const std::int64_t distance = forward ? stop - start : start - stop;
  const std::int64_t stride = forward ? step : -step;
  return {start, step, distance <= 0 ? 0 : static_cast<std::uint64_t>((distance - 1) / stride + 1)};
}

std::int64_t take_index(const SliceItem& item, std::int64_t length, std::size_t axis) {
  const std::int64_t index = item.start.value_or(0);
  if (index >= length || index < -length)
    throw usage("slice.index",
                fmt::format("index {} is outside of axis {}, which has {} elements", index, axis, length));
  return index < 0 ? index + length : index;
}

// The items with the ellipsis expanded: one for every axis, and the new axes between them.
SliceSpec expanded(const SliceSpec& spec, std::size_t rank) {
  std::size_t used = 0, ellipses = 0;
  for (const SliceItem& item : spec) {
    used += item.kind == SliceItem::Kind::index || item.kind == SliceItem::Kind::range ? 1 : 0;
    ellipses += item.kind == SliceItem::Kind::ellipsis ? 1 : 0;
  }
  if (ellipses > 1) throw usage("slice.rank", "a slice can have only one ellipsis (\"...\")");
  if (used > rank)
    throw usage("slice.rank",
                fmt::format("the slice indexes {} {}, the tensor has {}", used, used == 1 ? "axis" : "axes", rank));
  SliceSpec items;
  for (const SliceItem& item : spec) {
    if (item.kind == SliceItem::Kind::ellipsis)
      items.resize(items.size() + rank - used);
    else
      items.push_back(item);
  }
  if (ellipses == 0) items.resize(items.size() + rank - used);
  return items;
}

}  // namespace

void arrange(SlicePlan& plan, std::span<const SliceAxis> axes) {
  for (const SliceAxis& axis : axes) {
    std::int64_t extent = 0;
    const bool fits = !__builtin_mul_overflow(axis.count, axis.stride, &extent) && axis.stride != 0;
    if (!plan.outer.empty() && fits && plan.outer.back().stride == extent)
      plan.outer.back() = {plan.outer.back().count * axis.count, axis.stride};
    else
      plan.outer.push_back(axis);
  }
  if (!plan.outer.empty() && plan.outer.back().stride == 1) {
    plan.run = plan.outer.back().count;
    plan.outer.pop_back();
  }
  if (!plan.outer.empty()) {
    plan.lane = plan.outer.back();
    plan.outer.pop_back();
  }
}

SlicePlan plan_slice(const Shape& shape, const SliceSpec& spec) {
  const SliceSpec items = expanded(spec, shape.rank());
  SlicePlan plan;
  // From the fastest axis outwards, because strides grow. Strides are meaningful, and certain to fit, only if the
  // tensor has elements.
  const bool empty = shape.elements().value_or(0) == 0;
  InlineVector<SliceAxis, 4> axes;
  std::uint64_t stride = 1;
  std::size_t axis = shape.rank();
  for (std::size_t i = items.size(); i-- > 0;) {
    const SliceItem& item = items[i];
    if (item.kind == SliceItem::Kind::new_axis) {
      plan.shape.push_back(1);
      continue;
    }
    const std::uint64_t length = shape[--axis];
    if (length > static_cast<std::uint64_t>(kMost))
      throw Error(ErrorKind::unsupported, "slice.size", fmt::format("axis {} has {} elements", axis, length));
    if (item.kind == SliceItem::Kind::index) {
      const std::int64_t index = take_index(item, static_cast<std::int64_t>(length), axis);
      if (!empty) plan.first += static_cast<std::uint64_t>(index) * stride;
    } else {
      const Taken taken = take_range(item, static_cast<std::int64_t>(length));
      plan.shape.push_back(taken.count);
      if (!empty && taken.count > 0) plan.first += static_cast<std::uint64_t>(taken.start) * stride;
      if (!empty && taken.count > 1) axes.push_back({taken.count, taken.step * static_cast<std::int64_t>(stride)});
    }
    if (!empty) stride *= length;
  }
  std::reverse(plan.shape.begin(), plan.shape.end());
  std::reverse(axes.begin(), axes.end());
  plan.elements = plan.shape.elements().value_or(0);
  if (plan.elements > 0) arrange(plan, axes);
  return plan;
}

}  // namespace tare
