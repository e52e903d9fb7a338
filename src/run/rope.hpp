// Rotary positions: by which angles the pairs of a head are rotated, from config.json's rope_parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tare::run {

// How one kind of layers rotates: the numbers of config.json. Those that a kind does not use are unset.
struct Rope {
  std::string kind;         // "default", "linear", "dynamic", "yarn", "longrope", "llama3"
  double theta = 10000;     // the base of the wavelengths
  std::size_t rotated = 0;  // elements of a head that are rotated: an even number
  double context = 0;       // max_position_embeddings
  double original = 0;      // the context of the training: original_max_position_embeddings
  std::optional<double> factor = {}, attention_factor = {}, beta_fast = {}, beta_slow = {}, mscale = {},
                        mscale_all = {}, low_frequency = {}, high_frequency = {};
  bool truncates = true;
  std::vector<double> long_factors = {}, short_factors = {};  // one for each pair

  friend bool operator==(const Rope&, const Rope&) = default;
};

// Returns what is wrong with the numbers of a kind; empty if nothing is.
std::string problem_of(const Rope& rope);

struct Rotation {
  std::vector<float> frequencies;  // the angle of a pair per position
  float scale = 1;                 // factor for cosines and sines
};
// For a text of this many tokens: "dynamic" and "longrope" depend on it. The numbers have no problem.
Rotation rotation_of(const Rope& rope, std::uint64_t tokens);

// Latent attention: by which the scores are multiplied, because rotation stretches only a part of each head.
float latent_stretch(const Rope& rope);

}  // namespace tare::run
