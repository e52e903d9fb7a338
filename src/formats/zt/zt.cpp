// zTensor (.zt): reads containers 0.1, 1.0, 1.1 and 1.2, writes 1.2.
//
//   offset 0   "ZTEN1000"
//   64k        component blobs in model order, each on a 64-byte boundary, gaps zero
//   then       the manifest: one CBOR map, right after the last blob
//   EOF - 16   u64 manifest size        (little-endian, like every number outside CBOR)
//   EOF - 8    "ZTEN1000"
//
//   manifest   {version, attributes?, objects: {name: object}}
//   object     {shape, format, attributes?, components: {role: component}}
//   component  {dtype, type?, offset, length, uncompressed_length?, encoding?, digest?}
//
// Struct keys are written in this order, name maps in byte order of the UTF-8 key, lengths definite, heads shortest,
// optional keys omitted when empty, `encoding` only for zstd. A file without tensors is 48 bytes.
//
// Older containers: 1.1 is 1.2 without `type` and `uncompressed_length`. 1.0 has no footer magic, long dtype names at
// the object (called tensor) and nothing but offset, length, encoding and digest at the component. 0.1 ("ZTEN0001")
// has a CBOR array of flat records instead of the map.
//
// Mapping: an object is a tensor, `format` its layout, root attributes are the metadata. Config, vocabulary and
// attachments are in the private root attributes tare.config, tare.vocabulary and tare.attachments. Text keys that the
// document does not define are kept under zt.keys and written back at their place.
//
// Refused although upstream's reader accepts it, because it would be read in part: repeated names, components outside
// the data, misaligned or partly overlapping, sizes that disagree with the shape, unknown dtypes and encodings.
// Accepted although not canonical (verify warns): indefinite lengths, long heads, tags, other key orders, bytes after
// the CBOR item, non-zero padding, upper-case hex.
#include "formats/zt/zt.hpp"

#include <algorithm>
#include <array>

#include "formats/decompressed.hpp"
#include "formats/rows.hpp"

namespace tare::zt {

bool recognize(const Source& source) {
  if (source.size() < kMagic.size()) return false;
  std::array<char, 8> magic{};
  source.read(0, std::as_writable_bytes(std::span(magic)));
  const std::string_view found(magic.data(), magic.size());
  return found == kMagic || found == kMagic01;
}

namespace {

constexpr std::string_view kAny[] = {"*"};
constexpr std::string_view kSuffixes[] = {".zt"};

}  // namespace

constexpr Format kFormat = {
    .name = "zt",
    .title = "zTensor",
    .versions = "reads 0.1, 1.0, 1.1, 1.2; writes 1.2, for pip's ztensor<2 (2.x does not read 1.x)",
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
              .forward_only = true,
              .many_tensors = true},
    .recognize = recognize,
    .read = read,
    .write = write,
    .remarks = [](const Model& model,
                  const WriteOptions& options) { return decompressed_remark(model, options, Encoding::zstd_seekable); },
    .append = [](const std::string& path, const Model& extra,
                 const WriteOptions& options) { append(path, extra, options); },
    .amend = amend,
};

}  // namespace tare::zt
