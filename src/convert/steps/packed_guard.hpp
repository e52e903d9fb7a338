// Prevents codes of weights that are already quantized from being taken for weights.
#pragma once

#include <optional>
#include <string>

#include "codecs/packs/packing.hpp"
#include "formats/format.hpp"
#include "tare/convert.hpp"

namespace tare {

class PackedGuard {
 public:
  // Throws `convert.packed` if a cast or a quantization is asked for and the model's weights are codes.
  PackedGuard(const Model& model, const AdaptOptions& options);
  // Throws `convert.packed` for codes: a target without their type would store them as wider floats, which its readers
  // would take for weights. `index`: of the tensor in the model.
  void refuse_widening(std::size_t index, const Tensor& tensor, const Format& target) const;

 private:
  codec::packs::Found found_;
  std::optional<codec::packs::Packing> packing_;
};

// Why the numbers of a tensor of the model are codes and not weights, for a message; empty if they are not codes.
std::string why_codes(const Model& model, const Tensor& tensor);

}  // namespace tare
