// The parts of a model as JSON: what the verbs print for programs.
#pragma once

#include <string_view>

#include "base/json_stream.hpp"
#include "tare/model.hpp"

namespace tare::cli {

// The parts of the contract that several verbs print.
void write_vocabulary(JsonWriter& json, const Vocabulary& vocabulary);
void write_attachments(JsonWriter& json, const Model& model);
// `file` is the file that was opened; a component that lies in another one names it.
// `broken`: what is wrong with it.
void write_tensor(JsonWriter& json, const Tensor& tensor, std::string_view file, const Error* broken = nullptr);

}  // namespace tare::cli
