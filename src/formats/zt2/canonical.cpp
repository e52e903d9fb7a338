// Checks whether a file is in canonical form, and computes the digest of a model, which does not depend on its layout.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/checked.hpp"
#include "base/nfc.hpp"
#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "formats/zt2/zt2.hpp"
#include "model/pull_blob.hpp"
#include "model/transfer.hpp"

namespace tare::zt2 {
namespace {

// Returns the objects of a manifest, sorted by name.
std::vector<RawObject> list_objects(const Manifest& manifest, bool& shards) {
  std::vector<RawObject> objects;
  Cbor cbor = manifest_reader(manifest.bytes(), manifest.footer.offset);
  std::string_view key;
  for (auto entries = cbor.enter(CborMajor::map, "the manifest"); cbor.next_entry(entries, key);) {
    shards = shards || key == "shards";
    if (key != "objects") {
      cbor.skip();
      continue;
    }
    RawObject object;
    for (auto names = cbor.enter(CborMajor::map, "objects"); cbor.next_entry(names, object.name);) {
      object.parts.clear();
      object.attributes = {};
      object.shape.clear();
      object.layout = {};
      read_object(cbor, object);
      objects.push_back(object);
    }
  }
  std::ranges::sort(objects, {}, &RawObject::name);
  return objects;
}

}  // namespace

std::string canonical_doubt(const Manifest& manifest, std::uint64_t file_bytes) {
  bool shards = false;
  const std::vector<RawObject> objects = list_objects(manifest, shards);
  if (shards) return "not in canonical form: it refers to other files";
  std::uint64_t end = kMagic.size();
  std::map<std::pair<std::string_view, std::uint64_t>, std::uint64_t> placed;  // by digest and length
  for (const RawObject& object : objects)
    for (const RawPart& part : object.parts) {
      const auto about = [&](std::string_view what) {
        return fmt::format("not in canonical form: tensor {}, part {} {}", quote(object.name), quote(part.name), what);
      };
      if (part.encoding.data() != nullptr) return about("is compressed");
      if (part.digest.data() == nullptr || !part.digest.starts_with("xxh3:")) return about("has no xxh3 digest");
      if (!is_nfc(object.name) || !is_nfc(part.name)) return about("has a name that is not in Unicode's form C");
      const std::uint64_t next = checked_align(end, kCanonical).value_or(UINT64_MAX);
      const auto [known, fresh] = placed.try_emplace({part.digest, *part.length}, next);
      if (*part.offset != known->second)
        return about(fmt::format("is at {}, its place is {}", *part.offset, known->second));
      if (fresh) end = next + *part.length;
    }
  const std::uint64_t next = checked_align(end, kCanonical).value_or(UINT64_MAX);
  if (manifest.footer.offset != next)
    return fmt::format("not in canonical form: the manifest is at {}, its place is {}", manifest.footer.offset, next);
  if (next + manifest.footer.length + kFooterBytes != file_bytes)
    return "not in canonical form: bytes follow the manifest before the footer";
  return {};
}

namespace {

// A part of an object, with the digest of its decoded bytes.
struct DigestedPart {
  const Part* part;
  const Object* object;
  std::string digest;
};

// If the file has a digest, it is part of the file's identity and is checked; otherwise the canonical form's digest is
// used.
std::string digest_of_part(const Blob& blob, Progress* progress) {
  const bool sha = blob.digest().algorithm() == DigestAlgorithm::sha256;
  Hasher hasher(sha ? DigestAlgorithm::sha256 : DigestAlgorithm::xxh3);
  Hasher arrived(blob.is_plain() && !sha && blob.digest().algorithm() != DigestAlgorithm::xxh3 ? arrived_algorithm(blob)
                                                                                               : DigestAlgorithm::none);
  pull_blob(blob, [&](std::span<const std::byte> bytes) {
    hasher.update(bytes);
    arrived.update(bytes);
    if (progress != nullptr) progress->advance(bytes.size());
    return true;
  });
  const Digest found = hasher.finish();
  if (blob.is_plain()) {
    expect_arrived(blob, found);
    expect_arrived(blob, arrived.finish());
  }
  return digest_text(found);
}

// The parts of all objects, by name. The largest are hashed first, so that all threads end at about the same time.
std::vector<DigestedPart> digested_parts(const std::vector<Object>& objects, unsigned threads, Progress* progress) {
  std::vector<DigestedPart> parts;
  for (const Object& object : objects)
    for (const Part& part : object.parts) parts.push_back({&part, &object, {}});
  std::vector<std::size_t> order(parts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return parts[i].part->blob->size(); });
  parallel_for(order.size(), threads, [&](std::size_t i) {
    DigestedPart& part = parts[order[i]];
    try {
      part.digest = digest_of_part(*part.part->blob, progress);
    } catch (Error& error) {
      throw error.about("tensor " + quote(part.object->tensor->name));
    }
  });
  std::ranges::sort(parts, [](const auto& a, const auto& b) { return key_before(a.part->name, b.part->name); });
  return parts;
}

void put_object(wire::CborWriter& out, const Object& object, const std::vector<const DigestedPart*>& parts) {
  const Map attributes = fold(attributes_of(object));
  out.text(object.tensor->name);
  out.map(attributes.empty() ? 3 : 4);
  out.text("parts");
  out.map(object.parts.size());
  for (const DigestedPart* const each : parts) {
    out.text(each->part->name);
    out.map(each->part->type.empty() ? 2 : 3);
    if (!each->part->type.empty()) {
      out.text("type");
      out.text(each->part->type);
    }
    out.text("dtype");
    out.text(name_of(each->part->dtype));
    out.text("digest");
    out.text(each->digest);
  }
  out.text("shape");
  out.array(object.tensor->shape.size());
  for (const std::uint64_t dimension : object.tensor->shape) out.uint(dimension);
  out.text("layout");
  out.text(object.layout);
  if (attributes.empty()) return;
  out.text("attributes");
  put_map(out, attributes, 3);
}

}  // namespace

std::string content_digest(const Model& model, const Work& work) {
  check_writable(model);
  const std::vector<Object> objects = objects_of(model);
  const std::vector<DigestedPart> parts = digested_parts(objects, work.threads, work.progress);
  model.check_sources();

  std::map<const Tensor*, std::vector<const DigestedPart*>> parts_of;
  for (const DigestedPart& part : parts) parts_of[part.object->tensor].push_back(&part);
  std::vector<const Object*> ordered;
  for (const Object& object : objects) ordered.push_back(&object);
  std::ranges::sort(ordered,
                    [](const Object* a, const Object* b) { return key_before(a->tensor->name, b->tensor->name); });
  wire::CborWriter out;
  out.array(2);
  out.text("zt.content/1");
  out.map(ordered.size());
  for (const Object* const object : ordered) put_object(out, *object, parts_of[object->tensor]);
  return digest_of(DigestAlgorithm::sha256, out.result()).text();
}

}  // namespace tare::zt2
