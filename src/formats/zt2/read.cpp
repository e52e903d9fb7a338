// Reads the frame of the container, then the keys of the manifest. objects.cpp checks the objects.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "codecs/coordinates.hpp"
#include "formats/own_attributes.hpp"
#include "formats/registry_limits.hpp"
#include "formats/zt2/zt2.hpp"
#include "io/links.hpp"

namespace tare::zt2 {
namespace {

// Attributes must be a map, with names as keys.
std::span<const std::byte> read_attributes(Cbor& cbor, std::uint64_t& at) {
  const std::size_t begin = cbor.position();
  at = cbor.offset();
  std::string_view key;
  for (auto entries = cbor.enter(CborMajor::map, "attributes"); cbor.next_entry(entries, key);) {
    if (key.data() == nullptr) cbor.fail("zt2.schema", "a key of attributes is not text");
    if (!is_name(key))
      throw Error(ErrorKind::corrupt, "zt2.name",
                  fmt::format("the attribute key \"{}\" is empty, longer than {} bytes, or has a NUL",
                              quote(key.substr(0, 64)), kMaxName))
          .at(cbor.offset());
    cbor.skip();
  }
  return cbor.between(begin, cbor.position());
}

void check_name(const Cbor& cbor, std::string_view name, std::string_view of) {
  if (name.data() == nullptr) cbor.fail("zt2.schema", fmt::format("the name of {} is not text", of));
  if (!is_name(name))
    throw Error(ErrorKind::corrupt, "zt2.name",
                fmt::format("the name \"{}\" of {} is empty, longer than {} bytes, or has a NUL",
                            quote(name.substr(0, 64)), of, kMaxName))
        .at(cbor.offset());
}

Error bad_shard_name(std::string_view name, std::uint64_t at) {
  return Error(ErrorKind::corrupt, "zt2.shard.name",
               fmt::format("the shard name \"{}\" is not 1 to {} of A-Z a-z 0-9 . _ -, not beginning with a dot",
                           quote(name.substr(0, 2 * kMaxShardName)), kMaxShardName))
      .at(at);
}

std::string_view read_digest(Cbor& cbor) {
  const std::string_view digest = cbor.read_text("digest");
  if (!is_digest(digest))
    cbor.fail("zt2.schema",
              fmt::format("the digest \"{}\" is not algorithm:hex in lower case", quote(digest.substr(0, 160))));
  return digest;
}

void read_part(Cbor& cbor, RawPart& out) {
  out.at = cbor.offset();
  std::string_view key;
  for (auto entries = cbor.enter(CborMajor::map, "a part"); cbor.next_entry(entries, key);) {
    if (is(key, "blob")) {
      auto items = cbor.enter(CborMajor::array, "blob");
      if (items.count() != 2) cbor.fail("zt2.schema", fmt::format("blob: expected 2 numbers, found {}", items.count()));
      cbor.next(items);
      out.offset = cbor.read_uint("blob");
      cbor.next(items);
      out.length = cbor.read_uint("blob");
      cbor.next(items);
    } else if (is(key, "dtype")) {
      out.dtype = cbor.read_text("dtype");
    } else if (is(key, "digest")) {
      out.digest = read_digest(cbor);
    } else if (is(key, "type")) {
      out.type = cbor.read_text("type");
    } else if (is(key, "shard")) {
      out.shard = cbor.read_text("shard");
      if (!is_shard_name(out.shard)) throw bad_shard_name(out.shard, cbor.offset());
    } else if (is(key, "encoding")) {
      out.encoding = cbor.read_text("encoding");
    } else if (is(key, "decoded_length")) {
      out.decoded = cbor.read_uint("decoded_length");
    } else {
      cbor.skip();
    }
  }
  const auto missing = [&](std::string_view field) {
    throw Error(ErrorKind::corrupt, "zt2.schema", fmt::format("part {} has no \"{}\"", quote(out.name), field))
        .at(out.at);
  };
  if (out.dtype.data() == nullptr) missing("dtype");
  if (!out.offset) missing("blob");
  if ((out.encoding.data() != nullptr) != out.decoded.has_value()) missing(out.decoded ? "encoding" : "decoded_length");
}

// More than any layout has; look-ups are linear.
constexpr std::size_t kMostParts = 1024;

void read_parts(Cbor& cbor, RawObject& object) {
  std::string_view name;
  for (auto entries = cbor.enter(CborMajor::map, "parts"); cbor.next_entry(entries, name);) {
    check_name(cbor, name, "a part");
    if (object.parts.size() == kMostParts)
      throw Error(ErrorKind::limit, "zt2.object.parts", fmt::format("more than {} parts in one object", kMostParts))
          .at(cbor.offset());
    RawPart& part = object.parts.emplace_back();
    part.name = name;
    read_part(cbor, part);
  }
  // Sorted by name: the order in which they are checked and listed.
  if (object.parts.size() > 1)
    std::sort(object.parts.begin(), object.parts.end(),
              [](const RawPart& a, const RawPart& b) { return a.name < b.name; });
}

}  // namespace

void read_object(Cbor& cbor, RawObject& object) {
  object.at = cbor.offset();
  bool shape = false, parts = false;
  std::string_view key;
  for (auto entries = cbor.enter(CborMajor::map, "an object"); cbor.next_entry(entries, key);) {
    if (is(key, "parts")) {
      parts = true;
      read_parts(cbor, object);
    } else if (is(key, "shape")) {
      shape = true;
      for (auto items = cbor.enter(CborMajor::array, "shape"); cbor.next(items);) {
        if (object.shape.size() == kMaxRank)
          throw Error(ErrorKind::corrupt, "zt2.shape", fmt::format("more than {} dimensions", kMaxRank))
              .at(cbor.offset());
        object.shape.push_back(cbor.read_uint("shape"));
      }
    } else if (is(key, "layout")) {
      object.layout = cbor.read_text("layout");
    } else if (is(key, "attributes")) {
      object.attributes = read_attributes(cbor, object.attributes_at);
    } else {
      cbor.skip();
    }
  }
  const auto missing = [&](std::string_view field) {
    throw Error(ErrorKind::corrupt, "zt2.schema", fmt::format("the object has no \"{}\"", field)).at(object.at);
  };
  if (!shape) missing("shape");
  if (object.layout.data() == nullptr) missing("layout");
  if (!parts || object.parts.empty()) missing("parts");
}

namespace {

// Reads one object. If that fails but its CBOR is valid, the object is broken, and the others are still read.
void read_guarded(Cbor& cbor, RawObject& object, Objects& objects) {
  const auto start = cbor.mark();
  try {
    check_name(cbor, object.name, "an object");
    read_object(cbor, object);
  } catch (const Error& error) {
    if (object.name.data() == nullptr) throw;
    cbor.back_to(start);
    cbor.skip();  // throws if the CBOR is invalid
    return objects.add_broken(object, error);
  }
  objects.add(object);
}

void read_objects(Cbor& cbor, Objects& objects) {
  auto entries = cbor.enter(CborMajor::map, "objects");
  objects.reserve(entries.count(), cbor.remaining());
  RawObject object;
  while (cbor.next_entry(entries, object.name)) {
    if (objects.add_plain(cbor, object.name)) continue;
    object.parts.clear();
    object.attributes = {};
    object.shape.clear();
    object.layout = {};
    read_guarded(cbor, object, objects);
  }
}

void read_shards(Cbor& cbor, std::vector<Shard>& files) {
  std::string_view name, key;
  for (auto entries = cbor.enter(CborMajor::map, "shards"); cbor.next_entry(entries, name);) {
    if (name.data() == nullptr) cbor.fail("zt2.schema", "the name of a shard is not text");
    if (!is_shard_name(name)) throw bad_shard_name(name, cbor.offset());
    Shard& shard = files.emplace_back();
    shard.name = name;
    bool size = false;
    for (auto fields = cbor.enter(CborMajor::map, "a shard"); cbor.next_entry(fields, key);) {
      if (is(key, "size")) {
        shard.size = cbor.read_uint("size");
        size = true;
      } else if (is(key, "digest")) {
        shard.digest = read_digest(cbor);
      } else {
        cbor.skip();
      }
    }
    if (!size || shard.digest.empty()) cbor.fail("zt2.schema", fmt::format("shard {} needs size and digest", name));
    if (shard.size < kLeastFile)
      cbor.fail("zt2.schema",
                fmt::format("shard {} of {} bytes; a file has at least {}", name, shard.size, kLeastFile));
  }
}

void expect_end(const Cbor& cbor) {
  if (!cbor.at_end()) cbor.fail(kSyntax, fmt::format("{} bytes follow the manifest's CBOR item", cbor.remaining()));
}

class ManifestReader {
 public:
  ManifestReader(const Input& input, const ReadOptions& options, Diagnostics& diagnostics, const Manifest& manifest)
      : input_(input), options_(options), diagnostics_(diagnostics), manifest_(manifest) {}

  Model run() {
    Cbor cbor = manifest_reader(manifest_.bytes(), manifest_.footer.offset);
    files_.push_back({{}, input_.source->size(), {}, input_.source, {}});
    Model model;
    try {
      walk(cbor, model);
    } catch (const Error&) {
      // An error in the CBOR itself takes precedence: bytes that are not deterministic CBOR have no meaning.
      Cbor again = manifest_reader(manifest_.bytes(), manifest_.footer.offset);
      again.skip();
      expect_end(again);
      throw;
    }
    model.version = "2";
    take_own_attributes(model, kFormatName, diagnostics_, input_.path, manifest_.footer.offset);
    if (files_.size() > 1) take_files(model);
    check_places(model);
    if (diagnostics_.thorough())
      if (const std::string doubt = model.broken.empty() ? canonical_doubt(manifest_, input_.source->size()) : "";
          !doubt.empty())
        diagnostics_.note(Error(ErrorKind::unsupported, "zt2.canonical", doubt).in(input_.path));
    return model;
  }

 private:
  void walk(Cbor& cbor, Model& model) {
    bool found = false;
    std::string_view key;
    for (auto entries = cbor.enter(CborMajor::map, "the manifest"); cbor.next_entry(entries, key);) {
      if (is(key, "objects")) {
        found = true;
        settle_shards();
        Objects objects(input_, options_, diagnostics_, manifest_.footer, files_);
        read_objects(cbor, objects);
        model.tensors = objects.finish();
        model.broken = objects.take_broken();
        without_repeats_ = objects.take_without_repeats();
      } else if (is(key, "shards")) {
        read_shards(cbor, files_);
      } else if (is(key, "attributes")) {
        std::uint64_t at = 0;
        const auto bytes = read_attributes(cbor, at);
        wire::CborReader values(bytes, input_.path, at, options_.limits.depth);
        model.metadata = unfold(values.read_map());
      } else {
        diagnostics_.note(Error(ErrorKind::unsupported, "zt2.key.unknown",
                                key.data() == nullptr ? std::string("a key that is not text is ignored")
                                                      : fmt::format("the key \"{}\" is ignored", quote(key)))
                              .in(input_.path)
                              .at(cbor.offset()));
        cbor.skip();
      }
    }
    expect_end(cbor);
    if (!found) cbor.fail("zt2.schema", "the manifest has no \"objects\"");
  }

  // A root needs all of its shards, unless only the list of tensors is needed.
  void settle_shards() {
    if (files_.size() == 1) return;
    find_shards(input_.source->descriptor() < 0 ? std::string() : input_.path, options_, files_);
    for (const Shard& file : files_) {
      if (!file.trouble) continue;
      if (options_.listing)
        diagnostics_.warning(*file.trouble);
      else
        diagnostics_.error(*file.trouble);
    }
  }

  // Checks a rule that only this container has, unless the model is refused because there is too much data to be read.
  void check_places(const Model& model) const {
    const std::uint64_t file_bytes = model.file_bytes == 0 ? input_.source->size() : model.file_bytes;
    if (without_repeats_.empty() || !may_decode(model, file_bytes, options_.limits)) return;
    for (const Tensor& tensor : model.tensors) {
      if (!without_repeats_.contains(tensor.name)) continue;
      if (const auto problem = codec::find_repeated_place(tensor))
        diagnostics_.error(Error(ErrorKind::corrupt, "zt2." + problem->rule, problem->sentence)
                               .in(input_.path)
                               .at(problem->offset.value_or(tensor.component("coords")->blob.offset()))
                               .about("tensor " + quote(tensor.name)));
    }
  }

  // Several shards may be the same file, which counts once: the bound on the decoded size uses the bytes that exist.
  void take_files(Model& model) const {
    std::set<const Source*> seen;
    for (const Shard& file : files_) {
      if (file.source == nullptr || !seen.insert(file.source.get()).second) continue;
      model.file_bytes += file.source->size();
      if (file.source != input_.source && file.source->descriptor() >= 0) model.sources.push_back(file.source);
    }
  }

  const Input& input_;
  const ReadOptions& options_;
  Diagnostics& diagnostics_;
  const Manifest& manifest_;
  std::vector<Shard> files_;
  NameSet without_repeats_;
};

}  // namespace

namespace {

// A map that contains a value which only CBOR can represent is kept as CBOR.
Map entries_of(const Value* value) {
  if (value == nullptr) return {};
  if (const Map* const map = value->get<Map>()) return *map;
  const Opaque* const opaque = value->get<Opaque>();
  if (opaque == nullptr) return {};
  try {
    return wire::CborReader(opaque->bytes, {}, 0, kMaxDepth + 1).read_map();
  } catch (const Error&) {
    return {};  // for example, keys that are not texts, which `fold` does not write
  }
}

}  // namespace

// Restores keys that the container does not allow; `fold` stores them in a nested map, in which any key is allowed.
Map unfold(Map attributes) {
  Map others = entries_of(attributes.find(kOtherKeys));
  if (others.empty() || std::ranges::any_of(others, [](const Map::Entry& entry) {
        return is_name(entry.first) && entry.first != kOtherKeys;
      }))
    return attributes;
  attributes.erase(kOtherKeys);
  for (auto& [key, value] : others) attributes.set(key, std::move(value));
  return attributes;
}

Map fold(const Map& attributes) {
  const auto fits = [](const Map::Entry& entry) { return is_name(entry.first) && entry.first != kOtherKeys; };
  if (std::ranges::all_of(attributes, fits)) return attributes;
  Map kept, others;
  for (const auto& entry : attributes) (fits(entry) ? kept : others).append(entry.first, entry.second);
  kept.append(std::string(kOtherKeys), std::move(others));
  return kept;
}

bool recognize(const Source& source) {
  if (source.size() < kMagic.size()) return false;
  std::array<std::byte, 8> magic{};
  source.read(0, magic);
  return as_text(magic) == kMagic;
}

Footer read_footer(const Source& source, const Limits& limits) {
  const std::uint64_t size = source.size();
  const auto refuse = [&](std::string_view rule, std::string_view sentence, std::uint64_t at) {
    return Error(ErrorKind::corrupt, rule, sentence).in(source.name()).at(at);
  };
  if (size < kLeastFile)
    throw refuse("zt2.truncated", fmt::format("a zTensor 2 file has at least {} bytes, this one {}", kLeastFile, size),
                 0);
  std::array<std::byte, 8> head{};
  source.read(0, head);
  if (as_text(head) != kMagic)
    throw refuse("zt2.magic",
                 fmt::format("does not begin with 89 5a 54 32 0d 0a 1a 0a: the first bytes are {}", to_hex(head)), 0);
  Footer footer;
  const std::uint64_t start = size - kFooterBytes;
  source.read(start, footer.bytes);
  if (as_text(std::span(footer.bytes).subspan(32)) != kMagic)
    throw refuse("zt2.footer.magic",
                 "does not end in its magic: the file is truncated (download it again), or an append was interrupted",
                 size - 8);
  const auto version = load_le<std::uint32_t>(footer.bytes.data() + 24);
  if (version != kVersion)
    throw Error(ErrorKind::unsupported, "zt2.version", fmt::format("expected version {}, found {}", kVersion, version))
        .in(source.name())
        .at(start + 24);
  footer.offset = load_le<std::uint64_t>(footer.bytes.data());
  footer.length = load_le<std::uint64_t>(footer.bytes.data() + 8);
  footer.hash = load_le<std::uint64_t>(footer.bytes.data() + 16);
  if (footer.length == 0) {
    if (footer.offset != 0 || footer.hash != 0)
      throw refuse("zt2.manifest.bounds", "a file without a manifest has 0 for its offset and its hash", start);
    return footer;
  }
  const std::uint64_t most = std::min(kMaxManifest, limits.metadata_bytes);
  if (footer.length > most)
    throw Error(ErrorKind::limit, "zt2.manifest.size",
                fmt::format("the manifest has {} bytes, at most {} allowed", footer.length, most))
        .in(source.name())
        .at(start + 8);
  if (footer.offset % kFloor != 0 || footer.offset < kFloor)
    throw refuse("zt2.blob.misaligned",
                 fmt::format("the manifest's offset {} is not a multiple of {} above 0", footer.offset, kFloor), start);
  if (!fits(footer.offset, footer.length, start))
    throw refuse("zt2.manifest.bounds",
                 fmt::format("the footer states a manifest of {} bytes at {}, the data ends at {}", footer.length,
                             footer.offset, start),
                 start);
  return footer;
}

Manifest find_manifest(const Source& source, const Limits& limits) {
  Manifest manifest{read_footer(source, limits), {}};
  if (!manifest.footer.has_manifest()) return manifest;
  manifest.copy = io::Metadata(source, manifest.footer.offset, manifest.footer.length);
  const std::uint64_t hash = XXH3_64bits(manifest.bytes().data(), manifest.bytes().size());
  if (hash != manifest.footer.hash)
    throw Error(ErrorKind::corrupt, "zt2.manifest.hash",
                fmt::format("the manifest does not match its hash: expected {:016x}, found {:016x}",
                            manifest.footer.hash, hash))
        .in(source.name())
        .at(manifest.footer.offset);
  return manifest;
}

std::array<std::byte, kFooterBytes> make_footer(std::uint64_t offset, std::span<const std::byte> manifest) {
  std::array<std::byte, kFooterBytes> footer{};
  store_le<std::uint64_t>(footer.data(), offset);
  store_le<std::uint64_t>(footer.data() + 8, manifest.size());
  store_le<std::uint64_t>(footer.data() + 16, XXH3_64bits(manifest.data(), manifest.size()));
  store_le<std::uint32_t>(footer.data() + 24, kVersion);
  std::ranges::copy(std::as_bytes(std::span(kMagic)), footer.begin() + 32);
  return footer;
}

Model read(const Input& input, const ReadOptions& options) {
  Input root = input;
  if (input.source == nullptr) {
    root.path = root_in(input.path);
    if (root.path.empty())
      throw Error(ErrorKind::unsupported, "zt2.directory", "a directory without a root file, or with several")
          .in(input.path);
    root.source = open_file(root.path, options.access);
    if (const Links links(input.path); !links.allow(*root.source))
      throw Error(ErrorKind::unsupported, "zt2.shard.outside",
                  links.outside(root.path).value_or("was exchanged for another file while it was opened"))
          .in(root.path);
  }
  Diagnostics throwing;
  Diagnostics& diagnostics = options.diagnostics != nullptr ? *options.diagnostics : throwing;
  try {
    const Manifest manifest = find_manifest(*root.source, options.limits);
    Model model;
    if (manifest.footer.has_manifest()) {
      model = ManifestReader(root, options, diagnostics, manifest).run();
    } else {
      model.version = "2";
      diagnostics.note(
          Error(ErrorKind::unsupported, "zt2.data_shard", "has no manifest: data of a model whose root is another file")
              .in(root.path));
    }
    root.source->check();
    if (input.source == nullptr) {
      model.sources.push_back(root.source);
      if (model.file_bytes == 0) model.file_bytes = root.source->size();
    }
    return model;
  } catch (Error& error) {
    throw error.in(root.path);
  }
}

}  // namespace tare::zt2
