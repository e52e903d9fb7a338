#include "formats/zt2/cbor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "tare/error.hpp"

namespace tare::zt2 {

void put_map(wire::CborWriter& out, const Map& map, unsigned depth) {
  std::vector<const Map::Entry*> entries;
  entries.reserve(map.size());
  for (const auto& entry : map) {
    if (!is_valid_utf8(entry.first))
      throw Error(ErrorKind::unsupported, "zt2.write.name",
                  fmt::format("the metadata key {} is not UTF-8, as zTensor asks", quote(entry.first)));
    entries.push_back(&entry);
  }
  std::ranges::sort(entries, [](const auto* a, const auto* b) { return key_before(a->first, b->first); });
  const auto twice =
      std::ranges::adjacent_find(entries, [](const auto* a, const auto* b) { return a->first == b->first; });
  if (twice != entries.end())
    throw Error(ErrorKind::unsupported, "zt2.write.duplicate",
                fmt::format("the metadata key {} appears twice in one map", quote((*twice)->first)));
  out.map(entries.size());
  for (const auto* const entry : entries) {
    out.text(entry->first);
    put_value(out, entry->second, depth + 1);
  }
}

void put_value(wire::CborWriter& out, const Value& value, unsigned depth) {
  if (depth > kMaxDepth)
    throw Error(ErrorKind::unsupported, "zt2.write.depth",
                fmt::format("the metadata is nested deeper than the {} levels that readers take", kMaxDepth));
  if (const Map* const map = value.get<Map>()) return put_map(out, *map, depth);
  if (const List* const list = value.get<List>()) {
    out.array(list->size());
    for (const Value& item : *list) put_value(out, item, depth + 1);
    return;
  }
  if (const double* const number = value.get<double>(); number != nullptr && std::isnan(*number)) {
    static constexpr std::byte kNan[] = {std::byte{0xF9}, std::byte{0x7E}, std::byte{0x00}};
    return out.raw(kNan);
  }
  if (const Opaque* const opaque = value.get<Opaque>(); opaque != nullptr && opaque->syntax == "cbor") {
    if (!wire::is_one_item(opaque->bytes, kMaxDepth - depth, kCborRules))
      throw Error(ErrorKind::unsupported, "zt2.write.value",
                  "a metadata value is CBOR that zTensor 2 does not allow (a tag)")
          .remedy(Remedy::drop, "metadata");
    return out.raw(opaque->bytes);
  }
  out.value(value);
}

}  // namespace tare::zt2
