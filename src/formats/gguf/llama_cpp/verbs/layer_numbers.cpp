// Verb::to_key: numbers of a layer that a program trains are tensors; GGUF's runtime reads them from keys.
#include <fmt/format.h>

#include "base/half.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/plain_float.hpp"
#include "resources/json_file.hpp"
#include "tare/elements.hpp"

namespace tare::gguf::llama_cpp {
namespace {

// Metadata: the type that the tensors of each key had.
constexpr std::string_view kNumberTypes = "gguf.numbers";

std::optional<DType> number_type(const Model& model, std::string_view key) {
  const Value* const kept = model.metadata.find(kNumberTypes);
  const Map* const types = kept == nullptr ? nullptr : kept->get<Map>();
  const std::string* const said = types == nullptr ? nullptr : resources::get<std::string>(*types, key);
  return said == nullptr ? std::nullopt : parse_dtype(*said);
}

const List* number_list(const Model& model, const arch::Step& step) {
  const Value* const found = model.metadata.find(step.key);
  const List* const list = found == nullptr ? nullptr : found->get<List>();
  if (list == nullptr) return nullptr;
  for (const Value& one : *list)
    if (!resources::number_of(one)) return nullptr;
  return list;
}

}  // namespace

void LayerNumbers::add(const Tensor& tensor, const arch::TensorName& name, const arch::Step& step) {
  if (!is_plain_float(tensor) || tensor.shape.elements() != 1U || !fits(tensor, DType::f32))
    throw unmapped(fmt::format("{}: expected one number that f32 can hold, found the shape {}", quote(tensor.name),
                               tensor.shape.text()));
  const std::string type(name_of(tensor.components.front().dtype));
  const auto [found, is_new] = keys_.try_emplace(std::string(step.key), Numbers{{}, type});
  if (found->second.type != type) found->second.type.clear();
  found->second.of_layers[name.layer.value_or(0)] = static_cast<double>(tensor.values<float>().front());
}

void LayerNumbers::finish(Model& model, std::uint32_t layers) {
  Map types;
  for (const auto& [key, numbers] : keys_) {
    List list;
    for (const auto& [layer, number] : numbers.of_layers) {
      if (layer != list.size()) break;
      list.emplace_back(decimal_double(f64_to_f32(number)));
    }
    if (list.size() != layers)
      throw unmapped(
          fmt::format("{}: expected a number for each of {} layers, found {}", key, layers, numbers.of_layers.size()));
    model.metadata.set(key, std::move(list));
    if (!numbers.type.empty()) types.append(key, numbers.type);
  }
  if (!types.empty()) model.metadata.set(std::string(kNumberTypes), std::move(types));
}

std::vector<Tensor> tensors_of_key(const Model& model, const arch::Step& step) {
  // The class has numbers of its own for those that a file lacks, or its tensors are missed by name.
  if (model.metadata.find(step.key) == nullptr) return {};
  const List* const list = number_list(model, step);
  if (list == nullptr) throw no_way_back(fmt::format("the key {}: expected a number for each layer", step.key));
  const auto type = number_type(model, step.key);
  std::vector<Tensor> tensors;
  for (const Value& one : *list) {
    const std::vector<float> number = {static_cast<float>(resources::number_of(one).value_or(0))};
    Tensor tensor = dense<float>("", step.number == 0 ? Shape{} : Shape{1}, number);
    if (type && is_float(*type) && fits(tensor, *type)) tensor = cast(tensor, *type);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::size_t count_of_key(const Model& model, const arch::Step& step) {
  const List* const list = number_list(model, step);
  return list == nullptr ? 0 : list->size();
}

}  // namespace tare::gguf::llama_cpp
