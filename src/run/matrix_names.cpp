#include "run/matrix_names.hpp"

#include <cstdint>

#include "arch/names.hpp"

namespace tare::run {

using arch::Dialect;
using arch::Role;

std::string matrix_name(const Plan& plan, const Weight& weight) {
  const auto name = arch::parse(*plan.family, Dialect::hugging_face, weight.tensor.name);
  const auto spelled = name ? arch::spell(*plan.family, Dialect::gguf, *name) : std::nullopt;
  return spelled.value_or(weight.tensor.name);
}

std::string stack_name(const Plan& plan, Role role, std::size_t layer, const Weight& weight) {
  return arch::spell(*plan.family, Dialect::gguf, {.role = role, .layer = static_cast<std::uint32_t>(layer)})
      .value_or(weight.tensor.name);
}

std::vector<std::string> calibrated_names(const arch::Family* family, const std::string& tensor) {
  std::vector<std::string> names = {tensor};
  if (family == nullptr) return names;
  for (const Dialect dialect : arch::kDialects) {
    auto name = arch::parse(*family, dialect, tensor);
    if (!name) continue;
    if (name->role == Role::expert_gate) name->role = Role::stacked_gate;
    if (name->role == Role::expert_up) name->role = Role::stacked_up;
    if (name->role == Role::expert_down) name->role = Role::stacked_down;
    // Half of such a stack is as much as the other.
    if (name->role == Role::stacked_gate_up) name->role = Role::stacked_gate;
    name->expert.reset(), name->root = arch::Root::model;
    if (auto spelled = arch::spell(*family, Dialect::gguf, *name)) names.push_back(std::move(*spelled));
  }
  return names;
}

}  // namespace tare::run
