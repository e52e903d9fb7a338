// The tower of a multimodal model: a file of its own for llama.cpp (see towers.cpp).
#pragma once

#include <vector>

#include "arch/towers.hpp"
#include "formats/gguf/llama_cpp/conventions.hpp"
#include "formats/towers.hpp"

namespace tare::gguf::llama_cpp {

// Removes the tensors of the tower, and reports them.
void leave_out_tower(Model& model, const arch::Tower& tower, std::vector<Change>& changes);
// Returns whether leave_out_tower removed tensors of the model.
bool lacks_tower(const Model& model);
// Removes the files that describe model and tower together: the text model is to be one of its own.
void forget_tower(Model& model, std::vector<Change>& changes);

// See TowerConventions.
Model adopt_tower(const Model& model, std::vector<Change>& changes);
void join_tower(Model& model, Model tower, std::vector<Change>& changes);

}  // namespace tare::gguf::llama_cpp
