// Keeps codes of weights that are quantized already from being taken for weights.
#pragma once

#include <optional>
#include <string>

#include "resources/packed.hpp"
#include "tare/convert.hpp"

namespace tare {

class PackedGuard {
 public:
  // Throws `convert.packed` where a cast or a quantization is asked for and the model's weights are codes.
  PackedGuard(const Model& model, const AdaptOptions& options);
  // Throws `convert.packed` for codes: a target without their type would store them as wider floats, which its readers
  // would take for weights. `index`: in the model.
  void refuse_widening(std::size_t index, const Tensor& tensor, const Format& target) const;

 private:
  std::optional<resources::Packed> packed_;
};

// Why the numbers of a tensor of the model are codes of weights, and no weights, for a sentence; empty: they are not codes.
std::string why_codes(const Model& model, const Tensor& tensor);

}  // namespace tare
