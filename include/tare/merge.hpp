// Adds adapters (LoRA) to the weights of a model. `convert`, plans and the command use ConvertOptions::merge.
#pragma once

#include <string>
#include <vector>

#include "tare/change.hpp"
#include "tare/export.hpp"
#include "tare/model.hpp"

namespace tare {

// Returns the model with a PEFT adapter added to its weights. Sums are computed in f32 and rounded once to the type of
// the weight; packed weights become f32. Everything is lazy, a few matrix rows at a time. Appends what was done to
// `changes`. Throws `lora.config`, `lora.method`, `lora.pattern` and `lora.tensor` for an adapter that Tare does not
// understand, `lora.target` for a weight that the model does not have, and `lora.pair`, `lora.rank`, `lora.shape` and
// `lora.type` for tensors that do not fit each other.
[[nodiscard]] TARE_API Model merge_adapter(Model model, const Model& adapter, std::vector<Change>& changes);

}  // namespace tare
