// Verb::stack: the tensors of all experts of a layer as one.
#include <fmt/format.h>

#include <algorithm>

#include "base/budget.hpp"
#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/joined_blob.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tare/slice.hpp"

namespace tare::gguf::llama_cpp {
namespace {

// Returns whether the two can be parts of one tensor.
bool are_alike(const Tensor& a, const Tensor& b) {
  return a.shape == b.shape && a.layout == b.layout && a.components.size() == 1 &&
         a.components.front().dtype == b.components.front().dtype &&
         a.components.front().type == b.components.front().type && has_whole_rows(a);
}

Tensor stacked(const std::map<std::uint32_t, Tensor>& experts) {
  const Tensor& first = experts.begin()->second;
  std::vector<Blob> blobs;
  for (const auto& [number, tensor] : experts) {
    if (number != blobs.size() || !are_alike(tensor, first))
      throw unmapped(fmt::format(
          "{} cannot be put together with the other experts: one is missing, or they differ in shape or type",
          quote(tensor.name)));
    blobs.push_back(tensor.components.front().blob);
  }
  Tensor all = first;
  all.shape = Shape();
  all.shape.push_back(blobs.size());
  for (const std::uint64_t dimension : first.shape) all.shape.push_back(dimension);
  all.components.front().blob = joined_blob(std::move(blobs));
  return all;
}

}  // namespace

void Stacks::add(Tensor tensor, const arch::TensorName& name, arch::Role all) {
  experts_[{name.layer, all}][name.expert.value_or(0)] = std::move(tensor);
}

void Stacks::finish(const Made& made) {
  std::size_t count = 0;
  for (const auto& [key, experts] : experts_) count = std::max(count, experts.size());
  for (const auto& [key, experts] : experts_) {
    if (experts.size() != count)
      throw unmapped(fmt::format("only {} of {} experts exist, {} among them", experts.size(), count,
                                 quote(experts.begin()->second.name)));
    std::vector<std::string> names;
    for (const auto& [number, tensor] : experts) names.push_back(tensor.name);
    made(stacked(experts), {.role = key.second, .layer = key.first}, names);
  }
}

std::vector<Tensor> unstack(const Tensor& tensor) {
  if (tensor.shape.rank() != 3)
    throw no_way_back(fmt::format("Hugging Face's name for {} is not known", quote(tensor.name)));
  // Only elements bound the count: a stack without elements could state 2^33 experts in a few bytes.
  if (tensor.shape.elements().value_or(0) == 0)
    throw no_way_back(fmt::format("{} is a stack of {} experts without elements", quote(tensor.name), tensor.shape[0]));
  // A small file may state millions: a few bits, or compressed bytes, are an expert. Each is a tensor here, two names in
  // the report, and an entry of the new file.
  charge_values(count_unstacked(tensor) * 4 * kTensorPrice);
  const Tensor all = to_dense(tensor);
  std::vector<Tensor> experts;
  for (std::uint64_t expert = 0; expert < all.shape[0]; ++expert)
    experts.push_back(slice(all, parse_slice(fmt::format("{}", expert))));
  return experts;
}

std::size_t count_unstacked(const Tensor& tensor) {
  if (tensor.shape.rank() != 3 || tensor.shape.elements().value_or(0) == 0) return 0;
  return static_cast<std::size_t>(tensor.shape[0]);
}

}  // namespace tare::gguf::llama_cpp
