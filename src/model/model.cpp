#include "tare/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/glob.hpp"
#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "tare/version.hpp"

namespace tare {

const Component* Tensor::component(std::string_view role) const {
  for (const Component& c : components)
    if (c.role == role) return &c;
  return nullptr;
}

Map Tensor::complete_attributes() const {
  Map all = attributes;
  for (const Component& c : components)
    for (auto& [key, value] : c.blob.learned()) all.set(key, std::move(value));
  return all;
}

std::uint64_t Tensor::bytes() const {
  std::uint64_t sum = 0;
  for (const Component& c : components) sum += c.blob.size();
  return sum;
}

std::uint64_t Tensor::stored_bytes() const {
  std::uint64_t sum = 0;
  for (const Component& c : components) sum += c.blob.stored_size();
  return sum;
}

Tensor dense(std::string name, Shape shape, DType dtype, Blob blob, std::string type) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.shape = std::move(shape);
  tensor.components.push_back({"data", dtype, std::move(type), std::move(blob)});
  return tensor;
}

void Model::check_sources() const {
  for (const SourcePtr& source : sources) source->check();
}

const Tensor& Model::at(std::string_view name) const {
  if (const Tensor* const found = tensor(name)) return *found;
  std::vector<std::string> names;
  names.reserve(tensors.size());
  for (const Tensor& other : tensors) names.push_back(other.name);
  throw Error(ErrorKind::not_found, "lookup.tensor", there_is_no("tensor", name, names));
}

void Model::refuse_broken() const {
  if (broken.empty()) return;
  constexpr std::size_t kNamed = 8;
  Error first = broken.front().error;
  if (broken.size() == 1) throw first.remedy(Remedy::skip, escape_glob(broken.front().tensor.name));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kNamed, broken.size()); ++i) names.push_back(quote(broken[i].tensor.name));
  throw first
      .reworded(fmt::format("{}; {} tensors are broken: {}{}", first.sentence(), broken.size(), fmt::join(names, ", "),
                            broken.size() > kNamed ? ", ..." : ""))
      .remedy(Remedy::skip);
}

const Attachment* Model::attachment(std::string_view name) const {
  for (const Attachment& a : attachments)
    if (a.name == name) return &a;
  return nullptr;
}

std::string_view version() { return TARE_VERSION; }

}  // namespace tare
