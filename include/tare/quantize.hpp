// How the float matrices of a model are to be encoded, and what that cost.
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
#include "tare/format.hpp"

namespace tare {

// In place of a method: leave the tensor as it is.
inline constexpr std::string_view kKeep = "keep";

using Importance = std::map<std::string, std::vector<float>, std::less<>>;

// A recipe: which method for which tensor. Matrices of a float type (coded ones included, which are decoded first)
// are encoded; everything else is kept.
struct Quantization {
  std::string method = {};  // for tensors that no rule names, a mix (mixes()) or a float type; empty: they are kept
  // A glob over names, and a method, the name of a float type ("f16") or kKeep; the first that matches decides.
  std::vector<std::pair<std::string, std::string>> rules = {};
  // In place of `method`: for each tensor one of the codecs that have Codec::budget and that the target holds, or none,
  // so that the sum of squared errors is least while the tensors of the whole model take at most this many bits per weight.
  std::optional<double> bits = {};
  bool fast = false, range = false;  // see EncodeOptions
  bool pure = false;                 // of a mix only its main method, for all tensors that it quantizes
  bool no_fallback = false;          // refuse tensors whose rows do not fit the method (Codec::row_multiple)
  std::optional<std::pair<float, float>> clip = {};  // likewise
  Importance importance = {};                        // weights of columns by tensor name; others: all alike

  bool empty() const { return method.empty() && rules.empty() && !bits; }
};

// A mix of methods: more bits for the tensors where they matter most, by what they are for and where in the model. The
// names and what they stand for are llama.cpp's. Some names are those of a method, too (q4_0): for all tensors they mean the
// mix, in a rule the method. "ggml.q4_0" is always the method.
struct Mix {
  std::string_view name;   // "q4_k_m"
  std::string_view title;  // for people
};
[[nodiscard]] TARE_API std::span<const Mix> mixes();

// One tensor of a quantized model, in the order they were written.
struct TARE_API TensorOutcome {
  std::string name;
  std::string type;  // what `ls` calls it now: "mcf.k4", "bf16"
  std::uint64_t elements = 0, bytes = 0;
  bool encoded = false;
  // What was lost; null for tensors that were kept, not `complete` for methods that do not measure it.
  std::shared_ptr<const EncodeReport> report;

  double bits_per_weight() const;
};

// The tensors of a file as weights of columns: each a vector, or a matrix of one row, of non-negative numbers.
// Throws `importance.*`.
[[nodiscard]] TARE_API Importance read_importance(const std::string& path, const ReadOptions& options = {});

}  // namespace tare
