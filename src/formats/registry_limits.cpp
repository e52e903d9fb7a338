// What a file may decode to, checked against its size: a few kilobytes of zeros, compressed, sparse or listed a thousand
// times, must not become terabytes of work.
#include "formats/registry_limits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "model/element_size.hpp"
#include "tare/codec.hpp"

namespace tare {
namespace {

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) { return checked_add(a, b).value_or(UINT64_MAX); }

// Unpacking takes time for what is stored as well: a range of empty blocks that many tensors share is work, too.
std::uint64_t work_of(const Blob& blob) {
  constexpr std::uint64_t kPackedWeight = 16;
  if (blob.is_plain()) return blob.size();
  return std::max(checked_mul(blob.looks(), blob.size()).value_or(UINT64_MAX),
                  checked_mul(kPackedWeight, blob.stored_size()).value_or(UINT64_MAX));
}

// Coordinates are compared with each other as well as unpacked.
std::uint64_t work_of_sparse(const Blob& blob) {
  return blob.is_plain() ? blob.size() : saturating_sum(work_of(blob), blob.size() / 2);
}

// What its components decode to, or the dense tensor if that is more: of a sparse one only the shape vouches for it.
std::uint64_t work_of(const Tensor& tensor) {
  const Component* const values = tensor.component("values");
  std::uint64_t parts = 0;
  for (const Component& component : tensor.components)
    parts = saturating_sum(parts, values == nullptr ? work_of(component.blob) : work_of_sparse(component.blob));
  if (values == nullptr) return parts;
  const Codec* const codec = find_codec(tensor.layout);
  if (codec == nullptr || codec->decode == nullptr) return parts;
  const auto count = tensor.shape.elements();
  const auto dense = count ? elements_bytes(*count, values->dtype, values->type) : std::nullopt;
  return std::max(parts, dense.value_or(UINT64_MAX));
}

}  // namespace

std::uint64_t Limits::decoded_from(std::uint64_t file_bytes) const {
  return saturating_sum(decoded_bytes, checked_mul(expansion, file_bytes).value_or(UINT64_MAX));
}

Allowance allowance_of(const Limits& limits) {
  return {.values = limits.metadata_values, .steps = limits.metadata_steps, .bytes = limits.metadata_made};
}

void check_expansion(const Model& model, const Limits& limits, const std::string& file) {
  std::uint64_t total = 0;
  for (const Tensor& tensor : model.tensors) total = saturating_sum(total, work_of(tensor));
  for (const Attachment& attachment : model.attachments) total = saturating_sum(total, work_of(attachment.blob));
  const std::uint64_t most = limits.decoded_from(model.file_bytes);
  if (total <= most) return;
  throw Error(
      ErrorKind::limit, "open.expansion",
      fmt::format("this file of {} bytes would decode to {} bytes; the limit is {} bytes plus {} times the file's size",
                  count_text(model.file_bytes), count_text(total), count_text(limits.decoded_bytes), limits.expansion))
      .in(file)
      .remedy(Remedy::allow_expansion, fmt::format("{}", model.file_bytes == 0 ? total : total / model.file_bytes + 1));
}

}  // namespace tare
