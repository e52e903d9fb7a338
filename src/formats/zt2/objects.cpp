// Checks the objects of a manifest against the rules: types, bounds, alignment, layouts, overlaps.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "base/merge_runs.hpp"
#include "base/printable.hpp"
#include "formats/zt2/zt2.hpp"
#include "model/put_in_order.hpp"

namespace tare::zt2 {
namespace {

// A zstd block decodes to at most 128 KiB from a 3-byte header and one byte; a larger ratio is false.
constexpr std::uint64_t kMostRatio = (std::uint64_t{128} << 10) / 4;

// Represents a missing file if only names and sizes are needed.
class AbsentSource final : public Source {
 public:
  AbsentSource(std::string name, std::uint64_t size, Error why) : Source(std::move(name), size), why_(std::move(why)) {}

 protected:
  void do_read(std::uint64_t /*offset*/, std::span<std::byte> /*out*/) const override { throw why_; }

 private:
  Error why_;
};

}  // namespace

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && name.find('\0') == std::string_view::npos;
}

bool is_shard_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  return !name.empty() && name.size() <= kMaxShardName && name.front() != '.' && std::ranges::all_of(name, allowed);
}

bool is_digest(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) return false;
  return std::ranges::all_of(text.substr(0, colon),
                             [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }) &&
         std::ranges::all_of(text.substr(colon + 1),
                             [](char c) { return (c >= 'a' && c <= 'f') || (c >= '0' && c <= '9'); });
}

// In the document, names of algorithms have no hyphens and digits have no prefix.
constexpr std::string_view kXxh = "xxh3:", kLongXxh = "xxh3128:", kLongXxhOurs = "xxh3-128:", kCrc = "crc32c:0x",
                           kCrcHere = "crc32c:";

namespace {

// A fast path without allocations, because nearly every part has such a digest. The digits are known to be lower-case
// hexadecimal.
std::optional<Digest> parse_xxh3(std::string_view digits) {
  std::array<std::byte, 8> bytes{};
  if (digits.size() != 2 * bytes.size()) return std::nullopt;
  const auto value = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(value(digits[2 * i]) << 4 | value(digits[2 * i + 1]));
  return Digest(DigestAlgorithm::xxh3, bytes);
}

}  // namespace

std::optional<Digest> parse_digest(std::string_view text) {
  if (text.starts_with(kXxh)) return parse_xxh3(text.substr(kXxh.size()));
  if (text.starts_with(kLongXxh)) return Digest::parse(fmt::format("{}{}", kLongXxhOurs, text.substr(kLongXxh.size())));
  return Digest::parse(text);
}

std::string digest_text(const Digest& digest) {
  std::string text = digest.text();
  if (text.starts_with(kLongXxhOurs)) return fmt::format("{}{}", kLongXxh, text.substr(kLongXxhOurs.size()));
  if (text.starts_with(kCrc)) return fmt::format("{}{}", kCrcHere, digest.hex());
  return text;
}

Objects::Objects(const Input& input, const ReadOptions& options, Diagnostics& diagnostics, const Footer& footer,
                 std::vector<Shard>& files)
    : input_(input), options_(options), diagnostics_(diagnostics), footer_(footer), files_(files) {
  for (Shard& file : files_)
    if (file.source == nullptr && options.listing)
      file.source = std::make_shared<const AbsentSource>(file.name, file.size, *file.trouble);
}

// A false count cannot reserve more than the bytes could fill.
void Objects::reserve(std::uint64_t count, std::size_t bytes) {
  constexpr std::size_t kLeastPlain = 84, kLeast = 48;
  const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(count, bytes / kLeastPlain));
  plain_.reserve(most);
  prefer_huge_pages(plain_.data(), plain_.capacity() * sizeof(PlainObject));
  ranges_.reserve(most + 1);
  expected_ = static_cast<std::size_t>(std::min<std::uint64_t>(count, bytes / kLeast));
}

Tensor& Objects::start_tensor(const RawObject& raw) {
  if (tensors_.capacity() == 0 && expected_ > plain_.size()) {
    tensors_.reserve(expected_ - plain_.size());
    prefer_huge_pages(tensors_.data(), tensors_.capacity() * sizeof(Tensor));
  }
  Tensor& tensor = tensors_.emplace_back();
  tensor.name = raw.name;
  tensor.shape = raw.shape;
  first_.reset();
  return tensor;
}

bool Objects::add_plain(Cbor& cbor, std::string_view name) {
  PlainObject object;
  if (!is_name(name) || !read_plain(cbor, files_.front().size - kFooterBytes, object)) return false;
  object.name = name;
  ranges_.push_back({0, kPlain | static_cast<std::uint32_t>(plain_.size()), object.offset, object.length});
  plain_.push_back(object);
  ++parts_;
  return true;
}

std::string_view Objects::name_of_tensor(std::uint32_t number) const {
  return (number & kPlain) != 0 ? plain_[number ^ kPlain].name : std::string_view(tensors_[number].name);
}

void Objects::report(const RawObject& object, std::uint64_t at, Error error) {
  error.in(input_.path).at(at).about("tensor " + quote(object.name));
  diagnostics_.tensor_error(error);
  if (!first_) first_ = std::move(error);
}

void Objects::warn(const RawObject& object, std::uint64_t at, const Problem& problem) {
  diagnostics_.warning(Error(ErrorKind::corrupt, "zt2." + problem.rule, problem.sentence)
                           .in(input_.path)
                           .at(at)
                           .about("tensor " + quote(object.name)));
}

// Returns the number of the file; an invalid number if the table does not have it.
std::uint32_t Objects::file_of(std::string_view shard) const {
  if (shard.data() == nullptr) return 0;
  // The table is sorted by its keys.
  const auto found =
      std::lower_bound(files_.begin() + 1, files_.end(), shard,
                       [](const Shard& file, std::string_view name) { return key_before(file.name, name); });
  const bool there = found != files_.end() && found->name == shard;
  return static_cast<std::uint32_t>(there ? found - files_.begin() : static_cast<std::ptrdiff_t>(files_.size()));
}

Blob Objects::blob_of(const RawObject& object, const RawPart& raw, const Shard& file, const Digest& digest) const {
  if (raw.encoding.data() == nullptr) return Blob::range(file.source, *raw.offset, *raw.length, digest);
  if (raw.encoding != kSeekableId)
    return undecodable_blob(file.source, *raw.offset, *raw.length, *raw.decoded, std::string(raw.encoding), digest);
  // A listing does not decode.
  if (options_.listing) return seekable_blob(file.source, *raw.offset, *raw.length, *raw.decoded, digest);
  if (*raw.decoded / kMostRatio > *raw.length)
    throw Error(
        ErrorKind::corrupt, "zt2.encoding",
        fmt::format("part {}: {} stored bytes cannot decode to {}", quote(raw.name), *raw.length, *raw.decoded));
  if (object.layout != "dense" && *raw.decoded > options_.limits.component_bytes)
    throw Error(ErrorKind::limit, "zt2.part.limit",
                fmt::format("part {}: decodes to {} bytes, at most {} allowed", quote(raw.name), *raw.decoded,
                            options_.limits.component_bytes));
  return seekable_blob(file.source, *raw.offset, *raw.length, *raw.decoded, digest);
}

bool Objects::check_part(const RawObject& object, const RawPart& raw, Component& out) {
  const auto bad = [&](std::string_view rule, std::string_view sentence) {
    report(object, raw.at, rule, fmt::format("part {}: {}", quote(raw.name), sentence));
    return false;
  };
  if (*raw.offset % kFloor != 0 || *raw.offset < kFloor)
    return bad("zt2.blob.misaligned", fmt::format("offset {} is not a multiple of {} above 0", *raw.offset, kFloor));
  const std::uint32_t number = file_of(raw.shard);
  if (number == files_.size())
    return bad("zt2.shard.unknown", fmt::format("the table of shards has no \"{}\"", quote(raw.shard)));
  const Shard& file = files_[number];
  if (!fits(*raw.offset, *raw.length, file.size - kFooterBytes))
    return bad("zt2.blob.bounds", fmt::format("{} bytes at {} extend beyond the end of the data at {}", *raw.length,
                                              *raw.offset, file.size - kFooterBytes));
  const auto dtype = parse_dtype(raw.dtype);
  if (!dtype || dtype == DType::boolean)
    return bad("zt2.schema", fmt::format("\"{}\" is not one of the 12 dtypes", quote(raw.dtype)));
  if (raw.type.data() != nullptr)
    if (const auto storage = storage_of(raw.type); storage && *storage != *dtype)
      return bad("zt2.schema", fmt::format("{} is stored as {}, not as {}", raw.type, name_of(*storage), raw.dtype));
  ranges_.push_back({number, static_cast<std::uint32_t>(tensors_.size() - 1), *raw.offset, *raw.length});
  if (file.source == nullptr) {
    if (!first_) first_ = *file.trouble;  // already reported
    return false;
  }
  Digest digest;
  ++parts_;
  if (raw.digest.data() == nullptr) ++undigested_;
  if (raw.digest.data() != nullptr) {
    if (auto parsed = parse_digest(raw.digest)) {
      digest = std::move(*parsed);
    } else if (diagnostics_.thorough()) {  // does not prevent opening the file, but it is an error
      diagnostics_.error(Error(ErrorKind::corrupt, "zt2.digest.form",
                               fmt::format("part {}: the digest \"{}\" has another number of digits than its algorithm",
                                           quote(raw.name), quote(raw.digest)))
                             .in(input_.path)
                             .at(raw.at)
                             .about("tensor " + quote(object.name)));
    }
  }
  out.role = raw.name;
  const bool boolean = raw.type.data() != nullptr && raw.type == "bool";
  out.dtype = boolean ? DType::boolean : *dtype;
  if (raw.type.data() != nullptr && !boolean) out.type = raw.type;
  try {
    out.blob = blob_of(object, raw, file, digest);
  } catch (const Error& error) {
    report(object, raw.at, error);
    return false;
  }
  return true;
}

void Objects::read_attributes(const RawObject& raw, Tensor& tensor) {
  if (raw.attributes.data() == nullptr) return;
  wire::CborReader cbor(raw.attributes, input_.path, raw.attributes_at, options_.limits.depth);
  tensor.attributes = unfold(cbor.read_map());
}

void Objects::add(RawObject& raw) {
  Tensor& tensor = start_tensor(raw);
  if (!product_in_order(tensor.shape))
    report(raw, raw.at, "zt2.shape", "the product of its dimensions does not fit 64 bits");
  for (const RawPart& part : raw.parts)
    if (!check_part(raw, part, tensor.components.emplace_back())) break;
  if (!first_) {
    read_attributes(raw, tensor);
    if (const auto problem = check_profile(tensor, raw.layout)) {
      report(raw, raw.at, "zt2." + problem->rule, problem->sentence);
    } else {
      if (const auto doubt = adopt_layout(tensor, raw.layout)) warn(raw, raw.at, *doubt);
      if (diagnostics_.thorough() && raw.layout == codec::zt2::kCooId && tensor.layout == "sparse_coo")
        without_repeats_.insert(tensor.name);
    }
  }
  if (first_) drop_last();
}

// Removes the last tensor, which is broken. Its bytes still belong to no other tensor.
void Objects::drop_last() {
  const auto number = static_cast<std::uint32_t>(tensors_.size() - 1);
  for (std::size_t i = ranges_.size(); i-- > 0 && ranges_[i].tensor == number;) ranges_[i].tensor = kManifest;
  tensors_.back().components.clear();
  broken_.push_back({std::move(tensors_.back()), std::move(*first_)});
  tensors_.pop_back();
}

void Objects::add_broken(const RawObject& raw, Error error) {
  start_tensor(raw).layout = raw.layout;
  report(raw, raw.at, std::move(error));
  drop_last();
}

// Two blobs of a file must be identical or disjoint. The manifest is a blob, too.
void Objects::check_overlaps() {
  ranges_.push_back({0, kManifest, footer_.offset, footer_.length});
  // In a canonical file the ranges are sorted by name, and the list by length and name: a few sorted runs.
  merge_runs(std::span(ranges_), [](const Range& a, const Range& b) {
    return std::tie(a.file, a.offset, a.length) < std::tie(b.file, b.offset, b.length);
  });
  const Range* last = nullptr;  // the last range that is not empty
  for (const Range& range : ranges_) {
    if (range.length == 0) continue;
    const Range* const before = std::exchange(last, &range);
    if (before == nullptr || before->file != range.file || range.offset >= before->offset + before->length) continue;
    if (before->offset == range.offset && before->length == range.length) continue;
    const auto words = [&](const Range& r) {
      return r.tensor == kManifest
                 ? std::string(r.offset == footer_.offset && r.file == 0 ? "the manifest" : "a broken tensor")
                 : "tensor " + quote(name_of_tensor(r.tensor));
    };
    const Range& blamed = range.tensor == kManifest ? *before : range;
    const Range& other = &blamed == &range ? *before : range;
    Error error(ErrorKind::corrupt, "zt2.blob.overlap",
                fmt::format("its {} bytes at {} overlap the {} bytes at {} of {}", blamed.length, blamed.offset,
                            other.length, other.offset, words(other)));
    error.in(input_.path).at(blamed.offset);
    if (blamed.tensor != kManifest) error.about(words(blamed));
    diagnostics_.tensor_error(error);
    if (blamed.tensor != kManifest) overlapping_.emplace(blamed.tensor, std::move(error));
  }
}

// Sorts by the first blobs; at the same offset (shared or empty blobs) by name.
std::vector<std::uint32_t> Objects::order_of_tensors() const {
  std::vector<std::uint32_t> order;
  order.reserve(tensors_.size() + plain_.size());
  std::vector<bool> placed(tensors_.size(), false);
  std::size_t group = 0;
  const auto by_name = [&](std::uint32_t a, std::uint32_t b) { return name_of_tensor(a) < name_of_tensor(b); };
  const auto close_group = [&] {
    if (order.size() - group > 1) merge_runs(std::span(order).subspan(group), by_name);
    group = order.size();
  };
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const Range& range = ranges_[i];
    if (i > 0 && (range.offset != ranges_[i - 1].offset || range.file != ranges_[i - 1].file)) close_group();
    if (range.tensor == kManifest) continue;
    if ((range.tensor & kPlain) == 0) {  // it may have several parts
      if (placed[range.tensor]) continue;
      placed[range.tensor] = true;
    }
    order.push_back(range.tensor);
  }
  close_group();
  return order;
}

std::vector<Tensor> Objects::finish() {
  check_overlaps();
  if (undigested_ > 0 && diagnostics_.thorough())
    diagnostics_.note(Error(ErrorKind::unsupported, "zt2.digest.absent",
                            fmt::format("{} of {} parts have no digest: nothing says what their bytes should be",
                                        undigested_, parts_))
                          .in(input_.path));
  std::vector<std::uint32_t> order = order_of_tensors();
  const SourcePtr& source = files_.front().source;
  const auto others = static_cast<std::uint32_t>(tensors_.size());
  tensors_.reserve(others + plain_.size());
  if (others == 0 && overlapping_.empty()) {  // nearly always: each tensor is made at its final place
    prefer_huge_pages(tensors_.data(), tensors_.capacity() * sizeof(Tensor));
    for (const std::uint32_t number : order) make_tensor(plain_[number ^ kPlain], source, tensors_.emplace_back());
    return std::move(tensors_);
  }
  for (const PlainObject& object : plain_) make_tensor(object, source, tensors_.emplace_back());
  const auto place = [&](std::uint32_t number) { return (number & kPlain) != 0 ? others + (number ^ kPlain) : number; };
  for (std::uint32_t& number : order) number = place(number);
  for (const auto& [number, error] : overlapping_) {
    Tensor& tensor = tensors_[place(number)];
    tensor.components.clear();
    broken_.push_back({std::exchange(tensor, Tensor()), error});
  }
  put_in_order(tensors_, std::move(order));
  // Overlapping tensors were moved out and have no components.
  if (!overlapping_.empty()) std::erase_if(tensors_, [](const Tensor& tensor) { return tensor.components.empty(); });
  return std::move(tensors_);
}

}  // namespace tare::zt2
