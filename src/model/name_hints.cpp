#include "model/name_table.hpp"

namespace tare {
namespace {

auto names_of(const std::vector<Tensor>& tensors) {
  return [&tensors](std::size_t i) -> std::string_view { return tensors[i].name; };
}

auto names_of(const std::vector<BrokenTensor>& broken) {
  return [&broken](std::size_t i) -> std::string_view { return broken[i].tensor.name; };
}

}  // namespace

NameHints::NameHints() noexcept = default;
NameHints::NameHints(const NameHints& /*other*/) noexcept {}
NameHints& NameHints::operator=(const NameHints& /*other*/) noexcept { return *this; }
NameHints::~NameHints() = default;

const Tensor* Model::tensor(std::string_view name) const {
  const std::size_t at = NameLookup::find(hints, name, tensors.size(), names_of(tensors));
  if (at != kNoPosition) return &tensors[at];
  for (const BrokenTensor& b : broken)
    if (b.tensor.name == name) throw b.error;
  return nullptr;
}

TensorIndex::TensorIndex(const Model& model)
    : model_(&model),
      tensors_(std::make_shared<const NameTable>(model.tensors.size(), names_of(model.tensors))),
      broken_(std::make_shared<const NameTable>(model.broken.size(), names_of(model.broken))) {}

const Tensor* TensorIndex::tensor(std::string_view name) const {
  const std::size_t at = tensors_->find(name, model_->tensors.size(), names_of(model_->tensors));
  if (at != kNoPosition) return &model_->tensors[at];
  const std::size_t broken = broken_->find(name, model_->broken.size(), names_of(model_->broken));
  if (broken != kNoPosition) throw model_->broken[broken].error;
  return nullptr;
}

}  // namespace tare
