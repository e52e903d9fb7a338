// Compares what a file decodes to with its size: a few kilobytes of zeros that are compressed, sparse or listed a
// thousand times must not become terabytes of work.
#include "formats/registry_limits.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "model/element_size.hpp"
#include "tare/codec.hpp"

namespace tare {
namespace {

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) { return checked_add(a, b).value_or(UINT64_MAX); }

// Decompression also costs time per stored byte: empty blocks that many tensors share are work as well.
std::uint64_t work_of(const Blob& blob) {
  constexpr std::uint64_t kCompressedWeight = 16;
  if (blob.is_plain()) return blob.size();
  return std::max(checked_mul(blob.looks(), blob.size()).value_or(UINT64_MAX),
                  checked_mul(kCompressedWeight, blob.stored_size()).value_or(UINT64_MAX));
}

// Sparse coordinates are compared with each other after they are decompressed.
std::uint64_t work_of_sparse(const Blob& blob) {
  return blob.is_plain() ? blob.size() : saturating_sum(work_of(blob), blob.size() / 2);
}

// The bytes that the components decode to, or those of the dense tensor if that is more: the dense size of a sparse
// tensor is limited by nothing but its shape, and that of quantized weights is several times the size of their codes.
std::uint64_t work_of(const Tensor& tensor) {
  const Component* const values = tensor.component("values");
  std::uint64_t parts = 0;
  for (const Component& component : tensor.components)
    parts = saturating_sum(parts, values == nullptr ? work_of(component.blob) : work_of_sparse(component.blob));
  const Codec* const codec = find_codec(tensor.layout);
  if (codec == nullptr || codec->decode == nullptr) return parts;
  const auto count = tensor.shape.elements();
  if (values == nullptr) {
    // Compressed codes of two bits are a sixteenth of the floats that they decode to.
    const bool is_plain = std::ranges::all_of(tensor.components, [](const Component& c) { return c.blob.is_plain(); });
    return is_plain ? parts : std::max(parts, checked_mul(count.value_or(UINT64_MAX), 4).value_or(UINT64_MAX));
  }
  const auto dense = count ? elements_bytes(*count, values->dtype, values->type) : std::nullopt;
  return std::max(parts, dense.value_or(UINT64_MAX));
}

// Returns the option that would allow these sizes; nothing if they are within the limits. No other code knows this rule.
std::optional<Advice> remedy_for(const Expansion& sizes, const Limits& limits) {
  if (sizes.decoded <= limits.decoded_from(sizes.stored)) return std::nullopt;
  const std::uint64_t times = sizes.stored == 0 ? sizes.decoded : sizes.decoded / sizes.stored + 1;
  return Advice{Remedy::allow_expansion, fmt::format("{}", times)};
}

// The bytes that the models of a CountedAsOne decode to, so far.
thread_local std::optional<std::uint64_t> decoded_together;

}  // namespace

std::uint64_t decoded_size(const Model& model) {
  std::uint64_t bytes = 0;
  for (const Tensor& tensor : model.tensors) bytes = saturating_sum(bytes, work_of(tensor));
  for (const Attachment& attachment : model.attachments) bytes = saturating_sum(bytes, work_of(attachment.blob));
  return bytes;
}

std::uint64_t Limits::decoded_from(std::uint64_t file_bytes) const {
  return saturating_sum(decoded_bytes, checked_mul(expansion, file_bytes).value_or(UINT64_MAX));
}

void grant_source(const Source& source) {
  struct stat status {};
  if (source.descriptor() >= 0 && ::fstat(source.descriptor(), &status) == 0)
    current_budget()->grant_file(status.st_dev, status.st_ino, source.size());
  else
    current_budget()->grant(source.size());
}

Allowance allowance_of(const Limits& limits) {
  return {.values = limits.metadata_values, .steps = limits.metadata_steps, .bytes = limits.metadata_made};
}

CountedAsOne::CountedAsOne(const Limits& limits) : spending_(allowance_of(limits)) { decoded_together = 0; }

CountedAsOne::~CountedAsOne() { decoded_together.reset(); }

void check_expansion(const Model& model, const Limits& limits, const std::string& file) {
  Expansion sizes{.stored = model.file_bytes, .decoded = decoded_size(model)};
  if (decoded_together) {
    sizes.decoded = saturating_sum(sizes.decoded, *decoded_together);
    sizes.stored = current_budget()->file_bytes();
    decoded_together = sizes.decoded;
  }
  const auto remedy = remedy_for(sizes, limits);
  if (!remedy) return;
  throw Error(ErrorKind::limit, "open.expansion",
              fmt::format("{} of {} bytes would decode to {} bytes; the limit is {} bytes plus {} times {} size",
                          decoded_together ? "the parts that were opened," : "this file", count_text(sizes.stored),
                          count_text(sizes.decoded), count_text(limits.decoded_bytes), limits.expansion,
                          decoded_together ? "their" : "the file's"))
      .in(file)
      .remedy(remedy->remedy, remedy->argument);
}

Limits limits_of_own_output() {
  Limits limits;
  limits.decoded_bytes = limits.expansion = UINT64_MAX;
  return limits;
}

void report_expansion(const Expansion& sizes, std::vector<Change>& changes) {
  if (const auto remedy = remedy_for(sizes, Limits()))
    changes.push_back({.impact = Impact::changed,
                       .detail = fmt::format("the output is not opened by default, because its {} bytes decode to {}",
                                             count_text(sizes.stored), count_text(sizes.decoded)),
                       .remedies = {*remedy}});
}

void report_expansion(const Model& written, std::vector<Change>& changes) {
  report_expansion(Expansion{.stored = written.file_bytes, .decoded = decoded_size(written)}, changes);
}

void report_expansion(const std::string& path, std::vector<Change>& changes) {
  try {
    report_expansion(open(path, {.access = Access::pread, .limits = limits_of_own_output(), .listing = true}), changes);
  } catch (const Error&) {  // for example an incomplete set: its size is unknown, and the writing did not fail
  }
}

}  // namespace tare
