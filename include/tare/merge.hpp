// Adapters (LoRA) added to the weights that they are for.
#pragma once

#include <string>
#include <vector>

#include "tare/change.hpp"
#include "tare/convert.hpp"
#include "tare/export.hpp"
#include "tare/model.hpp"

namespace tare {

// The model with an adapter, as PEFT writes them, added to its weights. Sums are computed in f32 and rounded once to the type
// of the weight; packed weights become f32. Everything is lazy, a few rows at a time. `changes` gets what was done.
// Throws `lora.config`, `lora.method`, `lora.pattern` and `lora.tensor` for an adapter that is not understood, `lora.target`
// for a weight that the model does not have, and `lora.pair`, `lora.rank`, `lora.shape` and `lora.type` for tensors that do
// not fit each other.
[[nodiscard]] TARE_API Model merge_adapter(Model model, const Model& adapter, std::vector<Change>& changes);

// `convert`, with the adapters at these paths added one after the other.
[[nodiscard]] TARE_API Conversion convert_merged(const std::string& input, const std::vector<std::string>& adapters,
                                                 const std::string& output, const ConvertOptions& options = {});

}  // namespace tare
