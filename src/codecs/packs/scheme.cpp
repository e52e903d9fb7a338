#include "codecs/packs/scheme.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/printable.hpp"

namespace tare::codec::packs {

bool Scheme::is_named_as_codes(std::string_view tensor, std::string_view type) const {
  return !by_statement && tensor.size() > codes().size() && tensor.ends_with(codes()) &&
         std::ranges::find(types, type) != types.end();
}

bool is_plain_array(const Tensor& tensor) {
  return tensor.is_dense() && tensor.components.size() == 1 && tensor.components.front().role == "data" &&
         tensor.attributes.empty();
}

NamedTensors::NamedTensors(const Model& model) : model_(model) {
  at_.reserve(model.tensors.size());
  for (std::size_t i = 0; i < model.tensors.size(); ++i) at_.emplace(model.tensors[i].name, i);
}

const Tensor* NamedTensors::find(std::string_view stem, std::string_view ending) const {
  const auto found = at_.find(std::string(stem).append(ending));
  return found == at_.end() ? nullptr : &model_.tensors[found->second];
}

std::size_t NamedTensors::index_of(const Tensor& tensor) const {
  return static_cast<std::size_t>(&tensor - model_.tensors.data());
}

Set::Set(const NamedTensors& tensors, const Scheme& scheme, const Tensor& codes, const Stated& stated)
    : tensors_(tensors),
      scheme_(scheme),
      codes_(codes),
      stated_(stated),
      stem_(codes.name, 0, codes.name.size() - scheme.codes().size()) {}

const Member* Set::member(std::string_view role) const {
  const auto found = std::ranges::find(scheme_.members, role, &Member::role);
  return found == scheme_.members.end() ? nullptr : &*found;
}

const Tensor* Set::find_ending(std::string_view ending) const {
  const Tensor* const found = tensors_.find(stem_, ending);
  return found != nullptr && is_plain_array(*found) ? found : nullptr;
}

const Map* Set::stated_facts() const {
  const Value* const weights = scheme_.by_statement ? stated_.config.find("weights") : nullptr;
  const Map* const all = weights == nullptr ? nullptr : weights->get<Map>();
  const Value* const own = all == nullptr ? nullptr : all->find(codes_.name);
  return own == nullptr ? nullptr : own->get<Map>();
}

const Tensor* Set::find_stated(std::string_view role) const {
  const Map* const facts = stated_facts();
  const Value* const name = facts == nullptr ? nullptr : facts->find(role);
  return name == nullptr || name->text() == nullptr ? nullptr : tensors_.find(*name->text(), "");
}

const Tensor* Set::find_beside() const {
  return scheme_.by_statement ? find_stated(scheme_.members[scheme_.beside].role)
                              : tensors_.find(stem_, scheme_.beside_ending());
}

const Tensor* Set::find(std::string_view role) const {
  const Member* const found = member(role);
  if (found == nullptr) return nullptr;
  if (!scheme_.by_statement) return find_ending(found->ending);
  const Tensor* const array = find_stated(role);
  return array != nullptr && is_plain_array(*array) ? array : nullptr;
}

const Tensor& Set::require(std::string_view role) const {
  if (const Tensor* const found = find(role)) return *found;
  if (scheme_.by_statement) refuse("pack.missing", fmt::format("the {} of {} are missing", role, quote(codes_.name)));
  refuse("pack.missing", fmt::format("{} is missing", quote(std::string(stem_).append(member(role)->ending))));
}

Joining::Joining(const Set& set, std::string layout, Shape shape) : set_(set) {
  tensor_.layout = std::move(layout);
  tensor_.shape = std::move(shape);
}

void Joining::put(std::string_view role, const Tensor& array) {
  List dimensions;
  for (const std::uint64_t dimension : array.shape) dimensions.emplace_back(dimension);
  Map facts;
  facts.append("name", array.name);
  facts.append("shape", std::move(dimensions));
  facts.append("at", set_.tensors().index_of(array));
  Value* arrays = tensor_.attributes.find(kArrays);
  if (arrays == nullptr) {
    tensor_.attributes.append(std::string(kArrays), Map());
    arrays = tensor_.attributes.find(kArrays);
  }
  arrays->get<Map>()->append(std::string(role), std::move(facts));
  const Component& data = array.components.front();
  tensor_.components.push_back({std::string(role), data.dtype, data.type, data.blob});
}

Joining& Joining::add(std::string_view role, const Tensor& array, Types types, const Shape& shape) {
  const std::string_view type = array.components.front().type_name();
  if (std::ranges::find(types, type) == types.end())
    refuse("pack.type", fmt::format("{} is {}; expected {}", quote(array.name), type, fmt::join(types, " or ")));
  if (array.shape != shape)
    refuse("pack.shape", fmt::format("{} has the shape {}; expected {} for weights of {}", quote(array.name),
                                     array.shape.text(), shape.text(), tensor_.shape.text()));
  put(role, array);
  return *this;
}

Joining& Joining::carry(std::string_view role) {
  if (const Tensor* const array = set_.find(role)) put(role, *array);
  return *this;
}

Joining& Joining::set(std::string_view attribute, Value value) {
  tensor_.attributes.set(attribute, std::move(value));
  return *this;
}

}  // namespace tare::codec::packs
