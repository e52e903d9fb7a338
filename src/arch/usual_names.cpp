#include "arch/usual_names.hpp"

#include <algorithm>

#include "arch/names.hpp"

namespace tare::arch {
namespace {

constexpr std::string_view kEmbeddings[] = {"embed_tokens.weight", "wte.weight",       "word_embeddings.weight",
                                            "shared.weight",       "embed_in.weight",  "tok_embeddings.weight",
                                            "token_embd.weight",   "embeddings.weight"};
// The decoders of BERT and RoBERTa are the heads of masked language models.
constexpr std::string_view kHeads[] = {"lm_head.weight", "embed_out.weight", "output.weight",
                                       "predictions.decoder.weight", "lm_head.decoder.weight"};
constexpr std::string_view kEmbeddingGlobs[] = {"*embed_tokens.weight",    "*tok_embeddings.weight", "*wte.weight",
                                                "*word_embeddings.weight", "*embed_in.weight",       "embedding.weight",
                                                "token_embd.weight",       "*.embeddings.weight",    "shared.weight",
                                                "*.shared.weight"};
constexpr std::string_view kHeadGlobs[] = {"lm_head.weight", "*.lm_head.weight", "output.weight", "embed_out.weight"};

// Compares whole parts of the name: "xwte.weight" is not "wte.weight". Tensors of a layer are excluded
// (attention.output.weight of a Tiny Llama).
bool is_one_of(std::span<const std::string_view> endings, std::string_view name) {
  const auto ends = [&](std::string_view end) {
    return name.ends_with(end) && (name.size() == end.size() || name[name.size() - end.size() - 1] == '.');
  };
  return std::ranges::any_of(endings, ends) && !is_in_layer(role_of(name));
}

}  // namespace

bool is_embedding(std::string_view name) { return is_one_of(kEmbeddings, name); }

bool is_head(std::string_view name) { return is_one_of(kHeads, name); }

bool is_norm(std::string_view name) {
  if (const Role role = role_of(name); role != Role::other) return is_norm(role);
  for (const std::string_view suffix : {".weight", ".bias"}) {
    if (!name.ends_with(suffix)) continue;
    const std::string_view module = name.substr(0, name.size() - suffix.size());
    const std::string_view last = module.substr(module.rfind('.') + 1);
    return last.ends_with("norm") || last.ends_with("Norm") || last.starts_with("ln_");
  }
  return false;
}

std::span<const std::string_view> embedding_globs() { return kEmbeddingGlobs; }
std::span<const std::string_view> head_globs() { return kHeadGlobs; }

std::optional<bool> ties_embeddings(const Model& model) {
  if (std::ranges::none_of(model.tensors, [](const Tensor& tensor) { return is_embedding(tensor.name); }))
    return std::nullopt;
  return std::ranges::none_of(model.tensors, [](const Tensor& tensor) { return is_head(tensor.name); });
}

}  // namespace tare::arch
