#include "formats/safetensors/types.hpp"

#include "formats/safetensors/safetensors.hpp"

namespace tare::safetensors {

const HeaderType* find_type(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const HeaderType& t) { return t.name == name; });
  return found == std::end(kTypes) ? nullptr : found;
}

const HeaderType* type_of(const Tensor& tensor) {
  if (tensor.components.size() != 1) return nullptr;
  const Component& only = tensor.components.front();
  const auto* const found = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const HeaderType& t) {
    return t.storage == only.dtype && t.type == only.type && t.layout == tensor.layout && t.role == only.role;
  });
  return found == std::end(kTypes) ? nullptr : found;
}

}  // namespace tare::safetensors
