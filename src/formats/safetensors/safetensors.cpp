// safetensors (.safetensors): one file, or a set of files and its index.
//
//   offset 0   u64 N, little-endian: bytes of the header, at most 100,000,000
//   8          the header: N bytes of JSON, one object
//                {"__metadata__": {key: string, ...},
//                 name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...}
//   8 + N      the data: every tensor's bytes, row-major, little-endian, one after another without gaps
//   EOF        the end of the last tensor
//
// data_offsets count from 8 + N. Sorted by them, the first tensor begins at 0 and each other where the one before it
// ends. The elements of a 4- or 6-bit type together fill whole bytes.
//
// Written: __metadata__ first and sorted by key, then the tensors by type (the last of types.cpp first) and name, no
// space inside the object, and spaces after it until the data starts on a multiple of 4096, so that every tensor is
// aligned to its element size, and the data can be mapped or read with direct I/O. The dialect `upstream` pads to 8
// only, as the reference implementation does; the files are the same bytes except for the order of the metadata.
//
// Mapping: an entry is a dense tensor; F4 and F6 have layouts of their own (codecs/small_floats/small_floats.cpp). Metadata
// that is not a string, the config and tensors' attributes are in the metadata string __tare__ (private.cpp).
//
// Refused although the reference implementation accepts it, because two readers could read different things: a name or
// a metadata key that appears twice, an entry written as an array, a zero byte in a name. Accepted, as there: white
// space around the object, unknown fields, tensors at any alignment.
//
// The index of a set is a JSON file next to its shards: index.cpp.
#include "formats/safetensors/safetensors.hpp"

#include <array>

#include "base/endian.hpp"
#include "formats/rows.hpp"

namespace tare::safetensors {

// The format has no magic: a plausible length must be followed by the beginning of a JSON object.
bool looks_like_file(const Source& source) {
  constexpr std::uint64_t kPlausible = std::uint64_t{1} << 32;
  std::array<std::byte, 64> head{};
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), source.size()));
  if (length < 10) return false;
  source.read(0, std::span(head).first(length));
  const std::string_view text(reinterpret_cast<const char*>(head.data()) + 8, length - 8);
  const auto stated = load_le<std::uint64_t>(head.data());
  const std::size_t brace = text.find_first_not_of(" \t\r\n");
  // White space before the brace is legal but rare and ambiguous, so the length must then be within the limit.
  if (brace == 0 && text[0] == '{' && stated < kPlausible) return true;
  return brace < text.size() && text[brace] == '{' && stated <= kMaxHeader;
}

namespace {

bool recognize(const Source& source) { return looks_like_file(source) || is_index(source); }

constexpr std::string_view kSuffixes[] = {kSuffix};
// "format" names the framework that wrote the file; the index's metadata describes the set and has the count that
// transformers writes.
constexpr OwnKey kOwnKeys[] = {{.key = "format", .about_file = true},
                               {.key = kIndexMetadata, .about_set = true, .counts = "total_parameters"}};

}  // namespace

constinit const Format kFormat = {
    .name = "safetensors",
    .title = "safetensors",
    .versions = "reads files and sharded sets, all 22 types; writes both",
    .suffixes = kSuffixes,
    .holds = kHolds,
    .recognize = recognize,
    .read = read,
    .write = write,
    .own_keys = kOwnKeys,
    .write_tree = write_tree,
};

}  // namespace tare::safetensors
