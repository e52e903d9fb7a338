// Verb::add: adds a number to all weights, at once rather than lazily, because norms are small.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/plain_float.hpp"
#include "tare/elements.hpp"

namespace tare::gguf::llama_cpp {
namespace {

// Attribute: (index, value) pairs, flattened, for weights that changing and restoring them would round.
constexpr std::string_view kRounded = "gguf.rounded";

template <typename T>
Tensor with_values(Tensor tensor, const std::vector<T>& values) {
  Tensor result = dense<T>(tensor.name, tensor.shape, values);
  result.attributes = std::move(tensor.attributes);
  return result;
}

bool same_bits(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

// A number in the attribute. One that a text of decimals may not keep (NaN, zero with a sign) is an integer: its bits.
Value kept_number(float number) {
  if (std::isnan(number) || number == 0) return static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(number));
  return static_cast<double>(number);
}
std::optional<float> number_kept_as(const Value& value) {
  if (const auto* const number = value.get<double>()) return static_cast<float>(*number);
  const auto* const bits = value.get<std::int64_t>();
  if (bits == nullptr || *bits < 0 || *bits > UINT32_MAX) return std::nullopt;
  return std::bit_cast<float>(static_cast<std::uint32_t>(*bits));
}

// Restores values that rounding changed, unless another program has changed them since.
void restore_rounded(Tensor& tensor, std::vector<float>& values, const OfNumber& change, const OfNumber& back) {
  const Value* const kept = tensor.attributes.find(kRounded);
  const List* const pairs = kept == nullptr ? nullptr : kept->get<List>();
  for (std::size_t i = 0; pairs != nullptr && i + 1 < pairs->size(); i += 2) {
    const auto* const place = (*pairs)[i].get<std::int64_t>();
    const auto exact = number_kept_as((*pairs)[i + 1]);
    if (place == nullptr || !exact || *place < 0 || static_cast<std::size_t>(*place) >= values.size()) continue;
    float& now = values[static_cast<std::size_t>(*place)];
    if (back(change(*exact)) == now || (std::isnan(*exact) && std::isnan(now))) now = *exact;
  }
  tensor.attributes.erase(kRounded);
}

// For a tensor of f64 with numbers that f32 does not have. The sum is rounded to f32 when all tensors are cast, which
// is reported; so nothing is kept for the inverse.
Tensor add_in_f64(Tensor tensor, double number) {
  std::vector<double> values = tensor.values<double>();
  for (double& value : values) value += number;
  return with_values(std::move(tensor), values);
}

}  // namespace

Tensor changed_numbers(Tensor tensor, const OfNumber& change, const OfNumber& back) {
  const std::string was(name_of(tensor.components.front().dtype));
  std::vector<float> values = tensor.values<float>();
  List rounded;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float now = change(values[i]);
    if (!same_bits(back(now), values[i])) {
      rounded.emplace_back(static_cast<std::int64_t>(i));
      rounded.push_back(kept_number(values[i]));
    }
    values[i] = now;
  }
  tensor = with_values(std::move(tensor), values);
  if (was != name_of(DType::f32)) tensor.attributes.set(kWasType, was);
  if (!rounded.empty()) tensor.attributes.set(kRounded, std::move(rounded));
  return tensor;
}

Tensor restored_numbers(Tensor tensor, const OfNumber& change, const OfNumber& back) {
  std::vector<float> values = tensor.values<float>();
  for (float& value : values) value = back(value);
  restore_rounded(tensor, values, change, back);
  return with_values(std::move(tensor), values);
}

Tensor add_number(Tensor tensor, float number) {
  if (!is_plain_float(tensor))
    throw unmapped(fmt::format("{} is not of a float type, to which {} is to be added", quote(tensor.name), number));
  if (!fits(tensor, DType::f32)) return add_in_f64(std::move(tensor), number);
  return changed_numbers(
      std::move(tensor), [=](float value) { return value + number; }, [=](float sum) { return sum - number; });
}

Tensor subtract_number(Tensor tensor, float number) {
  if (!tensor.is_dense()) return tensor;
  if (is_plain_float(tensor) && !fits(tensor, DType::f32)) return add_in_f64(std::move(tensor), -double{number});
  return restored_numbers(
      std::move(tensor), [=](float value) { return value + number; }, [=](float sum) { return sum - number; });
}

}  // namespace tare::gguf::llama_cpp
