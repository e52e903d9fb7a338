#include "view/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/checked.hpp"
#include "base/stopping.hpp"
#include "inspect/moments.hpp"
#include "tare/error.hpp"
#include "view/reading.hpp"

namespace tare::view {
namespace {

constexpr std::uint64_t kPiece = 4096, kPieces = 16;            // a sample: 16 pieces, 65,536 elements per tensor
constexpr std::uint64_t kMostSampled = std::uint64_t{1} << 28;  // elements of all tensors together, approximately
constexpr std::uint64_t kLongPiece = 32768;                     // elements read at a time
constexpr std::size_t kMostProblems = 1000;                     // messages that are kept
constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The differences of 64-bit integers that doubles would consider equal.
class IntegerDistances {
 public:
  // The differences of the elements that both read last; empty if doubles can represent them all.
  std::span<const double> between(const Reading& a, const Reading& b, std::size_t count) {
    if (!a.is_wide_integer() || !b.is_wide_integer()) return {};
    distances_.resize(count);
    for (std::size_t i = 0; i < count; ++i) distances_[i] = b.wide_integer(i).minus(a.wide_integer(i));
    return distances_;
  }

 private:
  std::vector<double> distances_;
};

// Compares `pieces` evenly spaced pieces.
Figures sample_of(const Pair& pair, std::uint64_t pieces) {
  Reading a(pair.tensor_a()), b(pair.tensor_b());
  Figures figures;
  const std::uint64_t all = a.elements();
  // Small, because there may be very many small tensors.
  const auto longest = static_cast<std::size_t>(std::min(kPiece, all));
  std::vector<double> x(longest), y(longest);
  IntegerDistances distances;
  const bool part = all > kPiece * pieces;
  if (!part) pieces = ceil_div(all, kPiece);
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    const std::uint64_t first = part && pieces > 1 ? (all - kPiece) / (pieces - 1) * piece : piece * kPiece;
    const auto count = static_cast<std::size_t>(std::min(kPiece, all - first));
    const auto left = std::span(x).first(count), right = std::span(y).first(count);
    if (!a.read(first, left) || !b.read(first, right)) break;
    figures.take(left, right, distances.between(a, b, count));
  }
  return figures;
}

Figures all_of(const Pair& pair, Progress& progress) {
  constexpr std::uint64_t kNoBound = UINT64_MAX / 2;
  Reading a(pair.tensor_a(), kNoBound), b(pair.tensor_b(), kNoBound);
  Figures figures;
  const auto longest = static_cast<std::size_t>(std::min(kLongPiece, a.elements()));
  std::vector<double> x(longest), y(longest);
  IntegerDistances distances;
  for (std::uint64_t first = 0; first < a.elements(); first += kLongPiece) {
    check_stop();
    const auto count = static_cast<std::size_t>(std::min(kLongPiece, a.elements() - first));
    const auto left = std::span(x).first(count), right = std::span(y).first(count);
    static_cast<void>(a.read(first, left));
    static_cast<void>(b.read(first, right));
    figures.take(left, right, distances.between(a, b, count));
    progress.advance(count);
  }
  return figures;
}

// Whether squares of numbers up to this size, and sums of very many of them, are representable in a double.
bool has_squares(double most) { return most == 0 || (most > 0x1p-400 && most < 0x1p400); }

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

void Figures::take(std::span<const double> a, std::span<const double> b, std::span<const double> exact) {
  count += a.size();
  double errors = 0, squares_of_a = 0, squares_of_b = 0, products = 0, most_a = 0, most_b = 0, most_error = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      const bool differs = !same_number(a[i], b[i]);
      changed += differs;
      not_finite += differs;
      continue;
    }
    const double error = exact.empty() ? b[i] - a[i] : exact[i];
    ++finite;
    changed += error != 0;
    errors += error * error;
    squares_of_a += a[i] * a[i];
    squares_of_b += b[i] * b[i];
    products += a[i] * b[i];
    most_a = std::max(most_a, std::abs(a[i]));
    most_b = std::max(most_b, std::abs(b[i]));
    most_error = std::max(most_error, std::abs(error));
  }
  largest = std::max(largest, most_error);
  if (!has_squares(most_a) || !has_squares(most_b) || !has_squares(most_error))
    return take_scaled(a, b, most_a, most_b, most_error);
  squared_error.add({errors, 0});
  squares_a.add({squares_of_a, 0});
  squares_b.add({squares_of_b, 0});
  product.add({products, 0});
}

void Figures::take_scaled(std::span<const double> a, std::span<const double> b, double most_a, double most_b,
                          double most_error) {
  // The difference of two doubles may overflow; the difference of their halves does not.
  const bool halves = std::isinf(most_error);
  const double part = halves ? 0.5 : 1;
  if (halves) most_error = most_a / 2 + most_b / 2;
  const auto unit_a = inspect::Scale::of(most_a, 0), unit_b = inspect::Scale::of(most_b, 0);
  const auto unit_error = inspect::Scale::of(most_error, 0);
  double errors = 0, squares_of_a = 0, squares_of_b = 0, products = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
    const double error = (b[i] * part - a[i] * part) * unit_error.factor;
    const double x = a[i] * unit_a.factor, y = b[i] * unit_b.factor;
    errors += error * error;
    squares_of_a += x * x;
    squares_of_b += y * y;
    products += x * y;
  }
  squared_error.add({errors, 2 * (unit_error.exponent + (halves ? 1 : 0))});
  squares_a.add({squares_of_a, 2 * unit_a.exponent});
  squares_b.add({squares_of_b, 2 * unit_b.exponent});
  product.add({products, unit_a.exponent + unit_b.exponent});
}

double Figures::share_changed() const {
  return count > 0 ? static_cast<double>(changed) / static_cast<double>(count) : 0;
}
double Figures::rms() const {
  if (not_finite > 0) return kInfinite;
  if (finite == 0) return 0;
  return std::ldexp(std::sqrt(squared_error.value / static_cast<double>(finite)), squared_error.exponent / 2);
}
double Figures::relative_rms() const { return not_finite > 0 ? kInfinite : root_of_ratio(squared_error, squares_a); }
double Figures::max_error() const { return not_finite > 0 ? kInfinite : largest; }
double Figures::cosine() const {
  if (not_finite > 0) return std::numeric_limits<double>::quiet_NaN();
  if (squares_a.value == 0 || squares_b.value == 0) return squares_a.value == squares_b.value ? 1 : 0;
  const double scaled = product.value / (std::sqrt(squares_a.value) * std::sqrt(squares_b.value));
  return std::clamp(std::ldexp(scaled, product.exponent - (squares_a.exponent + squares_b.exponent) / 2), -1.0, 1.0);
}

double root_of_ratio(const ScaledSum& a, const ScaledSum& b) {
  if (b.value == 0) return a.value > 0 ? kInfinite : 0;
  return std::ldexp(std::sqrt(a.value / b.value), (a.exponent - b.exponent) / 2);
}

Comparison::Comparison(std::shared_ptr<const Pairing> pairing)
    : pairing_(std::move(pairing)), results_(pairing_->pairs.size()) {
  const std::uint64_t pairs = std::max<std::uint64_t>(1, pairing_->pairs.size());
  sample_ = std::clamp<std::uint64_t>(kMostSampled / pairs / kPiece, 1, kPieces) * kPiece;
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const Pair& pair = pairing_->pairs[i];
    using State = Result::State;
    if (!pair.in_a() || !pair.in_b())
      results_[i].state = pair.in_a() ? State::only_a : State::only_b;
    else if (pair.tensor_a().shape != pair.tensor_b().shape)
      results_[i].state = State::shapes;
    else
      elements_ += pair.tensor_a().shape.elements().value_or(0);
  }
}

std::vector<Result> Comparison::results() const {
  const std::scoped_lock lock(mutex_);
  return results_;
}

std::string Comparison::problem(std::size_t pair) const {
  const std::scoped_lock lock(mutex_);
  const auto found =
      std::find_if(problems_.begin(), problems_.end(), [&](const auto& entry) { return entry.first == pair; });
  return found == problems_.end() ? "it cannot be decoded" : found->second;
}

void Comparison::set(std::size_t pair, const Result& result, std::string problem) {
  const std::scoped_lock lock(mutex_);
  // A sample must not replace an exact result.
  if (result.state == Result::State::sampled && results_[pair].state == Result::State::exact) return;
  if (result.state == Result::State::failed && results_[pair].state != Result::State::failed &&
      problems_.size() < kMostProblems)
    problems_.emplace_back(pair, std::move(problem));
  results_[pair] = result;
}

template <typename Compare>
void Comparison::run(const Compare& compare) {
  for (std::size_t i = 0; i < pairing_->pairs.size(); ++i) {
    check_stop();
    const Pair& pair = pairing_->pairs[i];
    if (!pair.in_a() || !pair.in_b() || pair.tensor_a().shape != pair.tensor_b().shape) continue;
    try {
      const Figures figures = compare(pair);
      const bool all = figures.count == pair.tensor_a().shape.elements().value_or(0);
      set(i, {all ? Result::State::exact : Result::State::sampled, figures});
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::usage || error.kind() == ErrorKind::io) throw;  // stopped, or a file changed
      set(i, {Result::State::failed, {}}, std::string(error.sentence()));
    }
  }
}

void Comparison::run_sample(Progress& progress) {
  progress.expect(pairing_->pairs.size());
  run([&](const Pair& pair) {
    progress.advance(1);
    return sample_of(pair, sample_ / kPiece);
  });
}

void Comparison::run_exact(Progress& progress) {
  progress.expect(elements_);
  run([&](const Pair& pair) { return all_of(pair, progress); });
}

}  // namespace tare::view
