// zTensor 2 (.zt): what the package ztensor 2.x writes and reads. It has nothing in common with 1.x but the suffix.
//
//   offset 0   89 "ZT2" 0D 0A 1A 0A
//   4096 k     blobs, each on a boundary of 4096 bytes or more; gaps are written as zeros and never read
//   4096 k     the manifest, a blob like the others: one CBOR map
//   EOF - 40   u64 offset, u64 length, u64 XXH3-64 of the manifest        (all numbers little-endian)
//   EOF - 16   u32 version 2, u32 reserved
//   EOF - 8    the magic again
//
//   manifest   {shards?: {name: {size, digest}}, objects: {name: object}, attributes?}
//   object     {parts: {name: part}, shape, layout, attributes?}
//   part       {blob: [offset, length], type?, dtype, shard?, digest?, encoding?, decoded_length?}
//
// The CBOR is deterministic (cbor.hpp), so the keys of every map are in the order above: by their encoded bytes. Two
// blobs of a file are the same or disjoint. A digest ("xxh3:...", "sha256:...") covers the decoded bytes. A part with
// `shard` is in another file, which the table identifies by size and digest; a file with a manifest length of 0
// contains only such data.
//
// Canonical form: blobs in byte order of (object, part) on boundaries of 65536, equal bytes stored once, all raw and
// with an xxh3 digest, one file. Tare writes it by default; it depends only on the model.
//
// Mapping: an object is a tensor, a part a component, attributes of the root are the metadata; layouts.cpp has the
// profiles. Config, vocabulary and attachments are in the root's attributes tare.config, tare.vocabulary and
// tare.attachments; attributes whose keys the document forbids are in tare.keys. An append adds blobs, a manifest and a
// footer after the end and never changes existing bytes.
//
// Refused: everything that the document requires to be rejected. Ignored, as it requires: unknown keys, the reserved
// number, the bytes between blobs. Unknown layouts are carried but not decoded; unknown encodings are refused when they
// are decoded.
#include "formats/zt2/zt2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/nfc.hpp"
#include "base/printable.hpp"
#include "formats/decompressed.hpp"
#include "formats/rows.hpp"

namespace tare::zt2 {
namespace {

constexpr std::string_view kAny[] = {"*"};
constexpr std::string_view kSuffixes[] = {kOwnSuffix, kSuffix};
constexpr std::string_view kDialects[] = {kPages, kStore};

// Whether the value contains a NaN other than the one that zTensor 2 allows.
bool has_odd_nan(const Value& value) {
  if (const double* const number = value.get<double>())
    return std::isnan(*number) && std::bit_cast<std::uint64_t>(*number) != 0x7FF8'0000'0000'0000;
  if (const List* const list = value.get<List>()) return std::ranges::any_of(*list, has_odd_nan);
  const Map* const map = value.get<Map>();
  return map != nullptr && std::ranges::any_of(*map, [](const auto& entry) { return has_odd_nan(entry.second); });
}

// Names are not normalized: two names that differ only in their Unicode form are two names. Upstream's writer refuses
// them for the canonical form.
std::vector<Change> remarks(const Model& model, const WriteOptions& options) {
  std::vector<Change> said = decompressed_remark(model, options, Encoding::zstd);
  std::size_t count = 0;
  const Tensor* first = nullptr;
  for (const Tensor& tensor : model.tensors)
    if (!is_nfc(tensor.name) && count++ == 0) first = &tensor;
  if (first != nullptr)
    said.push_back(
        {.detail = fmt::format("the file is not in canonical form: {} name{} not in Unicode's form C (NFC), {}", count,
                               count == 1 ? " is" : "s are", quote(first->name))});
  std::uint64_t odd = 0;
  const std::string* odd_key = nullptr;
  for (const auto& [key, value] : model.metadata)
    if (has_odd_nan(value) && odd++ == 0) odd_key = &key;
  if (odd_key != nullptr)
    said.push_back({.impact = Impact::changed,
                    .detail = fmt::format("{} metadata value{} a NaN with a sign or payload, such as {}; zTensor 2 has "
                                          "one NaN and stores that",
                                          odd, odd == 1 ? " contains" : "s contain", quote(*odd_key))});
  return said;
}

}  // namespace

constexpr Format kFormat = {
    .name = kFormatName,
    .title = "zTensor 2",
    .versions = "reads and writes 2, as pip's ztensor>=2; a new file called .zt is 1.2 unless zt2 is asked for",
    .suffixes = kSuffixes,
    .holds = {.dtypes = kAllDTypes,
              .logical_types = kAny,
              .layouts = kAny,
              .metadata = Room::tree,
              .config = true,
              .vocabulary = true,
              .attachments = true,
              .tensor_attributes = true,
              .zstd = true,
              .digests = true,
              .shards = true,
              .dialects = kDialects,
              .forward_only = true,
              .many_tensors = true,
              .max_rank = kMaxRank,
              .max_name = kMaxName},
    .recognize = recognize,
    .read = read,
    .write = write,
    .remarks = remarks,
    .append = append,
    .amend = amend,
    .listed_in = listed_in,
    .content_digest = content_digest,
    .content_digest_text =
        "What `zt id` of the package ztensor prints: it also covers layouts and attributes of tensors, and a file "
        "keeps the digests it was written with.",
    .recognize_tree = recognize_tree,
    .write_tree = write_tree,
};

}  // namespace tare::zt2
