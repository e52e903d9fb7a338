#include "inspect/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/endian.hpp"

namespace tare::inspect {
namespace {

// Several lanes, here and below: the additions need not wait for each other, and sums lose less to rounding.
constexpr std::size_t kLanes = 8;

double largest_of(std::span<const double> values) {
  std::array<double, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double v = std::abs(values[i + lane]);
      lanes[lane] = v > lanes[lane] ? v : lanes[lane];
    }
  for (; i < values.size(); ++i) lanes[0] = std::max(lanes[0], std::abs(values[i]));
  return *std::max_element(lanes.begin(), lanes.end());
}

// Multiplies by a power of two so that the largest is about 1; returns the exponent that reverses it.
int scale_down(std::span<double> values) {
  int exponent = 0;
  std::frexp(largest_of(values), &exponent);
  exponent = std::max(exponent, -1000);  // the scale itself must stay finite
  const double scale = std::ldexp(1.0, -exponent);
  for (double& v : values) v *= scale;
  return exponent;
}

double dot(std::span<const double> a, std::span<const double> b) {
  std::array<double, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= a.size(); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  for (std::size_t lane = 0; i < a.size(); ++i, ++lane) lanes[lane] += a[i] * b[i];
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

bool all_finite(std::span<const double> values) {
  std::array<double, kLanes> lanes{};  // finite numbers times 0 add up to 0; others to NaN
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane] * 0;
  for (; i < values.size(); ++i) lanes[0] += values[i] * 0;
  return std::all_of(lanes.begin(), lanes.end(), [](double v) { return v == 0; });
}

double distance_of(std::uint64_t a, std::uint64_t b, bool is_signed) {
  // Flipping the sign bit maps signed order to unsigned order and keeps distances.
  const std::uint64_t flip = is_signed ? std::uint64_t{1} << 63 : 0;
  const std::uint64_t x = a ^ flip, y = b ^ flip;
  return static_cast<double>(x > y ? x - y : y - x);
}

}  // namespace

void ScaledSum::add(const ScaledSum& other) {
  if (other.value == 0) return;
  const int top = value == 0 ? other.exponent : std::max(exponent, other.exponent);
  value = std::ldexp(value, exponent - top) + std::ldexp(other.value, other.exponent - top);
  exponent = top;
}

void Comparison::merge(const Comparison& other) {
  different += other.different;
  if (!first) first = other.first;
  max_abs = std::max(max_abs, other.max_abs);
  squared_distances.add(other.squared_distances);
  aa.add(other.aa);
  bb.add(other.bb);
  ab.add(other.ab);
}

double Comparison::rms(std::uint64_t values) const {
  if (std::isinf(max_abs)) return max_abs;
  if (values == 0) return 0;
  return std::ldexp(std::sqrt(squared_distances.value / static_cast<double>(values)), squared_distances.exponent / 2);
}

double Comparison::relative_rms() const {
  if (std::isinf(max_abs) || squared_distances.value == 0) return max_abs;
  if (aa.value == 0) return std::numeric_limits<double>::infinity();
  return std::ldexp(std::sqrt(squared_distances.value / aa.value), (squared_distances.exponent - aa.exponent) / 2);
}

double Comparison::cosine() const {
  if (std::isinf(max_abs)) return std::numeric_limits<double>::quiet_NaN();
  if (aa.value == 0 && bb.value == 0) return 1;
  if (aa.value == 0 || bb.value == 0) return 0;
  const double unscaled = ab.value / (std::sqrt(aa.value) * std::sqrt(bb.value));
  return std::clamp(std::ldexp(unscaled, ab.exponent - (aa.exponent + bb.exponent) / 2), -1.0, 1.0);
}

void RunComparer::note(Comparison& out, std::uint64_t element, double distance) {
  element /= per_element_;
  // Parts of a complex number are adjacent, so comparing with the last counted element is enough.
  if (out.different == 0 || last_ != element) ++out.different;
  last_ = element;
  if (!out.first) out.first = element;
  if (std::isnan(distance)) distance = std::numeric_limits<double>::infinity();
  out.max_abs = std::max(out.max_abs, distance);
  if (std::isfinite(distance)) distance_[distance_count_++] = distance;
}

// Fast path without a branch per element: real numbers that are all finite, with finite distances. Returns nothing for
// others.
std::optional<Comparison> RunComparer::compare_finite(std::span<const double> a, std::span<const double> b,
                                                      std::uint64_t at) {
  if (per_element_ != 1) return std::nullopt;
  std::uint64_t different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    distance_[i] = std::abs(a[i] - b[i]);
    different += a[i] != b[i];
  }
  kept_ = distance_count_ = a.size();
  const std::span<const double> distances(distance_.data(), distance_count_);
  if (!all_finite(distances)) return std::nullopt;
  Comparison out;
  out.different = different;
  if (different > 0)
    out.first = at + static_cast<std::uint64_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  out.max_abs = largest_of(distances);
  std::copy(a.begin(), a.end(), a_.begin());
  std::copy(b.begin(), b.end(), b_.begin());
  sum_up(out);
  return out;
}

Comparison RunComparer::compare(std::span<const double> a, std::span<const double> b, std::uint64_t at) {
  if (const auto finite = compare_finite(a, b, at)) return *finite;
  Comparison out;
  kept_ = distance_count_ = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i], y = b[i];
    a_[kept_] = x;
    b_[kept_] = y;
    kept_ += std::isfinite(x) && std::isfinite(y);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    note(out, at + i, std::abs(x - y));
  }
  sum_up(out);
  return out;
}

Comparison RunComparer::compare_integers(std::span<const double> a, std::span<const double> b,
                                         std::span<const std::byte> raw_a, std::span<const std::byte> raw_b,
                                         bool is_signed, std::uint64_t at) {
  Comparison out;
  distance_count_ = 0;
  kept_ = a.size();
  std::copy(a.begin(), a.end(), a_.begin());
  std::copy(b.begin(), b.end(), b_.begin());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = load_le<std::uint64_t>(raw_a.data() + i * 8), y = load_le<std::uint64_t>(raw_b.data() + i * 8);
    if (x != y) note(out, at + i, distance_of(x, y, is_signed));
  }
  sum_up(out);
  return out;
}

void RunComparer::sum_up(Comparison& out) {
  const std::span a(a_.data(), kept_), b(b_.data(), kept_), distances(distance_.data(), distance_count_);
  const int ea = scale_down(a), eb = scale_down(b), ed = scale_down(distances);
  out.aa = {dot(a, a), 2 * ea};
  out.bb = {dot(b, b), 2 * eb};
  out.ab = {dot(a, b), ea + eb};
  out.squared_distances = {dot(distances, distances), 2 * ed};
}

}  // namespace tare::inspect
