// What two models differ in, tensor by tensor: from a sample of each first, then, if somebody wants it, from every value. The
// thread of a job fills it while requests look at it, so everything goes through its functions.
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

// Sums over the elements of two tensors, in units that hold them: a double has numbers whose squares it has not.
struct Figures {
  std::uint64_t count = 0, changed = 0;  // elements looked at; those that differ, NaN against a number included
  std::uint64_t finite = 0;              // in both; the sums are over these
  std::uint64_t not_finite = 0;          // of those that differ, the ones where either is NaN or infinite
  ScaledSum squared_error, squares_a, squares_b, product;
  double largest = 0;

  // `exact`: what the second has more, where doubles are not all of a number; empty where they are.
  void take(std::span<const double> a, std::span<const double> b, std::span<const double> exact = {});
  double share_changed() const;
  // Infinite where anything became NaN or infinite, or was: no error that is finite says so.
  double rms() const;
  double relative_rms() const;  // against the first; infinite where there is an error and the first is all zeros
  double max_error() const;
  double cosine() const;  // NaN where the others are infinite for that reason

 private:
  void take_scaled(std::span<const double> a, std::span<const double> b, double most_a, double most_b,
                   double most_error);
};

// The root of a ratio of two sums of squares; without a second infinite, without either 0.
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
  // Elements of a tensor that the sample takes: fewer where there are very many tensors.
  std::uint64_t sample() const { return sample_; }
  // Of all pairs, in their order.
  std::vector<Result> results() const;
  // Why a pair could not be compared.
  std::string problem(std::size_t pair) const;

  // Elements that both have, in tensors of one shape.
  std::uint64_t elements() const { return elements_; }
  // A part of every tensor; then all of every one, in bounded memory. Advance by elements. Throw what stopping throws.
  void run_sample(Progress& progress);
  void run_exact(Progress& progress);

 private:
  void set(std::size_t pair, const Result& result, std::string problem = {});
  template <typename Compare>
  void run(const Compare& compare);

  std::shared_ptr<const Pairing> pairing_;
  std::uint64_t sample_ = 0, elements_ = 0;
  mutable std::mutex mutex_;  // of what follows
  std::vector<Result> results_;
  std::vector<std::pair<std::size_t, std::string>> problems_;  // of the first that failed
};

}  // namespace tare::view
