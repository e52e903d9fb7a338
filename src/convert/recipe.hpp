// Which tensor is encoded how: a Quantization applied to the tensors of one model.
#pragma once

#include <string>
#include <vector>

#include "tare/quantize.hpp"

namespace tare::recipe {

// The same numbers as a dense tensor of a plain float type.
Tensor as_plain_floats(const Tensor& tensor);

// The method for each tensor, empty where it is kept. Throws usage `convert.quant` for a method that does not exist
// or has no --range form, `quantize.rule` for a rule that fits no tensor, and what `fit_budget` throws.
std::vector<std::string> methods_for(const std::vector<Tensor>& tensors, const Quantization& how, unsigned threads);

EncodeOptions encode_options(const Quantization& how, const std::string& tensor, const std::string& method,
                             unsigned threads);

// Chooses methods for the tensors marked `open`; those of the others are given. Errors are estimated from a sample of
// every tensor's rows. Throws usage `quantize.bits` when the budget is too small for the smallest methods.
void fit_budget(const std::vector<Tensor>& tensors, const std::vector<bool>& open, const Quantization& how,
                unsigned threads, std::vector<std::string>& methods);

}  // namespace tare::recipe
