// Writes the magic, the blobs in the order of their names, the manifest and the footer. Without options, that is the
// canonical form: every writer gives the same bytes for the same model.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/fits.hpp"
#include "formats/own_attributes.hpp"
#include "formats/rows.hpp"
#include "formats/zt2/zt2.hpp"
#include "model/pull_blob.hpp"
#include "model/transfer.hpp"

namespace tare::zt2 {
namespace {

using wire::CborWriter;

constexpr unsigned kRootAttributes = 1, kObjectAttributes = 3;  // depth in the manifest

Bytes text_key(std::string_view key) {
  CborWriter out;
  out.text(key);
  return out.take();
}

void put_part(CborWriter& out, const Part& part, const StoredPart& stored) {
  out.map(2 + (part.type.empty() ? 0 : 1) + (stored.shard.empty() ? 0 : 1) + (stored.digest.empty() ? 0 : 1) +
          (stored.decoded ? 2 : 0));
  out.text("blob");
  out.array(2);
  out.uint(stored.offset);
  out.uint(stored.length);
  const auto put = [&](std::string_view key, std::string_view value) {
    if (value.empty()) return;
    out.text(key);
    out.text(value);
  };
  put("type", part.type);
  put("dtype", name_of(part.dtype));
  put("shard", stored.shard);
  put("digest", stored.digest);
  if (!stored.decoded) return;
  put("encoding", kSeekableId);
  out.text("decoded_length");
  out.uint(*stored.decoded);
}

Digest digest_of_blob(const Blob& blob, DigestAlgorithm algorithm) {
  Hasher hasher(algorithm);
  pull_blob(blob, [&](std::span<const std::byte> bytes) {
    hasher.update(bytes);
    return true;
  });
  return hasher.finish();
}

// Finds parts with the same bytes as an earlier one, before anything is written, because offsets depend on it.
class Sharing {
 public:
  // `blobs` in the order in which they are stored; null ones are ignored.
  Sharing(std::span<const Blob* const> blobs, unsigned threads) : blobs_(blobs), first_(blobs.size()) {
    std::iota(first_.begin(), first_.end(), std::size_t{0});
    by_place();
    by_content(threads);
  }
  // Returns the number of the first blob with these bytes.
  std::size_t first(std::size_t number) const { return first_[number]; }

 private:
  static constexpr std::size_t kSample = 4096;
  static constexpr std::size_t kTiny = 32;  // up to this size, `look_at` returns the bytes themselves
  using Groups = std::map<std::pair<std::uint64_t, std::string>, std::vector<std::size_t>>;

  void by_place() {
    std::map<std::tuple<const Source*, std::uint64_t, std::uint64_t>, std::size_t> places;
    for (std::size_t i = 0; i < blobs_.size(); ++i)
      if (blobs_[i] != nullptr && blobs_[i]->is_plain() && blobs_[i]->source() != nullptr)
        first_[i] = places.emplace(std::tuple(blobs_[i]->source().get(), blobs_[i]->offset(), blobs_[i]->size()), i)
                        .first->second;
  }

  // Compares sizes first, then samples at both ends, then hashes of all bytes, then the bytes themselves.
  void by_content(unsigned threads) {
    std::map<std::uint64_t, std::vector<std::size_t>> sizes;
    for (std::size_t i = 0; i < blobs_.size(); ++i)
      if (blobs_[i] != nullptr && first_[i] == i) sizes[blobs_[i]->size()].push_back(i);
    std::vector<std::size_t> some;
    for (const auto& [size, numbers] : sizes)
      if (numbers.size() > 1) some.insert(some.end(), numbers.begin(), numbers.end());
    std::vector<std::string> looks(some.size());
    parallel_for(some.size(), threads, [&](std::size_t i) { looks[i] = look_at(*blobs_[some[i]]); });
    const auto group = [](const std::vector<std::size_t>& numbers, const std::vector<std::string>& keys, auto size_of) {
      Groups groups;
      for (std::size_t i = 0; i < numbers.size(); ++i) groups[{size_of(numbers[i]), keys[i]}].push_back(numbers[i]);
      std::erase_if(groups, [](const auto& entry) { return entry.second.size() < 2; });
      return groups;
    };
    const auto size_of = [&](std::size_t number) { return blobs_[number]->size(); };
    std::vector<std::size_t> alike;
    std::vector<std::array<std::size_t, 2>> pairs;
    for (const auto& [key, numbers] : group(some, looks, size_of)) {
      if (key.first > 2 * kSample) {
        // Two are compared at once: hashes would have to be followed by that, and what is encoded is made anew each time.
        if (numbers.size() == 2)
          pairs.push_back({numbers[0], numbers[1]});
        else
          alike.insert(alike.end(), numbers.begin(), numbers.end());
        continue;
      }
      if (key.first > kTiny)
        settle(numbers);  // the samples had all bytes
      else
        for (const std::size_t number : numbers) first_[number] = numbers.front();
    }
    parallel_for(pairs.size(), threads, [&](std::size_t i) { settle(pairs[i]); });
    std::vector<std::string> hashes(alike.size());
    parallel_for(alike.size(), threads, [&](std::size_t i) { hashes[i] = hash_of(*blobs_[alike[i]]); });
    for (const auto& [key, numbers] : group(alike, hashes, size_of)) settle(numbers);
    for (std::size_t i = 0; i < first_.size(); ++i) first_[i] = first_[first_[i]];
  }

  // Equal hashes are not proof: compares the bytes.
  void settle(std::span<const std::size_t> numbers) {
    for (const std::size_t number : numbers.subspan(1))
      if (same_bytes(*blobs_[numbers.front()], *blobs_[number])) first_[number] = numbers.front();
  }

  static std::string look_at(const Blob& blob) {
    std::array<std::byte, 2 * kSample> room;
    const bool whole = blob.size() <= room.size();
    const std::span seen = std::span(room).first(whole ? blob.size() : kSample);
    blob.read(0, seen);
    if (seen.size() <= kTiny) return {reinterpret_cast<const char*>(seen.data()), seen.size()};
    Hasher hasher(DigestAlgorithm::xxh3_128);
    hasher.update(seen);
    // A blob that is produced may only be readable from its beginning.
    if (!whole && blob.is_plain()) {
      blob.read(blob.size() - kSample, seen);
      hasher.update(seen);
    }
    return hasher.finish().hex();
  }

  static std::string hash_of(const Blob& blob) { return digest_of_blob(blob, DigestAlgorithm::xxh3_128).hex(); }

  static bool same_bytes(const Blob& a, const Blob& b) {
    const auto other = b.open();
    Bytes buffer;
    bool same = true;
    pull_blob(a, [&](std::span<const std::byte> bytes) {
      buffer.resize(bytes.size());
      other->read(buffer);
      return same = std::ranges::equal(buffer, bytes);
    });
    return same;
  }

  std::span<const Blob* const> blobs_;
  std::vector<std::size_t> first_;
};

bool stays_compressed(const Blob& blob, const WriteOptions& options) {
  return blob.encoding() == Encoding::zstd_seekable && !options.zstd_level && !options.unpack;
}

std::vector<const Tensor*> by_name(std::vector<const Tensor*> tensors) {
  std::ranges::stable_sort(tensors, {}, &Tensor::name);
  return tensors;
}

Object writable_object(const Tensor& tensor) {
  Object object = object_of(tensor);
  if (std::ranges::adjacent_find(object.parts, {}, &Part::name) != object.parts.end())
    throw Error(ErrorKind::unsupported, "zt2.write.duplicate", "two components of one role")
        .about("tensor " + quote(tensor.name));
  return object;
}

// Uses SHA-256 if all blobs have such a digest, and the algorithm of the canonical form otherwise.
DigestAlgorithm digest_for(std::span<const Blob* const> blobs, const WriteOptions& options) {
  if (options.digest) return *options.digest;
  const bool sha = std::ranges::all_of(
      blobs, [](const Blob* blob) { return blob->digest().algorithm() == DigestAlgorithm::sha256; });
  return sha && !blobs.empty() ? DigestAlgorithm::sha256 : DigestAlgorithm::xxh3;
}

// Takes the parts that stay compressed out of `loose`, and returns their digests. Each is decoded once, so that every
// file that Tare writes can be read.
std::vector<Digest> check_compressed(std::vector<const Blob*>& loose, DigestAlgorithm algorithm,
                                     const WriteOptions& options) {
  std::vector<std::pair<std::size_t, const Blob*>> compressed;
  for (std::size_t i = 0; i < loose.size(); ++i)
    if (stays_compressed(*loose[i], options)) compressed.emplace_back(i, std::exchange(loose[i], nullptr));
  std::vector<Digest> digests(loose.size());
  parallel_for(compressed.size(), options.work.threads, [&](std::size_t i) {
    const auto& [number, blob] = compressed[i];
    digests[number] = digest_of_blob(*blob, algorithm);
  });
  return digests;
}

}  // namespace

void EntryList::add(Bytes key, std::span<const std::byte> value) {
  const std::size_t length = key.size();
  auto bytes = std::make_unique<Bytes>(std::move(key));
  bytes->insert(bytes->end(), value.begin(), value.end());
  entries_.push_back({std::span(*bytes).first(length), *bytes});
  kept_.push_back(std::move(bytes));
}

std::vector<const Tensor*> tensors_of(const Model& model) {
  std::vector<const Tensor*> tensors;
  tensors.reserve(model.tensors.size());
  for (const Tensor& tensor : model.tensors) tensors.push_back(&tensor);
  return tensors;
}

std::vector<Object> objects_of(const Model& model) {
  std::vector<Object> objects;
  objects.reserve(model.tensors.size());
  for (const Tensor* const tensor : by_name(tensors_of(model))) objects.push_back(writable_object(*tensor));
  return objects;
}

void check_writable(const Model& model) {
  require_fit(model, kFormat);
  check_own_attributes(model, kFormatName);
  const auto name = [](std::string_view text, std::string_view what) {
    if (!is_name(text) || !is_valid_utf8(text))
      throw Error(ErrorKind::unsupported, "zt2.write.name",
                  fmt::format("{} must be 1 to {} bytes of UTF-8 without a NUL", what, kMaxName));
  };
  CborWriter scratch;
  for (const Tensor& tensor : model.tensors) {
    try {
      name(tensor.name, "a name");
      if (!is_valid_utf8(tensor.layout) || !std::ranges::all_of(tensor.components, [](const Component& component) {
            return is_valid_utf8(component.type);
          }))
        throw Error(ErrorKind::unsupported, "zt2.write.name", "its layout or a type is not UTF-8, as zTensor asks");
      for (const Component& component : tensor.components) name(component.role, "a component's role");
      if (tensor.attributes.empty()) continue;
      scratch.take();
      put_map(scratch, fold(tensor.attributes), kObjectAttributes);
    } catch (Error& error) {
      throw error.about("tensor " + quote(tensor.name));
    }
  }
  scratch.take();
  put_map(scratch, fold(model.metadata), kRootAttributes);
}

void add_attributes(EntryList& root, const Model& model) {
  const Map attributes = with_own_attributes(model);
  if (attributes.empty()) return;
  CborWriter out;
  put_map(out, fold(attributes), kRootAttributes);
  root.add(text_key("attributes"), out.result());
}

void add_object(EntryList& entries, const StoredObject& stored) {
  const Object& object = stored.object;
  const Map attributes = fold(attributes_of(object));
  CborWriter out;
  out.map(attributes.empty() ? 3 : 4);
  out.text("parts");
  out.map(object.parts.size());
  std::vector<std::size_t> order(object.parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(
      order, [&](std::size_t a, std::size_t b) { return key_before(object.parts[a].name, object.parts[b].name); });
  for (const std::size_t i : order) {
    out.text(object.parts[i].name);
    put_part(out, object.parts[i], stored.parts[i]);
  }
  out.text("shape");
  out.array(object.tensor->shape.size());
  for (const std::uint64_t dimension : object.tensor->shape) out.uint(dimension);
  out.text("layout");
  out.text(object.layout);
  if (!attributes.empty()) {
    out.text("attributes");
    put_map(out, attributes, kObjectAttributes);
  }
  entries.add(text_key(object.tensor->name), out.result());
}

// Entries are put into the result one by one: a manifest may be as large as the file that the model came from.
Bytes build_manifest(const EntryList& objects, EntryList root) {
  const auto before = [](const Entry& a, const Entry& b) { return std::ranges::lexicographical_compare(a.key, b.key); };
  std::vector<Entry> inner = objects.all();
  std::ranges::sort(inner, before);
  const Bytes key = text_key("objects");
  CborWriter head;
  head.map(inner.size());
  root.add(key, head.take());
  std::vector<Entry> outer = root.all();
  std::ranges::sort(outer, before);
  head.map(outer.size());
  Bytes manifest = head.take();
  std::uint64_t size = manifest.size();
  for (const std::vector<Entry>* const list : {&inner, &outer})
    for (const Entry& entry : *list) size += entry.bytes.size();
  if (size > kMaxManifest)
    throw Error(ErrorKind::limit, "zt2.manifest.size",
                fmt::format("the manifest would have {} bytes, at most {} allowed", size, kMaxManifest));
  manifest.reserve(size);
  const auto put = [&](const Entry& entry) { manifest.insert(manifest.end(), entry.bytes.begin(), entry.bytes.end()); };
  for (const Entry& entry : outer) {
    put(entry);
    if (std::ranges::equal(entry.key, key)) std::ranges::for_each(inner, put);
  }
  return manifest;
}

void put_blobs(std::vector<const Tensor*> tensors, Sink& sink, const WriteOptions& options, std::uint64_t alignment,
               const PutObject& put) {
  tensors = by_name(std::move(tensors));
  std::vector<const Blob*> blobs;
  for (const Tensor* const tensor : tensors)
    for (const Part& part : writable_object(*tensor).parts) blobs.push_back(part.blob);
  const DigestAlgorithm algorithm = digest_for(blobs, options);
  std::vector<const Blob*> loose = blobs;
  const std::vector<Digest> digests = check_compressed(loose, algorithm, options);
  const Sharing sharing(loose, options.work.threads);
  Transfer transfer(sink, {.alignment = alignment,
                           .zstd_level = options.zstd_level,
                           .seekable = true,
                           .digest = algorithm,
                           .threads = options.work.threads,
                           .progress = options.work.progress});
  const auto advance = [&](std::uint64_t bytes) {
    if (options.work.progress != nullptr) options.work.progress->advance(bytes);
  };
  std::vector<std::size_t> numbers(blobs.size());
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    if (sharing.first(i) != i) {
      numbers[i] = numbers[sharing.first(i)];
      advance(blobs[i]->size());
    } else if (loose[i] != nullptr) {
      numbers[i] = transfer.add(*blobs[i]);
    } else {
      numbers[i] = transfer.add(
          Blob::range(blobs[i]->source(), blobs[i]->offset(), blobs[i]->stored_size()).guarded(blobs[i]->guard()));
      advance(blobs[i]->size() - std::min(blobs[i]->size(), blobs[i]->stored_size()));
    }
  }
  transfer.finish();

  std::size_t number = 0;
  for (const Tensor* const tensor : tensors) {
    StoredObject mine{object_of(*tensor), {}};
    for (std::size_t i = 0; i < mine.object.parts.size(); ++i, ++number) {
      const StoredBlob& blob = transfer.stored(numbers[number]);
      StoredPart& part = mine.parts.emplace_back();
      part.offset = blob.offset;
      part.length = blob.stored;
      const bool kept = loose[number] == nullptr;
      if (kept || blob.encoding == Encoding::zstd_seekable) part.decoded = blobs[number]->size();
      const Digest& digest = kept ? digests[number] : blob.digest;
      if (sharing.first(number) != number && blobs[number]->encoding() == Encoding::raw)
        expect_arrived(*blobs[number], digest);
      part.digest = digest_text(digest);
    }
    put(mine);
  }
}

void put_manifest(Sink& sink, std::span<const std::byte> manifest, std::uint64_t alignment) {
  sink.align(alignment);
  const std::uint64_t offset = sink.position();
  sink.write(manifest);
  sink.write(make_footer(offset, manifest));
}

void write(const Model& model, Sink& sink, const WriteOptions& options) {
  check_writable(model);
  const std::uint64_t alignment = options.dialect == kPages ? kFloor : kCanonical;
  sink.write(std::as_bytes(std::span(kMagic)));
  EntryList objects, root;
  put_blobs(tensors_of(model), sink, options, alignment,
            [&](const StoredObject& object) { add_object(objects, object); });
  add_attributes(root, model);
  put_manifest(sink, build_manifest(objects, std::move(root)), alignment);
}

}  // namespace tare::zt2
