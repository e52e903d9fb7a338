// How to encode the float matrices of a model, and what that cost.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tare/codec.hpp"
#include "tare/export.hpp"
#include "tare/open.hpp"

namespace tare {

// Used instead of a method: keep the tensor unchanged.
inline constexpr std::string_view kKeep = "keep";

using Importance = std::map<std::string, std::vector<float>, std::less<>>;

// A recipe: which method for which tensor. Matrices of a float type are encoded (encoded matrices are decoded first);
// everything else is kept.
struct Quantization {
  // The method, mix (mixes()) or float type for tensors that no rule matches; empty: they are kept.
  std::string method = {};
  // A glob over names, and a method, the name of a float type ("f16") or kKeep; the first match decides.
  std::vector<std::pair<std::string, std::string>> rules = {};
  // Instead of `method`: at most this many bits per weight for all tensors of the model. Chooses, for each tensor, one
  // of the codecs with Codec::budget that the target holds, or none, such that the sum of squared errors is least.
  std::optional<double> bits = {};
  bool fast = false, range = false;  // see EncodeOptions
  bool pure = false;                 // use only the main method of a mix, for all tensors it quantizes
  bool no_fallback = false;          // refuse tensors whose rows do not fit the method (Codec::row_multiple)
  std::optional<std::pair<float, float>> clip = {};  // see EncodeOptions
  Importance importance = {};                        // weights of columns by tensor name; others: all equal

  bool empty() const { return method.empty() && rules.empty() && !bits; }
};

// A mix of methods: more bits for the tensors that matter most, according to their purpose and position in the model.
// The names and their meanings are llama.cpp's. Some are also names of a method (q4_0): for all tensors they mean the
// mix, in a rule the method. "ggml.q4_0" is always the method.
struct Mix {
  std::string_view name;   // "q4_k_m"
  std::string_view title;  // for people
};
[[nodiscard]] TARE_API std::span<const Mix> mixes();

// One tensor of a quantized model; outcomes are in the order of writing.
struct TARE_API TensorOutcome {
  std::string name;
  std::string type;  // the type that `ls` shows now: "mcf.k4", "bf16"
  std::uint64_t elements = 0, bytes = 0;
  bool encoded = false;
  // What was lost; null for kept tensors, not `complete` for methods that do not measure it.
  std::shared_ptr<const EncodeReport> report;

  double bits_per_weight() const;
};

// Reads the tensors of a file as weights of columns: each a vector, or a matrix with one row, of non-negative numbers.
// Throws `importance.*`.
[[nodiscard]] TARE_API Importance read_importance(const std::string& path, const ReadOptions& options = {});

}  // namespace tare
