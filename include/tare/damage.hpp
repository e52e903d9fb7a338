// Measures how much each matrix of a model matters: how far the predictions change if the matrix has an error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/calibrate.hpp"
#include "tare/export.hpp"
#include "tare/model.hpp"
#include "tare/quantize.hpp"
#include "tare/run.hpp"

namespace tare::run {

// By GGUF's names of the matrices: the KL divergence, in nats, for each unit of relative squared error. The error of a
// column is weighted by what the column is multiplied with, as in a calibration.
using Damage = std::map<std::string, double, std::less<>>;

struct DamageOptions {
  Options run = {};
  // The most runs of a part of the model. Matrices of the same kind in neighbouring layers share one.
  std::uint64_t runs = 64;
  // The most tokens; more than fit into memory together are not used.
  std::uint64_t tokens = 512;
};

// Adds noise of known size to matrices, a group of them at a time, and compares the predictions with those
// without noise. Throws what calibrate() throws.
[[nodiscard]] TARE_API Damage measure_damage(const Scorer& scorer, std::span<const std::int32_t> tokens,
                                             const Calibration& calibration, const DamageOptions& options = {});
// For the tokens of a text.
[[nodiscard]] TARE_API Damage measure_damage(const Scorer& scorer, std::string_view text,
                                             const Calibration& calibration, const DamageOptions& options = {});

// In the file of a calibration, as tensors NAME.damage.
TARE_API void add_damage(Model& importance, const Damage& damage);
// What a file has; empty if it has none. Throws corrupt `importance.value` and `importance.shape`.
[[nodiscard]] TARE_API Damage read_damage(const std::string& path, const ReadOptions& options = {});

// Why a tensor got its method.
struct ChosenMethod {
  std::string tensor;  // as the target names it
  std::string method;  // empty: it is kept
  std::uint64_t elements = 0, bytes = 0;
  double relative_error = 0;  // weighted, squared
  double damage = 0;          // expected, in nats
  // The next smaller and larger choices: their methods ("keep" for none), bytes and damage.
  struct Neighbour {
    std::string method;
    std::uint64_t bytes = 0;
    double damage = 0;
  };
  std::optional<Neighbour> smaller, larger;
};

// Chooses a method for each float matrix of the model, so that all tensors of the target take at most `how.bits` bits for
// each weight on average, and the expected damage is least. What `how` decides by its rules stays. Matrices without damage
// count as much as those of their kind do on average. Throws what a conversion with `how` throws; usage `quantize.damage`
// if no matrix of the model has any.
[[nodiscard]] TARE_API std::vector<ChosenMethod> choose_by_damage(const Model& model, std::string_view target,
                                                                  const Quantization& how, const Damage& damage,
                                                                  const Work& work = {});
// The same recipe with a rule for each tensor instead of the bits.
[[nodiscard]] TARE_API Quantization with_choice(Quantization how, std::span<const ChosenMethod> chosen);

}  // namespace tare::run
