// Conversion to the conventions that llama.cpp expects (names, row orders and types of tensors, keys, the tokenizer),
// and back to those of Hugging Face: the functions that the row of the container (gguf.cpp) needs.
#pragma once

#include "formats/gguf/keys.hpp"

namespace tare::gguf::llama_cpp {

// See Format.
void adopt(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed);
void release(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed);
bool follows(const Model& model);
std::size_t count_released(const Model& model);
// Returns whether llama.cpp needs the tensor as f32: vectors, norms and routers.
bool wants_f32(const Model& model, const Tensor& tensor);
// Sets general.file_type, by which llama.cpp names a model's mix of types.
void retyped(Model& model, bool own, std::string_view mix);

// See MetadataRules.
bool owns_key(const Model& model, std::string_view key);
bool describes_model(const Model& model, std::string_view key);
// Drops the attached files of the tokenizer if tokenizer.ggml.pre names another way to split text than `before`, the
// value that it had, and than these files.
void drop_other_cuts(Model& model, const Value& before);

}  // namespace tare::gguf::llama_cpp
