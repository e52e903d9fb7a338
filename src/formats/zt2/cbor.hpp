// The CBOR that zTensor 2 allows: RFC 8949's core deterministic encoding and nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tare/value.hpp"
#include "wire/cbor.hpp"

namespace tare::zt2 {

using wire::CborMajor;
using Cbor = wire::CborReader;

// The root is at depth 0.
inline constexpr unsigned kMaxDepth = 32;

// `zt2.cbor.*` for bytes that are not such CBOR, and `zt2.schema` for values of another kind than expected.
inline constexpr std::string_view kSyntax = "zt2.cbor.syntax";
inline constexpr wire::CborRules kCborRules{.deterministic = true,
                                            .truncated = kSyntax,
                                            .reserved = kSyntax,
                                            .utf8 = kSyntax,
                                            .count = kSyntax,
                                            .depth = "zt2.cbor.depth",
                                            .duplicate = "zt2.cbor.duplicate",
                                            .type = "zt2.schema",
                                            .form = "zt2.cbor.form"};

// `offset`: of the manifest in its file, which the caller adds to errors.
inline Cbor manifest_reader(std::span<const std::byte> manifest, std::uint64_t offset) {
  return {manifest, {}, offset, kMaxDepth, kCborRules};
}

// Writes a value in this encoding: sorted keys, one NaN. Throws `zt2.write.value` for what it cannot encode (a tag),
// and `zt2.write.depth` for values that are deeper than readers accept; `depth`: of the value.
void put_value(wire::CborWriter& out, const Value& value, unsigned depth);
void put_map(wire::CborWriter& out, const Map& map, unsigned depth);

// The order of text keys in a map: that of their encoded bytes, so shorter keys come first.
inline bool key_before(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace tare::zt2
