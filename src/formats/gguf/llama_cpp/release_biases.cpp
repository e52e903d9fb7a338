// Completes the biases of a model on the way back to Hugging Face's classes, which have all of a group or none.
#include <fmt/format.h>

#include <algorithm>

#include "arch/model_classes.hpp"
#include "base/glob.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/gguf/llama_cpp/conventions.hpp"
#include "tare/elements.hpp"

namespace tare::gguf::llama_cpp {
namespace {

using arch::Dialect;
using arch::Role;
using arch::TensorName;

// Gives all matrices of these roles a bias if any of them has one. Returns how many it added.
std::size_t add_zeros(Model& model, const arch::Family& family, std::span<const Role> roles) {
  NameViewMap<const Tensor*> tensors;
  const Tensor* some = nullptr;
  std::vector<std::pair<const Tensor*, TensorName>> weights;
  for (const Tensor& tensor : model.tensors) {
    tensors.emplace(tensor.name, &tensor);
    const auto name = arch::parse(family, Dialect::hugging_face, tensor.name);
    if (!name || std::ranges::find(roles, name->role) == roles.end()) continue;
    if (name->suffix == arch::Suffix::weight)
      weights.emplace_back(&tensor, *name);
    else if (tensor.is_dense())
      some = &tensor;
  }
  if (some == nullptr) return 0;
  const DType type = some->components.front().dtype;
  std::vector<Tensor> zeros;
  for (auto& [weight, name] : weights) {
    name.suffix = arch::Suffix::bias;
    const std::string bias = arch::spell(family, Dialect::hugging_face, name).value_or("");
    if (bias.empty() || tensors.contains(bias) || weight->shape.rank() != 2 || weight->shape[1] == 0) continue;
    const std::vector<float> values(static_cast<std::size_t>(weight->shape[0]));
    zeros.push_back(cast(dense<float>(bias, {weight->shape[0]}, values), type));
  }
  std::ranges::move(zeros, std::back_inserter(model.tensors));
  return zeros.size();
}

}  // namespace

// llama.cpp accepts any of these biases. A class has all of a group, or none; a bias of zeros means that there is
// none. A bias that the class does not have at all is an error: without it, the model computes something else.
void complete_biases(Model& model, const arch::Family& family, std::vector<Change>& changes,
                     const std::vector<Renamed>& renamed) {
  const arch::ModelClass& type = arch::class_of(model.config.model_type.value_or(""));
  std::vector<Role> known;
  std::size_t zeros = 0;
  for (const arch::BiasGroup& group : type.biases) {
    for (const Role role : group.roles) known.push_back(role);  // GCC 12 warns about an insertion of all of them
    zeros += add_zeros(model, family, group.roles);
  }
  if (zeros > 0)
    changes.push_back({.impact = Impact::detail,
                       .detail = fmt::format("{} biases of zeros were added: config.json cannot say that only some "
                                             "matrices have biases",
                                             zeros)});
  std::vector<std::string> unread;
  for (const Tensor& tensor : model.tensors) {
    const auto name = arch::parse(family, Dialect::hugging_face, tensor.name);
    if (name && name->suffix == arch::Suffix::bias && std::ranges::find(known, name->role) == known.end())
      unread.push_back(tensor.name);
  }
  if (unread.empty()) return;
  // In the names of the input, which the option uses.
  const auto origin = std::ranges::find(renamed, unread.front(), &Renamed::after);
  const std::string glob = unread.size() > 1         ? (known.empty() ? "*.bias" : "")
                           : origin == renamed.end() ? ""
                                                     : escape_glob(origin->before);
  throw Error(ErrorKind::unsupported, "convert.surplus",
              fmt::format("a {} model of transformers has no such biases, and would compute something else: {}",
                          model.config.model_type.value_or(""), listed_names(unread, 4)))
      .blame(Subject::input)
      .remedy(Remedy::skip, glob)
      .remedy(Remedy::keep_names);
}

}  // namespace tare::gguf::llama_cpp
