// Reads the manifest: finds it and parses its keys. objects.cpp checks the objects.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/own_attributes.hpp"
#include "formats/zt/zt.hpp"

namespace tare::zt {
namespace {

using wire::CborMajor;
using wire::CborReader;

// Optional fields may be null, which means absent.
template <typename Read>
void optional_field(CborReader& cbor, const Read& read) {
  if (!cbor.next_is_null()) read();
}

// Keeps a text key that the document does not define, so that a conversion to zTensor loses nothing.
void keep_unknown(CborReader& cbor, std::string_view key, Map& unknown, std::string_view duplicate_rule) {
  constexpr std::size_t kMost = 1024;  // look-ups are linear
  if (unknown.find(key) != nullptr)
    cbor.fail(duplicate_rule, fmt::format("the field \"{}\" appears twice", quote(key)));
  if (unknown.size() == kMost)
    throw Error(ErrorKind::limit, "zt.keys.many", fmt::format("more than {} unknown fields in one map", kMost))
        .at(cbor.offset());
  unknown.append(std::string(key), cbor.read_value());
}

void read_component(CborReader& cbor, RawComponent& out) {
  out.at = cbor.offset();
  Fields fields(cbor, "zt.component.duplicate_field");
  for (auto entries = cbor.enter(CborMajor::map); cbor.next(entries);) {
    const std::string_view key = cbor.read_text();
    if (is(key, "dtype")) {
      fields.meet(0, key);
      out.dtype = cbor.read_text();
    } else if (is(key, "offset")) {
      fields.meet(1, key);
      out.offset = cbor.read_uint();
    } else if (is(key, "length")) {
      fields.meet(2, key);
      out.length = cbor.read_uint();
    } else if (is(key, "type")) {
      fields.meet(3, key);
      optional_field(cbor, [&] { out.type = cbor.read_text(); });
    } else if (is(key, "uncompressed_length")) {
      fields.meet(4, key);
      optional_field(cbor, [&] { out.uncompressed = cbor.read_uint(); });
    } else if (is(key, "encoding")) {
      fields.meet(5, key);
      out.encoding = cbor.read_text();
    } else if (is(key, "digest")) {
      fields.meet(6, key);
      optional_field(cbor, [&] { out.digest = cbor.read_text(); });
    } else {
      keep_unknown(cbor, key, out.unknown, "zt.component.duplicate_field");
    }
  }
}

// More than any layout has; look-ups are linear.
constexpr std::size_t kMostComponents = 1024;

void read_components(CborReader& cbor, RawObject& object) {
  wire::KeyCheck roles;
  const std::uint64_t start = cbor.offset();
  for (auto entries = cbor.enter(CborMajor::map); cbor.next(entries);) {
    RawComponent& component = object.components.emplace_back();
    component.role = cbor.read_text();
    if (object.components.size() > 1) {
      if (object.components.size() > kMostComponents)
        throw Error(ErrorKind::limit, "zt.object.components",
                    fmt::format("more than {} components in one object", kMostComponents))
            .at(start);
      if (object.components.size() == 2) roles.add(object.components[0].role);
      roles.add(component.role);
    }
    read_component(cbor, component);
  }
  if (const auto twice = roles.find_duplicate(); twice.data() != nullptr)
    cbor.fail_at(start, "zt.component.duplicate",
                 fmt::format("object {}: the component \"{}\" appears twice", quote(object.name), quote(twice)));
}

void missing(CborReader& cbor, const RawObject& object, std::string_view field) {
  cbor.fail_at(object.at, "zt.object.missing_field",
               fmt::format("object \"{}\" has no \"{}\"", quote(object.name), field));
}

void read_object(CborReader& cbor, RawObject& object) {
  object.at = cbor.offset();
  Fields fields(cbor, "zt.object.duplicate_field");
  Map unknown;
  for (auto entries = cbor.enter(CborMajor::map); cbor.next(entries);) {
    const std::string_view key = cbor.read_text();
    if (is(key, "shape")) {
      fields.meet(0, key);
      read_shape(cbor, object.shape);
    } else if (is(key, "format")) {
      fields.meet(1, key);
      object.layout = cbor.read_text();
    } else if (is(key, "components")) {
      fields.meet(2, key);
      read_components(cbor, object);
    } else if (is(key, "attributes")) {
      fields.meet(3, key);
      optional_field(cbor, [&] { object.attributes = cbor.read_map(); });
    } else {
      keep_unknown(cbor, key, unknown, "zt.object.duplicate_field");
    }
  }
  if (!fields.has(0)) missing(cbor, object, "shape");
  if (!fields.has(1)) missing(cbor, object, "format");
  if (!fields.has(2)) missing(cbor, object, "components");
  put_unknown(object.attributes, std::string(kUnknownKeys), std::move(unknown));
}

// Reads the objects of the map container: `objects`, or `tensors` of 1.0 if `old`.
void read_objects(CborReader& cbor, ObjectChecker& checker, bool old) {
  wire::KeyCheck names;
  const std::uint64_t start = cbor.offset();
  auto entries = cbor.enter(CborMajor::map);
  // The smallest object takes more than 24 bytes: a false count cannot reserve more than the bytes could fill.
  checker.reserve(std::min<std::uint64_t>(entries.count(), cbor.remaining() / 24));
  RawObject object;
  while (cbor.next(entries)) {
    object.components.clear();
    object.attributes = {};
    object.shape.clear();
    object.layout = {};
    object.name = cbor.read_text();
    names.add(object.name);
    read_guarded(cbor, object, checker, [&] { old ? read_v10_object(cbor, object) : read_object(cbor, object); });
  }
  if (const auto twice = names.find_duplicate(); twice.data() != nullptr)
    cbor.fail_at(start, "zt.object.duplicate", fmt::format("the object \"{}\" appears twice", quote(twice)));
}

bool follows(std::span<const std::string_view> order, std::size_t& next, std::string_view key) {
  const auto found = std::find(order.begin(), order.end(), key);
  if (found == order.end()) return true;  // unknown keys may be anywhere
  const auto index = static_cast<std::size_t>(found - order.begin());
  const bool ascending = index >= next;
  next = index + 1;
  return ascending;
}

// Returns whether a struct map and the maps inside it are in the order that writers use.
bool is_in_order(CborReader cbor) {
  static constexpr std::string_view kRoot[] = {"version", "attributes", "objects"};
  static constexpr std::string_view kObject[] = {"shape", "format", "attributes", "components"};
  static constexpr std::string_view kComponent[] = {"dtype",    "type",  "offset", "length", "uncompressed_length",
                                                    "encoding", "digest"};
  bool good = true;
  const auto walk_struct = [&](std::span<const std::string_view> order, std::string_view child,
                               const auto& into_child) {
    std::size_t next = 0;
    for (auto entries = cbor.enter(CborMajor::map); cbor.next(entries);) {
      const std::string_view key = cbor.read_text();
      good = follows(order, next, key) && good;
      if (key == child)
        into_child();
      else
        cbor.skip();
    }
  };
  const auto walk_names = [&](const auto& into_value) {
    std::string_view last;
    bool first = true;
    for (auto entries = cbor.enter(CborMajor::map); cbor.next(entries); first = false) {
      const std::string_view key = cbor.read_text();
      good = (first || last < key) && good;
      last = key;
      into_value();
    }
  };
  const auto component = [&] { walk_struct(kComponent, "", [] {}); };
  const auto object = [&] { walk_struct(kObject, "components", [&] { walk_names(component); }); };
  walk_struct(kRoot, "objects", [&] { walk_names(object); });
  return good;
}

// Reports tolerated forms and old versions.
void note_deviations(const CborReader& cbor, const Manifest& manifest, const Input& input, std::string_view version,
                     Diagnostics& diagnostics) {
  const auto about = [&](std::string_view rule, const std::string& sentence) {
    return Error(ErrorKind::corrupt, rule, sentence).in(input.path).at(manifest.offset);
  };
  const auto warn = [&](std::string_view rule, const std::string& sentence) {
    diagnostics.warning(about(rule, sentence));
  };
  if (version.find_first_not_of("0123456789.") != version.npos)
    warn("zt.version.text", fmt::format("expected a version of digits and dots, found \"{}\"", quote(version)));
  if (!version.starts_with("1.2"))
    diagnostics.note(about("zt.version.other", fmt::format("container version {}", quote(version))));
  // The library that wrote containers before 1.2 always used such forms.
  if (cbor.saw_indefinite() && version != "0.1")
    warn("zt.manifest.indefinite", "the manifest has items of indefinite length");
  if (cbor.saw_long_head()) warn("zt.manifest.long_head", "the manifest has numbers not in their shortest form");
  if (cbor.saw_tag()) warn("zt.manifest.tag", "the manifest has CBOR tags");
  if (!cbor.at_end())
    warn("zt.manifest.trailing", fmt::format("{} bytes follow the manifest's CBOR item", cbor.remaining()));
  if (manifest.has_footer && !is_in_order(CborReader(manifest.bytes(), input.path, manifest.offset, 64)))
    diagnostics.note(about("zt.manifest.order", "the manifest's keys are not in the order that upstream writes"));
}

struct Root {
  std::string_view version;
  Map attributes, unknown;
};

bool is_version(std::string_view version, std::string_view minor) {
  return version == minor || (version.starts_with(minor) && version[minor.size()] == '.');
}

// Finds the version, which decides how the rest is read but need not be the first key.
std::string find_version(CborReader cbor) {
  for (auto entries = cbor.enter(CborMajor::map); cbor.next(entries);) {
    if (cbor.read_text() != "version") {
      cbor.skip();
      continue;
    }
    const std::uint64_t at = cbor.offset();
    const std::string_view version = cbor.read_text();
    if (version == "1" || version.starts_with("1.")) return std::string(version);
    throw Error(ErrorKind::unsupported, "zt.version", fmt::format("expected version 1.x, found \"{}\"", quote(version)))
        .at(at);
  }
  cbor.fail("zt.root.missing_field", "the manifest has no \"version\"");
}

Root read_root(CborReader& cbor, ObjectChecker& checker, bool old) {
  Root root;
  Fields fields(cbor, "zt.root.duplicate_field");
  const std::string_view objects = old ? "tensors" : "objects";
  for (auto entries = cbor.enter(CborMajor::map); cbor.next(entries);) {
    const std::string_view key = cbor.read_text();
    if (key == "version") {
      fields.meet(0, key);
      root.version = cbor.read_text();
    } else if (key == "attributes") {
      fields.meet(1, key);
      optional_field(cbor, [&] { root.attributes = cbor.read_map(); });
    } else if (key == objects) {
      fields.meet(2, key);
      read_objects(cbor, checker, old);
    } else {
      keep_unknown(cbor, key, root.unknown, "zt.root.duplicate_field");
    }
  }
  if (!fields.has(2)) cbor.fail("zt.root.missing_field", fmt::format("the manifest has no \"{}\"", objects));
  return root;
}

Model read_manifest(const Input& input, const ReadOptions& options, const Manifest& manifest,
                    Diagnostics& diagnostics) {
  CborReader cbor(manifest.bytes(), input.path, manifest.offset, options.limits.depth);
  Model model;
  std::string version = "0.1";
  // 1.0 has no footer magic, and calls objects "tensors".
  if (!manifest.v01) version = find_version(cbor);
  const bool old = !manifest.v01 && !manifest.has_footer;
  const bool sizes_given = !manifest.v01 && !old && !is_version(version, "1.0") && !is_version(version, "1.1");
  ObjectChecker checker(input, options, diagnostics, manifest.offset, sizes_given);
  if (manifest.v01) {
    read_v01(cbor, checker);
  } else {
    Root root = read_root(cbor, checker, old);
    model.metadata = std::move(root.attributes);
    put_unknown(model.metadata, std::string(kUnknownKeys), std::move(root.unknown));
  }
  model.version = version;
  model.tensors = checker.finish();
  model.broken = checker.take_broken();
  if (diagnostics.thorough()) note_deviations(cbor, manifest, input, version, diagnostics);
  take_own_attributes(model, "zt", diagnostics, input.path, manifest.offset);
  return model;
}

}  // namespace

void Fields::meet(unsigned bit, std::string_view key) {
  if ((seen_ >> bit & 1) != 0) cbor_.fail(rule_, fmt::format("the field \"{}\" appears twice", key));
  seen_ |= 1u << bit;
}

void read_shape(CborReader& cbor, Shape& shape) {
  shape.clear();
  for (auto items = cbor.enter(CborMajor::array); cbor.next(items);) {
    if (shape.size() == 64) cbor.fail("zt.object.rank", "more than 64 dimensions");
    shape.push_back(cbor.read_uint());
  }
}

Manifest find_manifest(const Source& source, const Limits& limits) {
  const std::uint64_t size = source.size();
  const auto refuse = [&](std::string_view rule, std::string_view sentence, std::uint64_t at) {
    return Error(ErrorKind::corrupt, rule, sentence).in(source.name()).at(at);
  };
  if (size < kMagic.size() + 8)
    throw refuse("zt.truncated", fmt::format("a zTensor file has at least 16 bytes, this one {}", size), 0);
  std::array<char, 8> head{};
  source.read(0, std::as_writable_bytes(std::span(head)));
  const std::string_view magic(head.data(), head.size());
  Manifest manifest;
  const bool v01 = manifest.v01 = magic == kMagic01;
  if (!v01 && magic != kMagic)
    throw refuse("zt.magic",
                 fmt::format("does not start with ZTEN1000 or ZTEN0001: the first bytes are {:02x}",
                             fmt::join(reinterpret_cast<const unsigned char*>(head.begin()),
                                       reinterpret_cast<const unsigned char*>(head.end()), " ")),
                 0);

  std::array<std::byte, kFooterBytes> tail{};
  source.read(size - kFooterBytes, tail);
  manifest.has_footer =
      !v01 && std::string_view(reinterpret_cast<const char*>(tail.data()) + 8, 8) == kMagic && size >= 8 + kFooterBytes;
  const std::uint64_t footer = manifest.has_footer ? kFooterBytes : 8;
  const auto length = load_le<std::uint64_t>(tail.data() + kFooterBytes - footer);
  const std::uint64_t room = size - 8 - footer;

  // Without the footer magic it is a container of 1.0 or, far more often, a truncated file.
  const std::string_view cut_off =
      "does not end in the footer magic ZTEN1000: the file is truncated (download it again) or damaged";
  if (length > room) {
    if (!manifest.has_footer && !v01) throw refuse("zt.footer.magic", cut_off, size - 8);
    throw refuse("zt.manifest.bounds",
                 fmt::format("the footer states a manifest of {} bytes, there is room for {}", length, room),
                 size - footer);
  }
  // 0.1 writes no list if there are no tensors, and then no data either. A length of 0 after data is padding, not a
  // footer: the file is truncated.
  if (v01 && length == 0 && room > 0)
    throw refuse("zt.truncated", fmt::format("{} bytes of data and no list of tensors: the file is truncated", room),
                 size - footer);
  const std::uint64_t most = std::min(kMaxManifest, limits.metadata_bytes);
  if (length > most)
    throw Error(ErrorKind::limit, "zt.manifest.size",
                fmt::format("the manifest has {} bytes, at most {} allowed", length, most))
        .in(source.name())
        .at(size - footer);
  manifest.offset = size - footer - length;
  manifest.copy = io::Metadata(source, manifest.offset, length);
  // A 1.0 manifest is a map; anything else here is the end of a truncated file.
  const bool map = length > 0 && (std::to_integer<unsigned>(manifest.bytes()[0]) >> 5) == 5;
  if (!manifest.has_footer && !v01 && !map) throw refuse("zt.footer.magic", cut_off, size - 8);
  return manifest;
}

Model read(const Input& input, const ReadOptions& options) {
  Diagnostics throwing;
  Diagnostics& diagnostics = options.diagnostics != nullptr ? *options.diagnostics : throwing;
  try {
    const Manifest manifest = find_manifest(*input.source, options.limits);
    Model model = read_manifest(input, options, manifest, diagnostics);
    input.source->check();
    return model;
  } catch (Error& error) {
    throw error.in(input.path);
  }
}

}  // namespace tare::zt
