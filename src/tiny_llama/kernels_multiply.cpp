// Products of vectors and matrices with a weight matrix, for every SIMD target.
//
// One row of x: the matrix is read once, in place, eight rows at a time, so that each element of y is loaded and stored
// once per eight elements of w. The next rows are prefetched, because a thread that has only some columns does not read
// a stream that the processor could predict. Several rows of x: a panel of the matrix is copied to scratch as
// cache-sized slivers, and each sliver is multiplied by all rows while it is in the cache.
#include "base/simd_targets.hpp"
#include "tiny_llama/kernels.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tiny_llama/kernels_multiply.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "tiny_llama/kernels_math.hpp"

HWY_BEFORE_NAMESPACE();
namespace tiny_llama::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr std::size_t kLanes = hn::MaxLanes(D());

constexpr std::size_t kGroup = 8;        // rows of w at a time
constexpr std::size_t kTile = 4096;      // columns at a time: their y stays in the L1 cache
constexpr std::size_t kPanelRows = 256;  // rows of w that are copied at once
constexpr std::size_t kPanelColumns = 128;
constexpr std::size_t kSliver = 2 * kLanes;
constexpr std::size_t kBlockRows = 6;  // rows of x: 6 x 2 sums are enough to hide the latency of a multiply-add
static_assert(kPanelRows * kPanelColumns <= kMultiplyScratch && kPanelColumns % kSliver == 0);

// Loads up to a vector of floats without reading beyond their end.
HWY_INLINE V load_some(const float* from, std::size_t count) {
  HWY_ALIGN float padded[kLanes] = {};
  for (std::size_t i = 0; i < count; ++i) padded[i] = from[i];
  return hn::Load(D(), padded);
}

HWY_INLINE void store_some(V value, float* to, std::size_t count) {
  HWY_ALIGN float padded[kLanes];
  hn::Store(value, D(), padded);
  for (std::size_t i = 0; i < count; ++i) to[i] = padded[i];
}

// y[first, last) += sum of x[i] * w[i][first, last) over `kRows` rows from `i` on.
template <std::size_t kRows>
HWY_INLINE void add_rows(const float* x, const float* w, std::size_t stride, std::size_t count, bool more, float* y) {
  const D d;
  const auto at = [&](std::size_t c, V sum) HWY_ATTR {
    for (std::size_t r = 0; r < kRows; ++r) sum = hn::MulAdd(hn::Set(d, x[r]), hn::LoadU(d, w + r * stride + c), sum);
    return sum;
  };
  std::size_t c = 0;
  for (; c + 2 * kLanes <= count; c += 2 * kLanes) {
    if (more)
      for (std::size_t r = 0; r < kRows; ++r)
        for (std::size_t line = 0; line < 2 * kLanes; line += 16) hwy::Prefetch(w + (kRows + r) * stride + c + line);
    const V a = at(c, hn::LoadU(d, y + c)), b = at(c + kLanes, hn::LoadU(d, y + c + kLanes));
    hn::StoreU(a, d, y + c);
    hn::StoreU(b, d, y + c + kLanes);
  }
  for (; c + kLanes <= count; c += kLanes) hn::StoreU(at(c, hn::LoadU(d, y + c)), d, y + c);
  if (c == count) return;
  V sum = load_some(y + c, count - c);
  for (std::size_t r = 0; r < kRows; ++r)
    sum = hn::MulAdd(hn::Set(d, x[r]), load_some(w + r * stride + c, count - c), sum);
  store_some(sum, y + c, count - c);
}

void multiply_row(const Product& p, const float* x, float* y, std::size_t first, std::size_t last) {
  for (std::size_t begin = first; begin < last; begin += kTile) {
    const std::size_t count = std::min(kTile, last - begin);
    std::size_t i = 0;
    for (; i + kGroup <= p.inner; i += kGroup)
      add_rows<kGroup>(x + i, p.w + i * p.columns + begin, p.columns, count, i + 2 * kGroup <= p.inner, y + begin);
    for (; i < p.inner; ++i) add_rows<1>(x + i, p.w + i * p.columns + begin, p.columns, count, false, y + begin);
  }
}

// Copies columns [begin, begin + count) of rows [row, row + rows) of w as slivers of kSliver columns, padded with
// zeros.
void pack(const Product& p, std::size_t row, std::size_t rows, std::size_t begin, std::size_t count,
          float* HWY_RESTRICT packed) {
  const D d;
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const from = p.w + (row + r) * p.columns + begin;
    for (std::size_t c = 0; c < count; c += kSliver) {
      float* const to = packed + c * rows + r * kSliver;
      for (std::size_t half = 0; half < kSliver; half += kLanes) {
        const std::size_t at = c + half;
        const V v = at + kLanes <= count ? hn::LoadU(d, from + at)
                    : at < count         ? load_some(from + at, count - at)
                                         : hn::Zero(d);
        hn::Store(v, d, to + half);
      }
    }
  }
}

// y[kRows][width] += x[kRows][inner] times a sliver.
template <std::size_t kRows>
HWY_INLINE void multiply_block(const float* x, std::size_t x_stride, std::size_t inner, const float* sliver, float* y,
                               std::size_t y_stride, std::size_t width) {
  const D d;
  V left[kRows], right[kRows];
  const std::size_t low = std::min(width, kLanes), high = width - low;
  for (std::size_t r = 0; r < kRows; ++r) {
    float* const at = y + r * y_stride;
    left[r] = low == kLanes ? hn::LoadU(d, at) : load_some(at, low);
    right[r] = high == kLanes ? hn::LoadU(d, at + kLanes) : high > 0 ? load_some(at + kLanes, high) : hn::Zero(d);
  }
  for (std::size_t i = 0; i < inner; ++i) {
    const V a = hn::Load(d, sliver + i * kSliver), b = hn::Load(d, sliver + i * kSliver + kLanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const V factor = hn::Set(d, x[r * x_stride + i]);
      left[r] = hn::MulAdd(factor, a, left[r]);
      right[r] = hn::MulAdd(factor, b, right[r]);
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    float* const at = y + r * y_stride;
    if (low == kLanes)
      hn::StoreU(left[r], d, at);
    else
      store_some(left[r], at, low);
    if (high == kLanes)
      hn::StoreU(right[r], d, at + kLanes);
    else if (high > 0)
      store_some(right[r], at + kLanes, high);
  }
}

void multiply_sliver(const Product& p, std::size_t row, std::size_t rows, const float* sliver, std::size_t begin,
                     std::size_t width) {
  std::size_t r = 0;
  const auto block = [&](auto count) HWY_ATTR {
    constexpr std::size_t kRows = decltype(count)::value;
    multiply_block<kRows>(p.x + r * p.inner + row, p.inner, rows, sliver, p.y + r * p.columns + begin, p.columns,
                          width);
    r += kRows;
  };
  while (r + kBlockRows <= p.rows) block(std::integral_constant<std::size_t, kBlockRows>());
  if (r + 3 <= p.rows) block(std::integral_constant<std::size_t, 3>());
  while (r < p.rows) block(std::integral_constant<std::size_t, 1>());
}

void multiply_rows(const Product& p, std::size_t first, std::size_t last, float* scratch) {
  for (std::size_t begin = first; begin < last; begin += kPanelColumns) {
    const std::size_t count = std::min(kPanelColumns, last - begin);
    for (std::size_t row = 0; row < p.inner; row += kPanelRows) {
      const std::size_t rows = std::min(kPanelRows, p.inner - row);
      pack(p, row, rows, begin, count, scratch);
      for (std::size_t c = 0; c < count; c += kSliver)
        multiply_sliver(p, row, rows, scratch + c * rows, begin + c, std::min(kSliver, count - c));
    }
  }
}

void start(const Product& p, float* y, std::size_t first, std::size_t last) {
  if (!p.onto && p.bias == nullptr) std::fill(y + first, y + last, 0.0f);
  if (!p.onto && p.bias != nullptr) std::copy(p.bias + first, p.bias + last, y + first);
  if (p.onto && p.bias != nullptr)
    for (std::size_t c = first; c < last; ++c) y[c] += p.bias[c];
}

void apply_gelu(float* y, std::size_t count) {
  const D d;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) hn::StoreU(gelu(d, hn::LoadU(d, y + i)), d, y + i);
  if (i < count) store_some(gelu(d, load_some(y + i, count - i)), y + i, count - i);
}

void multiply_columns(const Product& p, std::size_t first, std::size_t last, float* scratch) {
  // From this many rows of x on, copying w costs less than reading it again for each row.
  constexpr std::size_t kWorthPacking = 4;
  for (std::size_t r = 0; r < p.rows; ++r) start(p, p.y + r * p.columns, first, last);
  if (p.rows >= kWorthPacking)
    multiply_rows(p, first, last, scratch);
  else
    for (std::size_t r = 0; r < p.rows; ++r) multiply_row(p, p.x + r * p.inner, p.y + r * p.columns, first, last);
  if (p.gelu)
    for (std::size_t r = 0; r < p.rows; ++r) apply_gelu(p.y + r * p.columns + first, last - first);
}

}  // namespace
}  // namespace tiny_llama::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tiny_llama {
namespace {

HWY_EXPORT(multiply_columns);

}  // namespace

void multiply(const Product& product, std::size_t first, std::size_t last, float* scratch) {
  HWY_DYNAMIC_DISPATCH(multiply_columns)(product, first, last, scratch);
}

}  // namespace tiny_llama

#endif
