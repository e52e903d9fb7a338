// The differences between two models, per tensor: first estimated from a sample of each tensor, then, on request,
// computed from every value. A job's thread fills the results while requests read them, so all access goes through
// member functions.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "inspect/compare.hpp"
#include "tare/progress.hpp"
#include "view/pairing.hpp"

namespace tare::view {

using inspect::ScaledSum;

// Sums over the elements of two tensors. They are scaled, because the square of a double can overflow or underflow.
struct Figures {
  std::uint64_t count = 0, changed = 0;  // elements compared; those that differ, including NaN against a number
  std::uint64_t finite = 0;              // elements finite in both tensors; the sums are over these
  std::uint64_t not_finite = 0;          // differing elements of which at least one is NaN or infinite
  ScaledSum squared_error, squares_a, squares_b, product;
  double largest = 0;

  // `exact`: the differences b - a, for integers that doubles cannot represent; empty if doubles suffice.
  void take(std::span<const double> a, std::span<const double> b, std::span<const double> exact = {});
  double share_changed() const;
  // Infinite if any differing element is NaN or infinite in either tensor: no finite error would express that.
  double rms() const;
  // Relative to the first tensor; infinite if there is an error and the first is all zeros.
  double relative_rms() const;
  double max_error() const;
  double cosine() const;  // NaN if `not_finite` > 0

 private:
  void take_scaled(std::span<const double> a, std::span<const double> b, double most_a, double most_b,
                   double most_error);
};

// The square root of a / b, two sums of squares. If b is 0: infinite, or 0 if a is 0 too.
double root_of_ratio(const ScaledSum& a, const ScaledSum& b);

struct Result {
  enum class State : std::uint8_t { waiting, only_a, only_b, shapes, sampled, exact, failed };
  State state = State::waiting;
  Figures figures;
  bool compared() const { return state == State::sampled || state == State::exact; }
};

class Comparison {
 public:
  explicit Comparison(std::shared_ptr<const Pairing> pairing);

  const Pairing& pairing() const { return *pairing_; }
  // Elements sampled per tensor; fewer if there are very many tensors.
  std::uint64_t sample() const { return sample_; }
  // The results of all pairs, in the order of the pairing.
  std::vector<Result> results() const;
  // The reason why a pair could not be compared.
  std::string problem(std::size_t pair) const;

  // Elements in the tensors that both models have with the same shape.
  std::uint64_t elements() const { return elements_; }
  // `run_sample` compares a part of each tensor, `run_exact` every value, in bounded memory. Progress counts elements.
  // Both throw if stopped.
  void run_sample(Progress& progress);
  void run_exact(Progress& progress);

 private:
  void set(std::size_t pair, const Result& result, std::string problem = {});
  template <typename Compare>
  void run(const Compare& compare);

  std::shared_ptr<const Pairing> pairing_;
  std::uint64_t sample_ = 0, elements_ = 0;
  mutable std::mutex mutex_;  // guards the members below
  std::vector<Result> results_;
  std::vector<std::pair<std::size_t, std::string>> problems_;  // only the first kMostProblems failures
};

}  // namespace tare::view
