// Experts in 4-bit floats (MXFP4) as transformers' own classes read them: the arrays NAME_blocks and NAME_scales, one
// tensor for all experts of a layer.
#pragma once

#include <string_view>

#include "tare/model.hpp"

namespace tare::codec::packs {

// The layout of the joined tensor, and the `quant_method` that config.json states.
inline constexpr std::string_view kExpertArrays = "mxfp4";
// The roles of the joined tensor's components. Other programs' arrays of the same layout have other roles.
inline constexpr std::string_view kExpertCodes = "blocks", kExpertExponents = "scales";

inline bool are_expert_arrays(const Tensor& tensor) {
  return tensor.layout == kExpertArrays && tensor.component(kExpertCodes) != nullptr;
}

}  // namespace tare::codec::packs
