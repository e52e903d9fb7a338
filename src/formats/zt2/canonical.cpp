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
  Cbor cbor(manifest.bytes(), manifest.footer.offset);
  std::string_view key;
  for (auto entries = cbor.map("the manifest"); cbor.next_entry(entries, key);) {
    shards = shards || key == "shards";
    if (key != "objects") {
      cbor.skip();
      continue;
    }
    RawObject object;
    for (auto names = cbor.map("objects"); cbor.next_entry(names, object.name);) {
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

std::string content_digest(const Model& model, unsigned threads, Progress* progress) {
  check_writable(model);
  const std::vector<Object> objects = objects_of(model);
  struct Line {
    const Part* part;
    const Object* object;
    std::string digest;
  };
  std::vector<Line> lines;
  for (const Object& object : objects)
    for (const Part& part : object.parts) lines.push_back({&part, &object, {}});
  std::vector<std::size_t> order(lines.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return lines[i].part->blob->size(); });
  // If the file has a digest, it is part of the file's identity and is checked; otherwise the canonical form's digest
  // is used.
  parallel_for(order.size(), threads, [&](std::size_t i) {
    Line& line = lines[order[i]];
    const Blob& blob = *line.part->blob;
    const bool sha = blob.digest().algorithm() == DigestAlgorithm::sha256;
    Hasher hasher(sha ? DigestAlgorithm::sha256 : DigestAlgorithm::xxh3);
    Hasher arrived(blob.is_plain() && !sha && blob.digest().algorithm() != DigestAlgorithm::xxh3
                       ? arrived_algorithm(blob)
                       : DigestAlgorithm::none);
    try {
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
      line.digest = digest_text(found);
    } catch (Error& error) {
      throw error.about("tensor " + quote(line.object->tensor->name));
    }
  });
  model.check_sources();

  wire::CborWriter out;
  out.array(2);
  out.text("zt.content/1");
  std::vector<const Object*> ordered;
  for (const Object& object : objects) ordered.push_back(&object);
  std::ranges::sort(ordered,
                    [](const Object* a, const Object* b) { return key_before(a->tensor->name, b->tensor->name); });
  std::ranges::sort(lines, [](const Line& a, const Line& b) { return key_before(a.part->name, b.part->name); });
  std::map<const Tensor*, std::vector<const Line*>> of;
  for (const Line& line : lines) of[line.object->tensor].push_back(&line);
  out.map(ordered.size());
  for (const Object* const each : ordered) {
    const Object& object = *each;
    const Map attributes = fold(attributes_of(object));
    out.text(object.tensor->name);
    out.map(attributes.empty() ? 3 : 4);
    out.text("parts");
    out.map(object.parts.size());
    for (const Line* const line : of[object.tensor]) {
      out.text(line->part->name);
      out.map(line->part->type.empty() ? 2 : 3);
      if (!line->part->type.empty()) {
        out.text("type");
        out.text(line->part->type);
      }
      out.text("dtype");
      out.text(name_of(line->part->dtype));
      out.text("digest");
      out.text(line->digest);
    }
    out.text("shape");
    out.array(object.tensor->shape.size());
    for (const std::uint64_t dimension : object.tensor->shape) out.uint(dimension);
    out.text("layout");
    out.text(object.layout);
    if (attributes.empty()) continue;
    out.text("attributes");
    put_map(out, attributes, 3);
  }
  return digest_of(DigestAlgorithm::sha256, out.result()).text();
}

}  // namespace tare::zt2
