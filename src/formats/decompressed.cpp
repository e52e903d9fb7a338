#include "formats/decompressed.hpp"

#include <algorithm>

namespace tare {

std::vector<Change> decompressed_remark(const Model& model, const WriteOptions& options, Encoding other) {
  if (options.zstd_level || options.unpack) return {};
  Change remark{.kind = ChangeKind::unpacked, .impact = Impact::changed, .remedies = {{Remedy::compress, ""}}};
  for (const Tensor& tensor : model.tensors)
    if (std::ranges::any_of(tensor.components,
                            [&](const Component& component) { return component.blob.encoding() == other; }))
      remark.items.push_back(tensor.name);
  if (remark.items.empty()) return {};
  return {std::move(remark)};
}

}  // namespace tare
