#pragma once

#include "convert/steps/fit_rest.hpp"
#include "convert/steps/unplaced.hpp"
#include "formats/format.hpp"

namespace tare {

// The part of fit_rest for files: makes the files that the target needs, and replaces those that it cannot hold by
// config and vocabulary, or refuses them.
void fit_files(Model& model, const Format& target, const AdaptOptions& options, Unplaced& refused,
               std::vector<Change>& lines, std::vector<LostKeys>& lost);

// Reports files that were dropped before others were made in their place, which the model has now.
void report_dropped(const std::vector<Attachment>& files, const Model& model, std::vector<Change>& lines,
                    std::vector<LostKeys>& lost);

}  // namespace tare
