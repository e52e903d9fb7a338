// Products of a matrix with a panel, for every SIMD target.
//
// A block of sums stays in registers: kRows elements of a column of the matrix, times two vectors of the panel. The
// panel's part of a product (depth x 32 floats) is small enough for the L1 or L2 cache and is used by all rows.
#include "base/simd_targets.hpp"
#include "run/kernels.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/simd_products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tare::run::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
// A panel has whole pairs of vectors.
using D = hn::CappedTag<float, kPanel / 2>;
using V = hn::Vec<D>;
constexpr std::size_t kLanes = hn::MaxLanes(D());
static_assert(kPanel % (2 * kLanes) == 0);

// The sums use nearly all registers; a few are left for the panel and the element of the matrix.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr std::size_t kMostRows = 12;
#else
constexpr std::size_t kMostRows = 6;
#endif

// `kStep`: the distance of two elements of a row of w. `kAdds`: to what y has.
template <std::size_t kRows, std::size_t kStep, bool kAdds>
HWY_INLINE void add_block(const float* HWY_RESTRICT w, std::size_t stride, std::size_t depth,
                          const float* HWY_RESTRICT x, float* HWY_RESTRICT y) {
  const D d;
  for (std::size_t c = 0; c < kPanel; c += 2 * kLanes) {
    V left[kRows], right[kRows];
    for (std::size_t r = 0; r < kRows; ++r) left[r] = right[r] = hn::Zero(d);
    for (std::size_t k = 0; k < depth; ++k) {
      const V a = hn::LoadU(d, x + k * kPanel + c), b = hn::LoadU(d, x + k * kPanel + c + kLanes);
      for (std::size_t r = 0; r < kRows; ++r) {
        const V factor = hn::Set(d, w[r * stride + k * kStep]);
        left[r] = hn::MulAdd(factor, a, left[r]);
        right[r] = hn::MulAdd(factor, b, right[r]);
      }
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      float* const at = y + r * kPanel + c;
      if constexpr (kAdds) {
        left[r] = hn::Add(hn::LoadU(d, at), left[r]);
        right[r] = hn::Add(hn::LoadU(d, at + kLanes), right[r]);
      }
      hn::StoreU(left[r], d, at);
      hn::StoreU(right[r], d, at + kLanes);
    }
  }
}

template <std::size_t kStep, bool kAdds = true>
void add_rows(const float* w, std::size_t stride, std::size_t rows, std::size_t depth, const float* x, float* y) {
  std::size_t r = 0;
  const auto block = [&](auto count) HWY_ATTR {
    constexpr std::size_t kRows = decltype(count)::value;
    add_block<kRows, kStep, kAdds>(w + r * stride, stride, depth, x, y + r * kPanel);
    r += kRows;
  };
  while (r + kMostRows <= rows) block(std::integral_constant<std::size_t, kMostRows>());
  if (kMostRows > 8 && r + 8 <= rows) block(std::integral_constant<std::size_t, 8>());
  if (r + 4 <= rows) block(std::integral_constant<std::size_t, 4>());
  if (r + 2 <= rows) block(std::integral_constant<std::size_t, 2>());
  while (r < rows) block(std::integral_constant<std::size_t, 1>());
}

void add_plain(const float* w, std::size_t stride, std::size_t rows, std::size_t depth, const float* x, float* y) {
  add_rows<1>(w, stride, rows, depth, x, y);
}

void set_plain(const float* w, std::size_t stride, std::size_t rows, std::size_t depth, const float* x, float* y) {
  add_rows<1, false>(w, stride, rows, depth, x, y);
}

void add_columns(const float* w, std::size_t rows, std::size_t depth, const float* x, float* y) {
  add_rows<kPanel>(w, 1, rows, depth, x, y);
}

}  // namespace
}  // namespace tare::run::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare::run {
namespace {

HWY_EXPORT(add_plain);
HWY_EXPORT(set_plain);
HWY_EXPORT(add_columns);

}  // namespace

void add_product(const float* w, std::size_t stride, std::size_t rows, std::size_t depth, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(add_plain)(w, stride, rows, depth, x, y);
}

void set_product(const float* w, std::size_t stride, std::size_t rows, std::size_t depth, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(set_plain)(w, stride, rows, depth, x, y);
}

void add_transposed(const float* w, std::size_t rows, std::size_t depth, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(add_columns)(w, rows, depth, x, y);
}

}  // namespace tare::run

#endif
