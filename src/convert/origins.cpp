#include "convert/origins.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "model/transfer.hpp"

namespace tare {
namespace {

std::pair<const Source*, std::uint64_t> place_of(const Blob& blob) { return {blob.source().get(), blob.offset()}; }

}  // namespace

Origins::Origins(const Model& input) {
  for (const Tensor& tensor : input.tensors)
    for (const Component& component : tensor.components)
      if (component.blob.source() != nullptr) origins_.push_back({tensor.name, component.blob});
}

void Origins::verify_changed(const Model& output, const NameSet& omitted, unsigned threads) const {
  std::vector<const Origin*> digested;
  for (const Origin& origin : origins_)
    if (arrived_algorithm(origin.blob) != DigestAlgorithm::none) digested.push_back(&origin);
  if (digested.empty()) return;
  std::set<std::pair<const Source*, std::uint64_t>> unchanged;
  for (const Tensor& tensor : output.tensors)
    for (const Component& component : tensor.components) unchanged.insert(place_of(component.blob));
  std::erase_if(digested, [&](const Origin* origin) {
    return omitted.contains(origin->tensor) || unchanged.contains(place_of(origin->blob));
  });
  parallel_for(digested.size(), threads, [&](std::size_t i) { digested[i]->blob.verify(); });
}

void Origins::name_tensor(Error& error) const {
  if (!error.offset() || !error.item().empty()) return;
  // Packed bytes that end too early are told of at their end, where the next tensor may begin.
  for (const std::uint64_t behind : {0, 1}) {
    const auto found = std::find_if(origins_.begin(), origins_.end(), [&](const Origin& origin) {
      const std::uint64_t begin = origin.blob.offset();
      return *error.offset() >= begin && *error.offset() - begin < origin.blob.stored_size() + behind &&
             origin.blob.source()->name() == error.file();
    });
    if (found != origins_.end()) return (void)error.about("tensor " + quote(found->tensor));
  }
}

}  // namespace tare
