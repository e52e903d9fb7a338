// The small models of `tare demo`, which are the same on every machine.
#pragma once

#include "base/embedded_file.hpp"
#include "tare/model.hpp"

namespace tare::cli {

// Every storage type, every logical type, every layout, metadata, a configuration, a vocabulary and an attachment.
Model demo_model();
// For the container that holds no other architecture.
Model tiny_llama_model();
// A small Mistral like a downloaded one, with its files.
Model mistral_model();
// A LoRA adapter for it, of one matrix.
Model lora_model();
// The files in the folder mistral: config.json, generation_config.json, and the pieces of the vocabulary.
std::vector<EmbeddedFile> mistral_files();

}  // namespace tare::cli
