#pragma once

#include "convert/steps/fit_rest.hpp"
#include "convert/steps/unplaced.hpp"

namespace tare {

// The part of fit_rest that is about files: those that the target wants are made, those that it has no place for are
// replaced by config and vocabulary, or refused.
void fit_files(Model& model, const Format& target, const AdaptOptions& options, Unplaced& refused,
               std::vector<Change>& lines, std::vector<LostKeys>& lost);

}  // namespace tare
