// Adapts a model to a container.
#pragma once

#include <vector>

#include "formats/format.hpp"
#include "tare/save.hpp"

namespace tare {

struct Adapted {
  Model model;
  std::vector<Change> changes;          // what had to change; to_text makes a sentence of each
  std::vector<TensorOutcome> outcomes;  // one per tensor if `quant` was asked for; complete after writing
  std::vector<LostKeys> lost;
};

// Returns the model as `target` can hold it. What the target cannot hold is converted losslessly, carried in private
// keys if the target has them, or refused with the tensor's name and a remedy; never dropped silently.
[[nodiscard]] Adapted adapt(Model model, const Format& target, const AdaptOptions& options = {}, const Work& work = {});

}  // namespace tare
