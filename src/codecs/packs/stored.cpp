#include "codecs/packs/stored.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "codecs/packs/pack.hpp"
#include "codecs/packs/stated.hpp"

namespace tare::codec::packs {
namespace {

std::optional<PlacedArray> placed_array(const Component& component, const Map& arrays) {
  const Value* const entry = arrays.find(component.role);
  const Map* const facts = entry == nullptr ? nullptr : entry->get<Map>();
  if (facts == nullptr) return std::nullopt;
  const Value* const name = facts->find("name");
  const Value* const dimensions = facts->find("shape");
  const auto at = stated_count(*facts, "at");
  if (name == nullptr || name->text() == nullptr || name->text()->empty() || dimensions == nullptr ||
      dimensions->get<List>() == nullptr || !at)
    return std::nullopt;
  Shape shape;
  for (const Value& value : *dimensions->get<List>()) {
    const auto* const dimension = value.get<std::int64_t>();
    if (dimension == nullptr || *dimension < 0 || shape.size() == 64) return std::nullopt;
    shape.push_back(static_cast<std::uint64_t>(*dimension));
  }
  const auto elements = shape.elements();
  const auto bytes = elements ? checked_mul(*elements, size_of(component.dtype)) : std::nullopt;
  if (!bytes || *bytes != component.blob.size()) return std::nullopt;
  return PlacedArray{dense(*name->text(), std::move(shape), component.dtype, component.blob, component.type), *at};
}

// The index of the codes, which are the first component. The joined tensor took their place.
std::uint64_t place_of_codes(const Tensor& tensor) {
  const Map& arrays = *tensor.attributes.find(kArrays)->get<Map>();
  return *stated_count(*arrays.find(tensor.components.front().role)->get<Map>(), "at");
}

}  // namespace

std::optional<std::vector<PlacedArray>> placed_arrays(const Tensor& tensor) {
  const Value* const value = tensor.is_dense() ? nullptr : tensor.attributes.find(kArrays);
  const Map* const arrays = value == nullptr ? nullptr : value->get<Map>();
  if (arrays == nullptr || arrays->size() != tensor.components.size()) return std::nullopt;
  const Codec* const codec = find_codec(tensor.layout);
  if (codec == nullptr || std::ranges::find(codec->parameters, kArrays) == codec->parameters.end()) return std::nullopt;
  std::vector<PlacedArray> placed;
  for (const Component& component : tensor.components) {
    auto array = placed_array(component, *arrays);
    if (!array) return std::nullopt;
    placed.push_back(std::move(*array));
  }
  std::ranges::stable_sort(placed, {}, &PlacedArray::at);
  return placed;
}

bool is_joined(const Tensor& tensor) { return placed_arrays(tensor).has_value(); }

bool has_joined(const Model& model) { return std::ranges::any_of(model.tensors, is_joined); }

std::vector<Tensor> arrays_of(const Tensor& tensor) {
  std::vector<Tensor> arrays;
  if (auto placed = placed_arrays(tensor))
    for (PlacedArray& array : *placed) arrays.push_back(std::move(array.array));
  return arrays;
}

void separate(Model& model) {
  if (!has_joined(model)) return;
  // Arrays have their original index; the other tensors keep their order.
  std::vector<PlacedArray> placed;
  std::vector<Tensor> others, in_place;
  // The index of each tensor's codes, and the number of other tensors before it.
  std::vector<std::pair<std::uint64_t, std::size_t>> codes;
  for (Tensor& tensor : model.tensors) {
    if (auto arrays = placed_arrays(tensor)) {
      codes.emplace_back(place_of_codes(tensor), others.size());
      for (PlacedArray& array : *arrays) {
        in_place.push_back(array.array);
        placed.push_back(std::move(array));
      }
    } else {
      in_place.push_back(tensor);
      others.push_back(std::move(tensor));
    }
  }
  std::ranges::stable_sort(placed, {}, &PlacedArray::at);
  const std::size_t count = placed.size() + others.size();
  bool fits = placed.back().at < count;
  for (std::size_t i = 1; i < placed.size(); ++i) fits = fits && placed[i - 1].at < placed[i].at;
  for (const auto& [place, before] : codes) {
    const auto own = std::ranges::lower_bound(placed, place, {}, &PlacedArray::at);
    fits = fits && place - static_cast<std::uint64_t>(own - placed.begin()) == before;
  }
  // If tensors were omitted or added, the indices no longer fit: the arrays go where their tensor was.
  if (!fits) {
    model.tensors = std::move(in_place);
    return;
  }
  model.tensors.clear();
  model.tensors.reserve(count);
  auto other = others.begin();
  for (auto array = placed.begin(); model.tensors.size() < count;)
    if (array != placed.end() && array->at == model.tensors.size())
      model.tensors.push_back(std::move((array++)->array));
    else
      model.tensors.push_back(std::move(*other++));
}

StoredForm::StoredForm(const Model& model) : given_(model) {
  if (!has_joined(model)) return;
  separated_ = model;
  separate(*separated_);
}

}  // namespace tare::codec::packs
