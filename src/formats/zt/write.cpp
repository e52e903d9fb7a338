// Writes container 1.2 front to back: header, blobs, manifest, footer.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/endian.hpp"
#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/fits.hpp"
#include "formats/own_attributes.hpp"
#include "formats/rows.hpp"
#include "formats/zt/zt.hpp"
#include "model/pull_blob.hpp"
#include "model/transfer.hpp"
#include "tare/codec.hpp"

namespace tare::zt {
namespace {

using wire::CborWriter;

std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// Returns the entries of a map in byte order of their keys, without those in `except`.
std::vector<const Map::Entry*> sorted_entries(const Map& map, std::span<const std::string_view> except = {}) {
  std::vector<const Map::Entry*> entries;
  for (const auto& entry : map)
    if (std::find(except.begin(), except.end(), entry.first) == except.end()) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  return entries;
}

// Returns unknown text keys that were kept from the source, to be written back at their level; null if the attribute does
// not exist. One with a key of ours, or without keys, was not made by the reader: it stays an attribute.
const Map* kept_fields(const Map& attributes, std::string_view key, std::span<const std::string_view> ours) {
  const Value* const kept = attributes.find(key);
  const Map* const map = kept == nullptr ? nullptr : kept->get<Map>();
  if (map == nullptr || map->empty()) return nullptr;
  const bool clashes = std::ranges::any_of(ours, [&](std::string_view own) { return map->find(own) != nullptr; });
  return clashes ? nullptr : map;
}

std::vector<const Map::Entry*> unknown_entries(const Map& attributes, std::string_view key,
                                               std::span<const std::string_view> ours) {
  const Map* const map = kept_fields(attributes, key, ours);
  return map == nullptr ? std::vector<const Map::Entry*>() : sorted_entries(*map);
}

void put_entries(CborWriter& out, const std::vector<const Map::Entry*>& entries) {
  for (const auto* entry : entries) {
    out.text(entry->first);
    out.value(entry->second);
  }
}

constexpr std::string_view kRootKeys[] = {"version", "attributes", "objects"};
constexpr std::string_view kObjectKeys[] = {"shape", "format", "attributes", "components"};
constexpr std::string_view kComponentKeys[] = {"dtype",    "type",  "offset", "length", "uncompressed_length",
                                               "encoding", "digest"};

void put_component(CborWriter& out, const Tensor& tensor, const Component& component, const StoredComponent& stored) {
  const auto unknown =
      unknown_entries(tensor.attributes, fmt::format("{}.{}", kUnknownKeys, component.role), kComponentKeys);
  out.map(3 + (component.type.empty() ? 0 : 1) + (stored.uncompressed ? 2 : 0) + (stored.digest.empty() ? 0 : 1) +
          unknown.size());
  out.text("dtype");
  out.text(name_of(component.dtype));
  if (!component.type.empty()) {
    out.text("type");
    out.text(component.type);
  }
  out.text("offset");
  out.uint(stored.offset);
  out.text("length");
  out.uint(stored.length);
  if (stored.uncompressed) {
    out.text("uncompressed_length");
    out.uint(*stored.uncompressed);
    out.text("encoding");
    out.text("zstd");
  }
  if (!stored.digest.empty()) {
    out.text("digest");
    out.text(stored.digest);
  }
  put_entries(out, unknown);
}

// Returns the attribute keys that hold unknown fields of this tensor.
std::vector<std::string> private_keys(const Tensor& tensor) {
  std::vector<std::string> keys;
  const auto add_if_kept = [&](std::string key, std::span<const std::string_view> ours) {
    if (kept_fields(tensor.attributes, key, ours) != nullptr) keys.push_back(std::move(key));
  };
  add_if_kept(std::string(kUnknownKeys), kObjectKeys);
  for (const Component& component : tensor.components)
    add_if_kept(fmt::format("{}.{}", kUnknownKeys, component.role), kComponentKeys);
  return keys;
}

void put_object(CborWriter& out, const StoredTensor& stored) {
  const Tensor& tensor = *stored.tensor;
  const std::vector<std::string> hidden = tensor.attributes.empty() ? std::vector<std::string>() : private_keys(tensor);
  const std::vector<std::string_view> except(hidden.begin(), hidden.end());
  const Map complete = tensor.complete_attributes();
  const auto attributes = sorted_entries(complete, except);
  const auto unknown = unknown_entries(tensor.attributes, kUnknownKeys, kObjectKeys);
  out.map(3 + (attributes.empty() ? 0 : 1) + unknown.size());
  out.text("shape");
  out.array(tensor.shape.size());
  for (const std::uint64_t dimension : tensor.shape) out.uint(dimension);
  out.text("format");
  out.text(tensor.layout);
  if (!attributes.empty()) {
    out.text("attributes");
    out.map(attributes.size());
    put_entries(out, attributes);
  }
  out.text("components");
  out.map(tensor.components.size());
  std::vector<std::size_t> order(tensor.components.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return tensor.components[a].role < tensor.components[b].role; });
  for (const std::size_t i : order) {
    out.text(tensor.components[i].role);
    put_component(out, tensor, tensor.components[i], stored.components[i]);
  }
  put_entries(out, unknown);
}

Error unwritable(std::string_view rule, const Tensor& tensor, std::string_view sentence) {
  return Error(ErrorKind::unsupported, rule, sentence).about("tensor " + quote(tensor.name));
}

Error duplicate_key(std::string_view key) {
  return Error(ErrorKind::unsupported, "zt.write.duplicate",
               fmt::format("the metadata key {} appears twice in one map", quote(key)));
}

// Keys are CBOR text, so they must be UTF-8, and must appear once; `depth` levels may still follow. Unknown keys that
// are kept in attributes are written two levels higher.
// `ours`: the keys of their level; none for maps inside of attributes.
void check_tree(const Value& value, unsigned depth);
void check_tree(const Map& map, unsigned depth, std::span<const std::string_view> ours = {}) {
  wire::KeyCheck keys;
  for (const auto& [key, value] : map) {
    if (!is_valid_utf8(key))
      throw Error(ErrorKind::unsupported, "zt.write.name",
                  fmt::format("the metadata key {} is not UTF-8, as zTensor asks", quote(key)));
    keys.add(key);
    const bool unknown = !ours.empty() && key == kUnknownKeys && kept_fields(map, key, ours) != nullptr;
    check_tree(value, unknown ? depth + 2 : depth);
  }
  if (const auto twice = keys.find_duplicate(); twice.data() != nullptr) throw duplicate_key(twice);
}
void check_tree(const Value& value, unsigned depth) {
  const Map* const map = value.get<Map>();
  const List* const list = value.get<List>();
  const Opaque* const opaque = value.get<Opaque>();
  const bool nested = map != nullptr || list != nullptr;
  const bool hidden = opaque != nullptr && opaque->syntax == "cbor" && wire::is_one_item(opaque->bytes) &&
                      !wire::is_one_item(opaque->bytes, depth);
  if (hidden || (nested && depth == 0))
    throw Error(ErrorKind::unsupported, "zt.write.depth",
                fmt::format("the metadata is nested deeper than the {} levels that readers take", Limits().depth));
  if (map != nullptr) check_tree(*map, depth - 1);
  if (list != nullptr)
    for (const Value& item : *list) check_tree(item, depth - 1);
}

// The levels that remain for metadata values in the root's attributes and in an object's.
constexpr unsigned kRootDepth = Limits().depth - 2, kObjectDepth = Limits().depth - 4;

}  // namespace

std::vector<std::size_t> write_order(const Tensor& tensor) {
  const Codec* const codec = find_codec(tensor.layout);
  const auto rank = [&](std::string_view role) {
    if (codec == nullptr) return std::size_t{0};
    return static_cast<std::size_t>(std::find(codec->roles.begin(), codec->roles.end(), role) - codec->roles.begin());
  };
  std::vector<std::size_t> order(tensor.components.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto &left = tensor.components[a].role, &right = tensor.components[b].role;
    return rank(left) != rank(right) ? rank(left) < rank(right) : left < right;
  });
  return order;
}

void check_writable(const Model& model) {
  require_fit(model, kFormat);
  check_own_attributes(model, "zt");
  try {
    check_tree(model.metadata, kRootDepth, kRootKeys);
  } catch (Error& error) {
    throw error.remedy(Remedy::drop, "metadata");
  }
  for (const Tensor& tensor : model.tensors) {
    if (!is_valid_utf8(tensor.name) || !is_valid_utf8(tensor.layout))
      throw unwritable("zt.write.name", tensor, "its name or layout is not UTF-8, as zTensor asks");
    try {
      check_tree(tensor.attributes, kObjectDepth, kObjectKeys);
    } catch (Error& error) {
      throw error.about("tensor " + quote(tensor.name));
    }
    if (tensor.shape.size() > 64) throw unwritable("zt.write.rank", tensor, "more than 64 dimensions");
    for (std::size_t i = 0; i < tensor.components.size(); ++i) {
      if (!is_valid_utf8(tensor.components[i].role) || !is_valid_utf8(tensor.components[i].type))
        throw unwritable("zt.write.name", tensor, "a component's role or type is not UTF-8, as zTensor asks");
      for (std::size_t j = 0; j < i; ++j)
        if (tensor.components[i].role == tensor.components[j].role)
          throw unwritable("zt.write.duplicate", tensor, "two components of one role");
    }
  }
}

Bytes build_manifest(const Model& model, std::vector<StoredTensor> tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const StoredTensor& a, const StoredTensor& b) { return a.tensor->name < b.tensor->name; });
  const Map attributes = with_own_attributes(model);
  const bool has_kept = kept_fields(attributes, kUnknownKeys, kRootKeys) != nullptr;
  const std::string_view hidden[] = {kUnknownKeys};
  const auto entries = sorted_entries(
      attributes, has_kept ? std::span<const std::string_view>(hidden) : std::span<const std::string_view>());
  const auto unknown = unknown_entries(attributes, kUnknownKeys, kRootKeys);

  CborWriter out;
  out.map(2 + (entries.empty() ? 0 : 1) + unknown.size());
  out.text("version");
  out.text(kWrittenVersion);
  if (!entries.empty()) {
    out.text("attributes");
    out.map(entries.size());
    put_entries(out, entries);
  }
  out.text("objects");
  out.map(tensors.size());
  for (const StoredTensor& tensor : tensors) {
    out.text(tensor.tensor->name);
    put_object(out, tensor);
  }
  put_entries(out, unknown);
  if (out.result().size() > kMaxManifest)
    throw Error(ErrorKind::limit, "zt.manifest.size",
                fmt::format("the manifest would have {} bytes, at most {} allowed", out.result().size(), kMaxManifest));
  return out.take();
}

namespace {

bool stays_compressed(const Blob& blob, const WriteOptions& options) {
  return blob.encoding() == Encoding::zstd && !options.zstd_level && !options.unpack;
}

// Compressed components that are copied unchanged are decoded once, so that every file that Tare writes can be read.
void check_compressed(std::span<const Tensor> tensors, const WriteOptions& options) {
  std::vector<const Blob*> compressed;
  for (const Tensor& tensor : tensors)
    for (const Component& component : tensor.components)
      if (stays_compressed(component.blob, options)) compressed.push_back(&component.blob);
  parallel_for(compressed.size(), options.work.threads, [&](std::size_t i) {
    const Blob& blob = *compressed[i];
    pull_blob(blob, [](std::span<const std::byte>) { return true; });
    // Progress counts decoded bytes; copying accounts for the stored ones.
    if (options.work.progress != nullptr && blob.size() > blob.stored_size())
      options.work.progress->advance(blob.size() - blob.stored_size());
  });
}

}  // namespace

std::vector<StoredTensor> put_blobs(std::span<const Tensor> tensors, Sink& sink, const WriteOptions& options) {
  check_compressed(tensors, options);
  Transfer transfer(sink, {.alignment = kAlignment,
                           .zstd_level = options.zstd_level,
                           .digest = options.digest,
                           .threads = options.work.threads,
                           .progress = options.work.progress});
  std::vector<std::vector<std::size_t>> numbers;
  for (const Tensor& tensor : tensors) {
    auto& mine = numbers.emplace_back(tensor.components.size());
    for (const std::size_t i : write_order(tensor)) {
      const Blob& blob = tensor.components[i].blob;
      mine[i] = transfer.add(stays_compressed(blob, options)
                                 ? Blob::range(blob.source(), blob.offset(), blob.stored_size(), blob.digest())
                                 : blob);
    }
  }
  transfer.finish();

  std::vector<StoredTensor> stored;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    StoredTensor& mine = stored.emplace_back();
    mine.tensor = &tensors[t];
    for (std::size_t i = 0; i < numbers[t].size(); ++i) {
      const StoredBlob& blob = transfer.stored(numbers[t][i]);
      const Blob& given = tensors[t].components[i].blob;
      StoredComponent& component = mine.components.emplace_back();
      component.offset = blob.offset;
      component.length = blob.stored;
      if (blob.encoding == Encoding::zstd) component.uncompressed = blob.size;
      if (stays_compressed(given, options)) component.uncompressed = given.size();
      component.digest = blob.digest.text();
    }
  }
  return stored;
}

std::array<std::byte, kFooterBytes> make_footer(std::uint64_t manifest_bytes) {
  std::array<std::byte, kFooterBytes> footer{};
  store_le(footer.data(), manifest_bytes);
  std::ranges::copy(as_bytes(kMagic), footer.begin() + sizeof manifest_bytes);
  return footer;
}

void put_footer(Sink& sink, std::span<const std::byte> manifest) {
  sink.write(manifest);
  sink.write(make_footer(manifest.size()));
}

void write(const Model& model, Sink& sink, const WriteOptions& options) {
  check_writable(model);
  sink.write(as_bytes(kMagic));
  const Bytes manifest = build_manifest(model, put_blobs(model.tensors, sink, options));
  put_footer(sink, manifest);
}

}  // namespace tare::zt
