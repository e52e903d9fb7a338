// The parts of a model as JSON, for the output of verbs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_stream.hpp"
#include "tare/model.hpp"

namespace tare::cli {

// The JSON objects that several verbs print; their form is stable.
void write_vocabulary(JsonWriter& json, const Vocabulary& vocabulary);
void write_attachments(JsonWriter& json, const Model& model);
// `file` is the opened file; a component in another file names that. `broken`: the tensor's error.
void write_tensor(JsonWriter& json, const Tensor& tensor, std::string_view file, const Error* broken = nullptr);
// Writes the key "remedies": a list of pairs, of the remedy's name and its argument.
void write_remedies(JsonWriter& json, const std::vector<Advice>& remedies);
// Returns {"error": {...}}, which takes the place of a result. `text` is the sentence for people, as on standard error;
// `file` is used if the error itself has no file.
std::string error_json(const Error& error, std::string_view text, std::string_view file = {});

}  // namespace tare::cli
