// Compares what a file decodes to with its size: a few kilobytes of zeros that are compressed, sparse or listed a
// thousand times must not become terabytes of work.
#include "formats/registry_limits.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "io/remote/remote_source.hpp"
#include "io/remote/url.hpp"
#include "model/element_size.hpp"
#include "model/element_types.hpp"
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

// The bytes of a file that tensors may still take for themselves. Tensors that share bytes have more than the file.
class OwnBytes {
 public:
  explicit OwnBytes(std::uint64_t file_bytes) : left_(file_bytes) {}
  // Returns whether the tensor's bytes can be its own.
  bool take(const Tensor& tensor) {
    const bool is_plain = std::ranges::all_of(tensor.components, [](const Component& c) { return c.blob.is_plain(); });
    const std::uint64_t bytes = is_plain ? tensor.bytes() : 0;
    if (!is_plain || bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  std::uint64_t left() const { return left_; }

 private:
  std::uint64_t left_;
};

// Whether the elements are real numbers, which a conversion may decode to floats.
bool is_real(const Component& data) {
  if (data.type.empty()) return is_float(data.dtype);
  const ElementType* const type = logical_type(data.type);
  return type != nullptr && type->is_real();
}

// The bytes that the components decode to, or those of the dense tensor if that is more: the dense size of a sparse
// tensor is limited by nothing but its shape, and that of quantized weights is several times the size of their codes.
std::uint64_t work_of(const Tensor& tensor, OwnBytes& own_bytes) {
  const Component* const values = tensor.component("values");
  std::uint64_t parts = 0;
  for (const Component& component : tensor.components)
    parts = saturating_sum(parts, values == nullptr ? work_of(component.blob) : work_of_sparse(component.blob));
  const Codec* const codec = find_codec(tensor.layout);
  const Component* const data = tensor.is_dense() ? tensor.component("data") : nullptr;
  const bool decodes = data != nullptr ? is_real(*data) : codec != nullptr && codec->decode != nullptr;
  const auto count = tensor.shape.elements();
  // Codes of two bits are a sixteenth of the floats that they decode to. A file pays for codes with its own bytes, but
  // not if they are compressed or shared by many tensors.
  const bool has_own = own_bytes.take(tensor);
  if (!decodes) return parts;
  if (values == nullptr)
    return has_own ? parts : std::max(parts, checked_mul(count.value_or(UINT64_MAX), 4).value_or(UINT64_MAX));
  const auto dense = count ? elements_bytes(*count, values->dtype, values->type) : std::nullopt;
  return std::max(parts, dense.value_or(UINT64_MAX));
}

std::uint64_t decoded_size(const Model& model, OwnBytes& own_bytes) {
  std::uint64_t bytes = 0;
  for (const Tensor& tensor : model.tensors) bytes = saturating_sum(bytes, work_of(tensor, own_bytes));
  for (const Attachment& attachment : model.attachments) bytes = saturating_sum(bytes, work_of(attachment.blob));
  return bytes;
}

// Returns the option that would allow these sizes; nothing if they are within the limits. No other code knows this rule.
std::optional<Advice> remedy_for(const Expansion& sizes, const Limits& limits) {
  if (sizes.decoded <= limits.decoded_from(sizes.stored)) return std::nullopt;
  const std::uint64_t times = sizes.stored == 0 ? sizes.decoded : sizes.decoded / sizes.stored + 1;
  return Advice{Remedy::allow_expansion, fmt::format("{}", times)};
}

// What the models of a CountedAsOne decode to, and the bytes of their files that they took, so far.
struct Together {
  std::uint64_t decoded = 0, taken = 0;
};
thread_local std::optional<Together> counted_together;

}  // namespace

std::uint64_t decoded_size(const Model& model) {
  OwnBytes own_bytes(model.file_bytes);
  return decoded_size(model, own_bytes);
}

std::uint64_t Limits::decoded_from(std::uint64_t file_bytes) const {
  return saturating_sum(decoded_bytes, checked_mul(expansion, file_bytes).value_or(UINT64_MAX));
}

void grant_source(const Source& source) {
  if (io::is_remote(source.name())) return io::remote::grant_remote(source);
  struct stat status {};
  if (source.descriptor() >= 0 && ::fstat(source.descriptor(), &status) == 0)
    current_budget()->grant_file(status.st_dev, status.st_ino, source.size());
  else
    current_budget()->grant(source.size());
}

Allowance allowance_of(const Limits& limits) {
  return {.values = limits.metadata_values, .steps = limits.metadata_steps, .bytes = limits.metadata_made};
}

namespace {

// What the model decodes to. Within a CountedAsOne, that is for all models that were counted and this one.
struct Counted {
  Expansion sizes;
  std::uint64_t taken;  // bytes of files
};
Counted count(const Model& model, std::uint64_t file_bytes) {
  const Together before = counted_together.value_or(Together());
  const std::uint64_t stored = counted_together ? current_budget()->file_bytes() : file_bytes;
  OwnBytes own_bytes(stored - std::min(stored, before.taken));
  const std::uint64_t decoded = saturating_sum(decoded_size(model, own_bytes), before.decoded);
  return {.sizes = {.stored = stored, .decoded = decoded}, .taken = stored - own_bytes.left()};
}

}  // namespace

bool may_decode(const Model& model, std::uint64_t file_bytes, const Limits& limits) {
  return !remedy_for(count(model, file_bytes).sizes, limits);
}

CountedAsOne::CountedAsOne(const Limits& limits) : spending_(allowance_of(limits)) { counted_together = Together(); }

CountedAsOne::~CountedAsOne() { counted_together.reset(); }

void check_expansion(const Model& model, const Limits& limits, const std::string& file) {
  const auto [sizes, taken] = count(model, model.file_bytes);
  if (counted_together) counted_together = Together{.decoded = sizes.decoded, .taken = taken};
  const auto remedy = remedy_for(sizes, limits);
  if (!remedy) return;
  throw Error(ErrorKind::limit, "open.expansion",
              fmt::format("{} of {} bytes would decode to {} bytes; the limit is {} bytes plus {} times {} size",
                          counted_together ? "the parts that were opened," : "this file", count_text(sizes.stored),
                          count_text(sizes.decoded), count_text(limits.decoded_bytes), limits.expansion,
                          counted_together ? "their" : "the file's"))
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
