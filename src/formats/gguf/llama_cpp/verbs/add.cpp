// Verb::add: adds a number to all weights, at once rather than lazily, because norms are small.
#include <fmt/format.h>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/plain_float.hpp"
#include "tare/elements.hpp"

namespace tare::gguf::llama_cpp {
namespace {

// Attribute: (index, value) pairs, flattened, for weights that adding and subtracting the number would round.
constexpr std::string_view kRounded = "gguf.rounded";

Tensor with_values(Tensor tensor, const std::vector<float>& values) {
  Tensor result = dense<float>(tensor.name, tensor.shape, values);
  result.attributes = std::move(tensor.attributes);
  return result;
}

// Restores values that rounding changed, unless another program has changed them since.
void restore_rounded(Tensor& tensor, std::vector<float>& values, float number) {
  const Value* const kept = tensor.attributes.find(kRounded);
  const List* const pairs = kept == nullptr ? nullptr : kept->get<List>();
  for (std::size_t i = 0; pairs != nullptr && i + 1 < pairs->size(); i += 2) {
    const auto* const place = (*pairs)[i].get<std::int64_t>();
    const auto* const value = (*pairs)[i + 1].get<double>();
    if (place == nullptr || value == nullptr || *place < 0 || static_cast<std::size_t>(*place) >= values.size())
      continue;
    float& now = values[static_cast<std::size_t>(*place)];
    const auto exact = static_cast<float>(*value);
    if (exact + number - number == now) now = exact;
  }
  tensor.attributes.erase(kRounded);
}

}  // namespace

Tensor add_number(Tensor tensor, float number) {
  if (!is_plain_float(tensor))
    throw unmapped(fmt::format("{} is not of a float type, to which {} is to be added", quote(tensor.name), number));
  const std::string was(name_of(tensor.components.front().dtype));
  std::vector<float> values = tensor.values<float>();
  List rounded;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float sum = values[i] + number;
    if (sum - number != values[i]) {
      rounded.emplace_back(static_cast<std::int64_t>(i));
      rounded.emplace_back(static_cast<double>(values[i]));
    }
    values[i] = sum;
  }
  tensor = with_values(std::move(tensor), values);
  if (was != name_of(DType::f32)) tensor.attributes.set(kWasType, was);
  if (!rounded.empty()) tensor.attributes.set(kRounded, std::move(rounded));
  return tensor;
}

Tensor subtract_number(Tensor tensor, float number) {
  if (!tensor.is_dense()) return tensor;
  std::vector<float> values = tensor.values<float>();
  for (float& value : values) value -= number;
  restore_rounded(tensor, values, number);
  return with_values(std::move(tensor), values);
}

}  // namespace tare::gguf::llama_cpp
