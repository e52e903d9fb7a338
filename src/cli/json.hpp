// The parts of a model as JSON, for the output of verbs.
#pragma once

#include <string_view>

#include "base/json_stream.hpp"
#include "tare/model.hpp"

namespace tare::cli {

// The JSON objects that several verbs print; their form is stable.
void write_vocabulary(JsonWriter& json, const Vocabulary& vocabulary);
void write_attachments(JsonWriter& json, const Model& model);
// `file` is the opened file; a component in another file names that. `broken`: the tensor's error.
void write_tensor(JsonWriter& json, const Tensor& tensor, std::string_view file, const Error* broken = nullptr);

}  // namespace tare::cli
