// Writes one file front to back: the header is known before the data.
#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/fits.hpp"
#include "formats/rows.hpp"
#include "formats/safetensors/safetensors.hpp"
#include "model/transfer.hpp"
#include "tare/codec.hpp"
#include "wire/cbor.hpp"

namespace tare::safetensors {
namespace {

Error unwritable(std::string_view rule, const Tensor& tensor, std::string_view sentence) {
  return Error(ErrorKind::unsupported, rule, sentence).about("tensor " + quote(tensor.name));
}

// Throws if a key appears twice or the tree is deeper than readers accept; `depth` levels may still follow.
void check_tree(const Value& value, unsigned depth);
void check_tree(const Map& map, unsigned depth) {
  wire::KeyCheck keys;
  for (const auto& [key, value] : map) {
    keys.add(key);
    check_tree(value, depth);
  }
  if (const auto twice = keys.find_duplicate(); twice.data() != nullptr)
    throw Error(ErrorKind::unsupported, "safetensors.write.duplicate",
                fmt::format("the metadata key {} appears twice in one map", quote(twice)));
}
void check_tree(const Value& value, unsigned depth) {
  const Map* const map = value.get<Map>();
  const List* const list = value.get<List>();
  if (map == nullptr && list == nullptr) return;
  if (depth == 0)
    throw Error(ErrorKind::unsupported, "safetensors.write.depth",
                fmt::format("the metadata is nested deeper than the {} levels that readers take", Limits().depth));
  if (map != nullptr) check_tree(*map, depth - 1);
  if (list != nullptr)
    for (const Value& item : *list) check_tree(item, depth - 1);
}

void check_tensor(const Tensor& tensor) {
  if (!is_valid_utf8(tensor.name))
    throw unwritable("safetensors.write.name", tensor, "its name is not UTF-8, as JSON asks");
  if (tensor.name.find('\0') != std::string::npos)
    throw unwritable("safetensors.write.name", tensor, "a zero byte in its name, which readers refuse");
  if (tensor.name == kMetadataKey)
    throw unwritable("safetensors.write.name", tensor, "the header keeps this name for its metadata");
  if (type_of(tensor) == nullptr)
    throw unwritable("safetensors.write.type", tensor,
                     fmt::format("safetensors has no type for {} ({})", dtype_name(tensor), tensor.layout));
  std::optional<std::uint64_t> product = 1;
  for (const std::uint64_t dimension : tensor.shape)
    if (product) product = checked_mul(*product, dimension);
  if (!product)
    throw unwritable(
        "safetensors.write.shape", tensor,
        fmt::format("readers multiply the shape {} from the left and overflow before its zero", tensor.shape.text()));
  try {
    check_tree(tensor.attributes, Limits().depth);
  } catch (Error& error) {
    throw error.about("tensor " + quote(tensor.name));
  }
}

std::size_t rank_of(const HeaderType* type) { return static_cast<std::size_t>(type - kTypes); }

void put_entry(std::string& out, const Tensor& tensor, std::uint64_t begin, std::uint64_t end) {
  append_json_string(out, tensor.name);
  fmt::format_to(std::back_inserter(out), FMT_COMPILE(R"(:{{"dtype":"{}","shape":[)"), type_of(tensor)->name);
  for (std::size_t i = 0; i < tensor.shape.size(); ++i)
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}{}"), i == 0 ? "" : ",", tensor.shape[i]);
  fmt::format_to(std::back_inserter(out), FMT_COMPILE(R"(],"data_offsets":[{},{}]}})"), begin, end);
}

std::size_t padding_of(std::size_t header, std::uint64_t alignment) {
  return *checked_align(header + 8, alignment) - 8 - header;
}

// Makes the error for a header that is too long, with the remedy that helps: less padding, fewer tensors, or less
// metadata.
Error too_long(std::size_t padded, std::size_t unpadded, const Strings& metadata, const WriteOptions& options) {
  const std::string sentence =
      fmt::format("the header would have {} bytes, and many readers stop at {}", padded, kMaxWrittenHeader);
  Error error(ErrorKind::limit, "safetensors.write.header", sentence);
  std::size_t strings = 0;
  for (const auto& [key, text] : metadata)
    if (key != kPrivateKey) strings += key.size() + text.size();  // attributes are stored with their tensors
  if (strings > kMaxWrittenHeader - kDataAlignment)
    return error.reworded(fmt::format("{}; the metadata alone takes {}", sentence, strings))
        .remedy(Remedy::drop, "metadata");
  error.remedy(Remedy::shard, options.shard_bytes ? "smaller" : "");
  if (options.dialect != kUpstream && unpadded + padding_of(unpadded, kLeastAlignment) <= kMaxWrittenHeader)
    error.remedy(Remedy::write_dialect, kUpstream);
  return error;
}

std::string build_header(std::span<const Tensor* const> ordered, const Strings& metadata, const WriteOptions& options) {
  std::string text = "{";
  if (!metadata.empty()) {
    fmt::format_to(std::back_inserter(text), R"("{}":{{)", kMetadataKey);
    for (std::size_t i = 0; i < metadata.size(); ++i) {
      if (i > 0) text += ',';
      append_json_string(text, metadata[i].first);
      text += ':';
      append_json_string(text, metadata[i].second);
    }
    text += '}';
  }
  std::uint64_t at = 0;
  for (const Tensor* const tensor : ordered) {
    if (text.size() > 1) text += ',';
    const auto end = checked_add(at, tensor->bytes());
    if (!end) throw unwritable("safetensors.write.header", *tensor, "the data does not fit 64 bits of length");
    put_entry(text, *tensor, at, *end);
    at = *end;
  }
  text += '}';
  const std::size_t unpadded = text.size();
  const std::uint64_t alignment = options.dialect == kUpstream ? kLeastAlignment : kDataAlignment;
  text.append(padding_of(unpadded, alignment), ' ');
  if (text.size() > kMaxWrittenHeader) throw too_long(text.size(), unpadded, metadata, options);
  return text;
}

}  // namespace

void check_writable(const Model& model) {
  require_fit(model, kFormat);
  try {
    check_tree(model.metadata, Limits().depth);
  } catch (Error& error) {
    throw error.remedy(Remedy::drop, "metadata");
  }
  for (const Tensor& tensor : model.tensors) check_tensor(tensor);
}

void put_in_order(std::vector<const Tensor*>& tensors) {
  std::vector<std::pair<std::size_t, const Tensor*>> keyed;
  keyed.reserve(tensors.size());
  for (const Tensor* const tensor : tensors) keyed.emplace_back(rank_of(type_of(*tensor)), tensor);
  std::sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second->name < b.second->name;
  });
  std::transform(keyed.begin(), keyed.end(), tensors.begin(), [](const auto& pair) { return pair.second; });
}

std::uint64_t header_share(const Tensor& tensor) {
  std::string entry;
  put_entry(entry, tensor, UINT64_MAX, UINT64_MAX);
  if (!tensor.attributes.empty()) {
    // This is JSON inside a JSON string: every quote is escaped.
    std::string quoted;
    append_json_string(quoted, to_json(tensor.attributes));
    entry += quoted + tensor.name;
  }
  return entry.size() + 8;
}

void write_file(std::span<const Tensor* const> ordered, const Strings& metadata, Sink& sink,
                const WriteOptions& options) {
  const std::string header = build_header(ordered, metadata, options);
  std::byte length[8];
  store_le<std::uint64_t>(length, header.size());
  sink.write(length);
  sink.write(std::as_bytes(std::span(header)));
  Transfer transfer(sink, {.alignment = 1,
                           .zstd_level = std::nullopt,
                           .digest = std::nullopt,
                           .threads = options.work.threads,
                           .progress = options.work.progress});
  for (const Tensor* const tensor : ordered) transfer.add(tensor->components.front().blob);
  transfer.finish();
}

void write(const Model& model, Sink& sink, const WriteOptions& options) {
  check_writable(model);
  std::vector<const Tensor*> tensors;
  tensors.reserve(model.tensors.size());
  for (const Tensor& tensor : model.tensors) tensors.push_back(&tensor);
  put_in_order(tensors);
  write_file(tensors, string_metadata(model, tensors, true), sink, options);
}

}  // namespace tare::safetensors
