// The files of a Hugging Face directory that containers carry as attachments, and what they say: the
// hyper-parameters of config.json, the vocabulary of tokenizer.json, vocab.json + merges.txt or tokenizer.model.
#pragma once

#include "tare/error.hpp"
#include "tare/model.hpp"

namespace tare::resources {

// Fills what is still empty of `model.config` and `model.vocabulary` from the attachments that describe them. A file
// that does not parse is reported as a warning naming it: it is carried along all the same.
void describe(Model& model, Diagnostics& diagnostics);

}  // namespace tare::resources
