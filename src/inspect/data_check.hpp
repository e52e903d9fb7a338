// The part of `verify` that reads every byte of a model: digests, encodings, data rules of the codecs, NaN and Inf.
// Private to the inspect layer; tests use it on models made in memory.
#pragma once

#include <vector>

#include "tare/error.hpp"
#include "tare/model.hpp"
#include "tare/progress.hpp"

namespace tare::inspect {

Finding finding_of(Severity severity, const Error& error);

// The findings in the order of the tensors, then of the attachments, for any number of threads. Never throws because of
// the data. `progress` counts decoded bytes.
std::vector<Finding> check_data(const Model& model, unsigned threads, Progress* progress);

}  // namespace tare::inspect
