#include "formats/unpacked.hpp"

#include <algorithm>

namespace tare {

std::vector<Change> unpacked_remark(const Model& model, const WriteOptions& options, Encoding other) {
  if (options.zstd_level || options.unpack) return {};
  Change unpacked{.kind = ChangeKind::unpacked, .impact = Impact::changed, .remedies = {{Remedy::compress, ""}}};
  for (const Tensor& tensor : model.tensors)
    if (std::ranges::any_of(tensor.components,
                            [&](const Component& component) { return component.blob.encoding() == other; }))
      unpacked.items.push_back(tensor.name);
  if (unpacked.items.empty()) return {};
  return {std::move(unpacked)};
}

}  // namespace tare
