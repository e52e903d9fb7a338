#include "view/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/checked.hpp"
#include "base/stopping.hpp"
#include "tare/error.hpp"
#include "view/reading.hpp"

namespace tare::view {
namespace {

constexpr std::uint64_t kPiece = 4096, kPieces = 16;            // of a sample: 65,536 elements of a tensor
constexpr std::uint64_t kMostSampled = std::uint64_t{1} << 28;  // elements of all tensors together, about
constexpr std::uint64_t kLongPiece = 32768;                     // elements read at a time
constexpr std::size_t kMostProblems = 1000;                     // sentences that are kept

// Pieces evenly spread.
Figures sample_of(const Pair& pair, std::uint64_t pieces) {
  Reading a(pair.tensor_a), b(pair.tensor_b);
  Figures figures;
  const std::uint64_t all = a.elements();
  std::vector<double> x(kPiece), y(kPiece);
  const bool part = all > kPiece * pieces;
  if (!part) pieces = ceil_div(all, kPiece);
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    const std::uint64_t first = part && pieces > 1 ? (all - kPiece) / (pieces - 1) * piece : piece * kPiece;
    const auto count = static_cast<std::size_t>(std::min(kPiece, all - first));
    const auto left = std::span(x).first(count), right = std::span(y).first(count);
    if (!a.read(first, left) || !b.read(first, right)) break;
    figures.take(left, right);
  }
  return figures;
}

Figures all_of(const Pair& pair, Progress& progress) {
  constexpr std::uint64_t kNoBound = UINT64_MAX / 2;
  Reading a(pair.tensor_a, kNoBound), b(pair.tensor_b, kNoBound);
  Figures figures;
  std::vector<double> x(kLongPiece), y(kLongPiece);
  for (std::uint64_t first = 0; first < a.elements(); first += kLongPiece) {
    check_stop();
    const auto count = static_cast<std::size_t>(std::min(kLongPiece, a.elements() - first));
    const auto left = std::span(x).first(count), right = std::span(y).first(count);
    static_cast<void>(a.read(first, left));
    static_cast<void>(b.read(first, right));
    figures.take(left, right);
    progress.advance(count);
  }
  return figures;
}

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

void Figures::take(std::span<const double> a, std::span<const double> b) {
  count += a.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      changed += !same_number(a[i], b[i]);
      continue;
    }
    const double error = b[i] - a[i];
    ++finite;
    changed += error != 0;
    squared_error += error * error;
    squares_a += a[i] * a[i];
    squares_b += b[i] * b[i];
    product += a[i] * b[i];
    largest = std::max(largest, std::abs(error));
  }
}

double Figures::share_changed() const {
  return count > 0 ? static_cast<double>(changed) / static_cast<double>(count) : 0;
}
double Figures::rms() const { return finite > 0 ? std::sqrt(squared_error / static_cast<double>(finite)) : 0; }
double Figures::relative_rms() const { return squares_a > 0 ? std::sqrt(squared_error / squares_a) : 0; }
double Figures::cosine() const {
  const double norms = std::sqrt(squares_a) * std::sqrt(squares_b);
  const double found = norms > 0 ? std::min(1.0, product / norms) : squares_a == squares_b ? 1 : 0;
  return std::isfinite(found) ? found : 0;
}

Comparison::Comparison(std::shared_ptr<const Pairing> pairing)
    : pairing_(std::move(pairing)), results_(pairing_->pairs.size()) {
  const std::uint64_t pairs = std::max<std::uint64_t>(1, pairing_->pairs.size());
  sample_ = std::clamp<std::uint64_t>(kMostSampled / pairs / kPiece, 1, kPieces) * kPiece;
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const Pair& pair = pairing_->pairs[i];
    using State = Result::State;
    if (!pair.in_a || !pair.in_b)
      results_[i].state = pair.in_a ? State::only_a : State::only_b;
    else if (pair.tensor_a.shape != pair.tensor_b.shape)
      results_[i].state = State::shapes;
    else
      elements_ += pair.tensor_a.shape.elements().value_or(0);
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
  // A sample does not take the place of what is known.
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
    if (!pair.in_a || !pair.in_b || pair.tensor_a.shape != pair.tensor_b.shape) continue;
    try {
      const Figures figures = compare(pair);
      const bool all = figures.count == pair.tensor_a.shape.elements().value_or(0);
      set(i, {all ? Result::State::exact : Result::State::sampled, figures});
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::usage || error.kind() == ErrorKind::io) throw;  // stopped; a file that changed
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
