// Checks the objects of a manifest against the rules: types, encodings, bounds, alignment, sizes, overlaps.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "base/printable.hpp"
#include "formats/zt/zt.hpp"
#include "io/zstd.hpp"
#include "model/byte_swap.hpp"
#include "model/put_in_order.hpp"
#include "model/widen.hpp"
#include "tare/codec.hpp"

namespace tare::zt {
namespace {

// A zstd block decodes to at most 128 KiB from a 3-byte header and one byte; a larger ratio is false.
constexpr std::uint64_t kMostRatio = (std::uint64_t{128} << 10) / 4;

// Decodes a component to find its size: containers before 1.2 do not store it, and only dense objects imply it.
// Subtracts the cost from `left`, even if it fails. Returns nothing if the component has more bytes than `left`.
std::optional<std::uint64_t> measure(const SourcePtr& source, std::uint64_t offset, std::uint64_t length,
                                     std::uint64_t& left) {
  io::ZstdDecompressor decompressor(source, offset, length);
  Bytes scratch(std::size_t{1} << 16);
  std::uint64_t total = 0;
  while (const std::size_t got = decompressor.read_some(scratch)) {
    total += got;
    if (got > left) return std::nullopt;
    left -= got;
  }
  decompressor.expect_end();
  return total;
}

// Returns whether the digest has the form "algorithm:value".
bool names_algorithm(std::string_view digest) {
  const std::size_t colon = digest.find(':');
  return colon != 0 && colon != std::string_view::npos;
}

std::uint64_t most_measured(const Limits& limits, const Source& source) {
  return std::min(limits.component_bytes, limits.decoded_from(source.size()));
}

bool has_upper_case(std::string_view digits) {
  return std::any_of(digits.begin(), digits.end(), [](char c) { return c >= 'A' && c <= 'F'; });
}

}  // namespace

ObjectChecker::ObjectChecker(const Input& input, const ReadOptions& options, Diagnostics& diagnostics,
                             std::uint64_t data_end, bool sizes_given)
    : input_(input),
      options_(options),
      diagnostics_(diagnostics),
      data_end_(data_end),
      sizes_given_(sizes_given),
      measurable_(most_measured(options.limits, *input.source)) {}

void ObjectChecker::reserve(std::uint64_t count) {
  tensors_.reserve(count);
  prefer_huge_pages(tensors_.data(), tensors_.capacity() * sizeof(Tensor));
  ranges_.reserve(count);
}

void ObjectChecker::report(const RawObject& object, Error error, std::uint64_t at) {
  error.in(input_.path).at(at).about("tensor " + quote(object.name));
  diagnostics_.tensor_error(error);
  if (!first_) first_ = std::move(error);
}

void ObjectChecker::warn(const RawObject& object, std::uint64_t at, std::string_view rule, std::string_view sentence) {
  diagnostics_.warning(
      Error(ErrorKind::corrupt, rule, sentence).in(input_.path).at(at).about("tensor " + quote(object.name)));
}

// There is one allowance for the whole file, for decoded and for stored bytes, and each range is decoded once: many
// objects may share a few bytes that decode to very many, or many bytes that decode to none.
std::optional<std::uint64_t> ObjectChecker::measured_size(const RawObject& object, const RawComponent& raw) {
  const std::pair range(*raw.offset, *raw.length);
  if (const auto known = measured_.find(range); known != measured_.end()) return known->second;
  std::optional<std::uint64_t> size;
  measured_compressed_ += *raw.length;
  try {
    if (measured_compressed_ <= 2 * input_.source->size())
      size = measure(input_.source, *raw.offset, *raw.length, measurable_);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    report(object, error, raw.at);
    return std::nullopt;
  }
  if (size) {
    measured_.emplace(range, *size);
    return size;
  }
  measurable_ = 0;
  Error error(
      ErrorKind::limit, "zt.component.limit",
      fmt::format("its size is not stored, and to unpack what has none would take more than the {} bytes allowed",
                  most_measured(options_.limits, *input_.source)));
  report(object, error.remedy(Remedy::allow_expansion), raw.at);
  return std::nullopt;
}

std::optional<std::uint64_t> ObjectChecker::decoded_size(const RawObject& object, const RawComponent& raw,
                                                         DType dtype) {
  const auto bad = [&](ErrorKind kind, std::string_view rule, std::string_view sentence) {
    report(object, raw.at, kind, rule, sentence);
    return std::nullopt;
  };
  if (raw.encoding != "zstd") {
    if (raw.uncompressed && *raw.uncompressed != *raw.length)
      return bad(ErrorKind::corrupt, "zt.component.uncompressed_length",
                 fmt::format("stored raw with {} bytes, uncompressed_length says {}", *raw.length, *raw.uncompressed));
    return raw.length;
  }
  std::uint64_t size = 0;
  if (raw.uncompressed) {
    size = *raw.uncompressed;
  } else if (sizes_given_) {
    return bad(ErrorKind::corrupt, "zt.component.uncompressed_length", "zstd without uncompressed_length");
  } else if (const auto elements = object.shape.elements(); object.layout == "dense" && elements) {
    const auto bytes = checked_mul(*elements, size_of(dtype));
    if (!bytes) return bad(ErrorKind::corrupt, "zt.dense.size", "the shape's size does not fit 64 bits");
    size = *bytes;
  } else {
    const auto measured = measured_size(object, raw);
    if (!measured) return std::nullopt;
    size = *measured;
  }
  if (size / kMostRatio > *raw.length)
    return bad(ErrorKind::corrupt, "zt.component.ratio",
               fmt::format("{} stored bytes cannot decode to {}", *raw.length, size));
  if (object.layout != "dense" && size > options_.limits.component_bytes)
    return bad(ErrorKind::limit, "zt.component.limit",
               fmt::format("decodes to {} bytes, at most {} allowed", size, options_.limits.component_bytes));
  return size;
}

// A digest in another form cannot be checked. That does not prevent opening the file, but it is an error.
void ObjectChecker::complain_about_digest(const RawObject& object, const RawComponent& raw) {
  const std::string sentence =
      fmt::format("component {}: the digest \"{}\" is not of the form algorithm:value; nothing can be checked by it",
                  quote(raw.role), quote(raw.digest));
  if (!diagnostics_.thorough()) return warn(object, raw.at, "zt.digest.form", sentence);
  diagnostics_.error(Error(ErrorKind::corrupt, "zt.digest.form", sentence)
                         .in(input_.path)
                         .at(raw.at)
                         .about("tensor " + quote(object.name)));
}

bool ObjectChecker::check_component(const RawObject& object, const RawComponent& raw, Component& out) {
  const auto bad = [&](ErrorKind kind, std::string_view rule, std::string_view sentence) {
    report(object, raw.at, kind, rule, fmt::format("component {}: {}", quote(raw.role), sentence));
    return false;
  };
  if (raw.dtype.data() == nullptr) return bad(ErrorKind::corrupt, "zt.component.missing_field", "no \"dtype\"");
  if (!raw.offset) return bad(ErrorKind::corrupt, "zt.component.missing_field", "no \"offset\"");
  if (!raw.length) return bad(ErrorKind::corrupt, "zt.component.missing_field", "no \"length\"");
  const auto dtype = parse_dtype(raw.dtype);
  if (!dtype)
    return bad(ErrorKind::unsupported, "zt.component.dtype", fmt::format("unknown dtype \"{}\"", quote(raw.dtype)));
  if (raw.encoding.data() != nullptr && raw.encoding != "raw" && raw.encoding != "zstd")
    return bad(ErrorKind::unsupported, "zt.component.encoding",
               fmt::format("unknown encoding \"{}\"", quote(raw.encoding)));
  if (*raw.offset % kAlignment != 0)
    return bad(ErrorKind::corrupt, "zt.component.misaligned",
               fmt::format("offset {} is not a multiple of 64", *raw.offset));
  if (*raw.offset < kAlignment)
    return bad(ErrorKind::corrupt, "zt.component.header", fmt::format("offset {} is inside the header", *raw.offset));
  if (!fits(*raw.offset, *raw.length, data_end_))
    return bad(
        ErrorKind::corrupt, "zt.component.bounds",
        fmt::format("{} bytes at {} extend beyond the end of the data at {}", *raw.length, *raw.offset, data_end_));
  const auto size = decoded_size(object, raw, *dtype);
  if (!size) return false;

  Digest digest;
  if (raw.digest.data() != nullptr && !names_algorithm(raw.digest)) {
    complain_about_digest(object, raw);
  } else if (raw.digest.data() != nullptr) {
    const auto parsed = Digest::parse(raw.digest);
    if (!parsed)
      return bad(ErrorKind::corrupt, "zt.component.digest", fmt::format("malformed digest \"{}\"", quote(raw.digest)));
    digest = *parsed;
    if (diagnostics_.thorough() && digest.algorithm() == DigestAlgorithm::sha256 && has_upper_case(raw.digest))
      warn(object, raw.at, "zt.digest.case", "the digest is spelled in upper case");
  }
  out.role = raw.role;
  out.dtype = *dtype;
  out.type = raw.type;
  out.blob = raw.encoding == "zstd" ? Blob::zstd(input_.source, *raw.offset, *raw.length, *size, std::move(digest))
                                    : Blob::range(input_.source, *raw.offset, *raw.length, std::move(digest));
  if (raw.big_endian && *size % size_of(*dtype) == 0)
    out.blob = byte_swapped_blob(std::move(out.blob), size_of(*dtype));
  return true;
}

void put_unknown(Map& attributes, std::string key, Map unknown) {
  if (unknown.empty()) return;
  while (attributes.find(key) != nullptr) key += '+';  // the file's own attribute with that name is kept
  attributes.append(std::move(key), std::move(unknown));
}

void ObjectChecker::add(RawObject& raw) {
  Tensor& tensor = tensors_.emplace_back();
  tensor.name = raw.name;
  tensor.shape = raw.shape;
  tensor.layout = raw.layout;
  tensor.attributes = std::move(raw.attributes);
  const auto number = static_cast<std::uint32_t>(tensors_.size() - 1);
  first_.reset();
  for (RawComponent& component : raw.components) {
    if (!check_component(raw, component, tensor.components.emplace_back())) continue;
    ranges_.push_back({*component.offset, *component.length, number});
    if (!component.unknown.empty())  // making the key costs a tenth of opening a tensor
      put_unknown(tensor.attributes, fmt::format("{}.{}", kUnknownKeys, component.role), std::move(component.unknown));
  }
  if (!first_) {
    widen_indices(raw, tensor);
    const Codec* const codec = find_codec(tensor.layout);
    if (const auto problem = codec == nullptr ? std::nullopt : codec->check(tensor))
      report(raw, raw.at, ErrorKind::corrupt, "zt." + problem->rule, problem->sentence);
    const auto doubt = first_ || codec == nullptr || codec->doubt == nullptr ? std::nullopt : codec->doubt(tensor);
    if (doubt && doubt->severity == Severity::warning) warn(raw, raw.at, "zt." + doubt->rule, doubt->sentence);
  }
  if (first_) drop_last(raw);
}

// Removes the last tensor, which is broken. Its bytes within the data still belong to no other tensor.
void ObjectChecker::drop_last(const RawObject& raw) {
  const auto number = static_cast<std::uint32_t>(tensors_.size() - 1);
  while (!ranges_.empty() && ranges_.back().tensor == number) ranges_.pop_back();
  for (const RawComponent& component : raw.components)
    if (component.offset && component.length && fits(*component.offset, *component.length, data_end_))
      lost_.push_back({*component.offset, *component.length, kNoTensor});
  tensors_.back().components.clear();
  broken_.push_back({std::move(tensors_.back()), std::move(*first_)});
  tensors_.pop_back();
}

void ObjectChecker::add_broken(const RawObject& raw, Error error) {
  Tensor& tensor = tensors_.emplace_back();
  tensor.name = raw.name;
  tensor.shape = raw.shape;
  tensor.layout = raw.layout;
  first_.reset();
  unread_ = true;
  report(raw, std::move(error), raw.at);
  drop_last(raw);
}

// Widens signed indices, which come from SciPy and which upstream writes unchanged. A negative one becomes larger than
// any shape, so the rules for indices find it.
void ObjectChecker::widen_indices(const RawObject& raw, Tensor& tensor) {
  static constexpr std::string_view kIndexRoles[] = {"indices", "indptr", "coords"};
  if (tensor.layout != "sparse_csr" && tensor.layout != "sparse_coo") return;
  for (Component& component : tensor.components) {
    const bool index =
        std::find(std::begin(kIndexRoles), std::end(kIndexRoles), component.role) != std::end(kIndexRoles);
    const bool narrow = component.dtype == DType::i32;
    if (!index || !component.type.empty() || (!narrow && component.dtype != DType::i64)) continue;
    // Not a whole number of indices: the layout's rules refuse it
    if (narrow && component.blob.size() % 4 != 0) continue;
    warn(raw, raw.at, "zt.sparse.index",
         fmt::format("the component \"{}\" is {}, the document asks for u64: read as that, and written so",
                     quote(component.role), name_of(component.dtype)));
    if (narrow) component.blob = widened_blob(std::move(component.blob));
    component.dtype = DType::u64;
  }
}

void ObjectChecker::check_overlaps() {
  const auto before = [](const Range& a, const Range& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.length < b.length;
  };
  if (!std::is_sorted(ranges_.begin(), ranges_.end(), before)) std::sort(ranges_.begin(), ranges_.end(), before);
  std::size_t last = ranges_.size();  // the last range that is not empty
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    if (ranges_[i].length == 0) continue;  // an empty range overlaps nothing
    const std::size_t previous = std::exchange(last, i);
    if (previous == ranges_.size()) continue;
    const Range &a = ranges_[previous], &b = ranges_[i];
    if (b.offset >= a.offset + a.length || (a.offset == b.offset && a.length == b.length)) continue;
    Error error(ErrorKind::corrupt, "zt.component.overlap",
                fmt::format("its {} bytes at {} overlap the {} bytes at {} of tensor {}", b.length, b.offset, a.length,
                            a.offset, quote(tensors_[a.tensor].name)));
    error.in(input_.path).at(b.offset).about("tensor " + quote(tensors_[b.tensor].name));
    diagnostics_.tensor_error(error);
    overlapping_.emplace(b.tensor, std::move(error));
  }
}

// Removes tensors that overlap an earlier one; the first of two stays. `order` has the number that each of `tensors_`
// had before sorting.
void ObjectChecker::drop_overlapping(std::span<const std::uint32_t> order) {
  if (overlapping_.empty()) return;
  std::vector<Tensor> kept;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const auto found = overlapping_.find(order[i]);
    if (found == overlapping_.end()) {
      kept.push_back(std::move(tensors_[i]));
      continue;
    }
    tensors_[i].components.clear();
    broken_.push_back({std::move(tensors_[i]), found->second});
  }
  tensors_ = std::move(kept);
}

// Checks the bytes outside every blob, which writers leave zero.
void ObjectChecker::check_padding() {
  Bytes buffer(std::size_t{1} << 16);
  std::uint64_t at = kMagic.size();
  std::vector<Range> ranges = ranges_;
  ranges.insert(ranges.end(), lost_.begin(), lost_.end());
  if (!lost_.empty())
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.offset < b.offset; });
  for (std::size_t i = 0; i <= ranges.size(); ++i) {
    const std::uint64_t end = i < ranges.size() ? ranges[i].offset : data_end_;
    while (at < end) {
      const auto part =
          std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - at)));
      input_.source->read(at, part);
      const auto bad = std::find_if(part.begin(), part.end(), [](std::byte b) { return b != std::byte{0}; });
      if (bad != part.end()) {
        diagnostics_.warning(Error(ErrorKind::corrupt, "zt.padding", "a byte between the blobs is not zero")
                                 .in(input_.path)
                                 .at(at + static_cast<std::uint64_t>(bad - part.begin())));
        return;
      }
      at += part.size();
    }
    if (i < ranges.size()) at = std::max(at, ranges[i].offset + ranges[i].length);
  }
}

// Returns the tensors in the order of their first blobs, which is the order of `ranges_`. At the same offset, tensors
// without bytes come first, because they can only have been written before one that has bytes; ties (empty tensors,
// tensors that share a blob) are sorted by name.
std::vector<std::uint32_t> ObjectChecker::order_of_tensors() const {
  std::vector<std::uint32_t> order;
  order.reserve(tensors_.size());
  std::vector<bool> placed(tensors_.size(), false), filled(tensors_.size(), false);
  std::size_t group = 0;  // the first tensor with the current offset
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return filled[a] != filled[b] ? filled[b] : tensors_[a].name < tensors_[b].name;
  };
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    if (i > 0 && ranges_[i].offset != ranges_[i - 1].offset) {
      if (order.size() - group > 1) std::sort(order.begin() + static_cast<std::ptrdiff_t>(group), order.end(), before);
      group = order.size();
    }
    if (ranges_[i].length > 0) filled[ranges_[i].tensor] = true;
    if (placed[ranges_[i].tensor]) continue;
    placed[ranges_[i].tensor] = true;
    order.push_back(ranges_[i].tensor);
  }
  std::sort(order.begin() + static_cast<std::ptrdiff_t>(group), order.end(), before);
  // Objects without components come last, in their own order.
  for (std::uint32_t i = 0; i < placed.size(); ++i)
    if (!placed[i]) order.push_back(i);
  return order;
}

std::vector<Tensor> ObjectChecker::finish() {
  check_overlaps();
  // If an object could not be read, its bytes are unknown and would look like padding.
  if (diagnostics_.thorough() && !unread_) check_padding();
  const std::vector<std::uint32_t> order = order_of_tensors();
  put_in_order(tensors_, order);
  drop_overlapping(order);
  return std::move(tensors_);
}

}  // namespace tare::zt
