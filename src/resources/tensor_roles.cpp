#include "resources/tensor_roles.hpp"

#include <algorithm>

namespace tare::resources {
namespace {

constexpr std::string_view kEmbeddings[] = {"embed_tokens.weight", "wte.weight",      "word_embeddings.weight",
                                            "shared.weight",       "embed_in.weight", "tok_embeddings.weight"};
// BERT's decoder, and RoBERTa's, are the heads of masked language models.
constexpr std::string_view kHeads[] = {"lm_head.weight", "embed_out.weight", "output.weight",
                                       "predictions.decoder.weight", "lm_head.decoder.weight"};

// A whole part of the name: "xwte.weight" is not "wte.weight".
bool ends_in(std::string_view name, std::string_view end) {
  return name.ends_with(end) && (name.size() == end.size() || name[name.size() - end.size() - 1] == '.');
}

}  // namespace

bool is_embedding(std::string_view name) {
  return std::ranges::any_of(kEmbeddings, [&](std::string_view end) { return ends_in(name, end); });
}

bool is_head(std::string_view name) {
  return std::ranges::any_of(kHeads, [&](std::string_view end) { return ends_in(name, end); });
}

std::optional<bool> ties_embeddings(const Model& model) {
  if (std::ranges::none_of(model.tensors, [](const Tensor& tensor) { return is_embedding(tensor.name); }))
    return std::nullopt;
  return std::ranges::none_of(model.tensors, [](const Tensor& tensor) { return is_head(tensor.name); });
}

}  // namespace tare::resources
