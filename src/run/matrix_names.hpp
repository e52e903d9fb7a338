// What calibrations call the matrices of a model: as GGUF does, whatever container the model is in.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "arch/families.hpp"
#include "run/plan.hpp"

namespace tare::run {

// As a directory does, if GGUF has no name for it.
std::string matrix_name(const Plan& plan, const Weight& weight);
// The name of a stack of experts.
std::string stack_name(const Plan& plan, arch::Role role, std::size_t layer, const Weight& weight);
// The names that a tensor may have in a calibration. `family`: null if it is not known.
std::vector<std::string> calibrated_names(const arch::Family* family, const std::string& tensor);

}  // namespace tare::run
