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
  origins_.reserve(input.tensors.size());
  for (const Tensor& tensor : input.tensors)
    for (const Component& component : tensor.components) {
      const Blob& blob = component.blob;
      if (blob.source() == nullptr) continue;
      if (arrived_algorithm(blob) != DigestAlgorithm::none || blob.guard() != nullptr)
        digested_.push_back({origins_.size(), blob});
      origins_.push_back({tensor.name, blob.source(), blob.offset(), blob.stored_size()});
    }
}

void Origins::verify_changed(const Model& output, const NameSet& omitted, unsigned threads) const {
  if (digested_.empty()) return;
  std::set<std::pair<const Source*, std::uint64_t>> unchanged;
  for (const Tensor& tensor : output.tensors)
    for (const Component& component : tensor.components) unchanged.insert(place_of(component.blob));
  std::vector<const Blob*> changed;
  for (const auto& [origin, blob] : digested_)
    if (!omitted.contains(origins_[origin].tensor) && !unchanged.contains(place_of(blob))) changed.push_back(&blob);
  parallel_for(changed.size(), threads, [&](std::size_t i) { changed[i]->verify(); });
}

void Origins::name_tensor(Error& error) const {
  if (!error.offset() || !error.item().empty()) return;
  // Packed bytes that end too early are told of at their end, where the next tensor may begin.
  for (const std::uint64_t behind : {0, 1}) {
    const auto found = std::find_if(origins_.begin(), origins_.end(), [&](const Origin& origin) {
      return *error.offset() >= origin.offset && *error.offset() - origin.offset < origin.bytes + behind &&
             origin.source->name() == error.file();
    });
    if (found != origins_.end()) return (void)error.about("tensor " + quote(found->tensor));
  }
}

}  // namespace tare
