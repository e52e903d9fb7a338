// MCF, the Model Container File (.mcf): reads 1.x, writes 1.1. All numbers little-endian, all offsets absolute unless
// stated otherwise.
//
//   header     0 "MCF\0"   4 u16 major = 1   6 u16 minor = 1   8 u32 header_size = 40   12 u32 section_count
//             16 u64 directory_offset   24 u64 file_size   32 u64 flags (bit 0: TensorDataAligned64)
//   sections   each on a multiple of 8, gaps zero; written in this order:
//              config.json 0x100 .. merges.txt 0x105, ModelInfo 1, TensorData 4, TensorIndex 3, QuantInfo 2, unknown ones
//   directory  section_count x { u32 type, u32 version = 1, u64 offset, u64 size }, by type, on a multiple of 8
//
//   TensorIndex   0 u32 version = 1   4 u32 flags (1 sorted by name, 2 names are UTF-8)   8 u32 tensor_count > 0
//                12 u32 dims_count   16 u64 entries_off   24 u64 dims_off   32 u64 strings_off   40 u64 strings_size
//                (offsets in the section), then the entries by name, u64 dims[], the names' bytes
//   entry         0 u32 name_off   4 u32 name_len (in the strings)   8 u32 dtype  12 u32 rank  16 u32 dim_off  20 u32 0
//                24 u64 data_off   32 u64 data_size
//   dtype         1 f32, f16, bf16, f64, i8, u8, i16, u16, i32, u32, i64, 12 u64; 0x10 int8, 0x11 int4, 0x20 q8,
//                0x21 q4, 0x30 k6, 0x31 k4, 0x32 k3, 0x33 k2 (the payloads: codecs/mcf/layout.hpp)
//   TensorData    payloads in the order of the model, each on a multiple of 64
//   QuantInfo     u32 version = 1, u32 count, then by tensor { u32 tensor, u8 method = dtype, u8 domain (0 weights,
//                1 activations), u16 block, u16 super-block, u8 0[6], f32 min_clip, f32 max_clip }
//   ModelInfo     u32 version = 1, u32 0; u32 arch, 0, vocab, hidden, layers, heads, kv_heads, context, train_context,
//                rope_type; f32 rope_base, rope_scale; u64 model_name_off, base_model_off; u32 kv_count, 0; u64 kv_off.
//                Then strings (u32 length + bytes, 8-aligned and padded to 8) and 4-byte values (8-aligned), at last
//                the pairs by key: u64 key_off, u32 type (1 u32, 2 f32, 3 string), u32 0, u64 value_off. Offsets are
//                from the section's start; 0: absent, for a string value: empty.
//
// Mapping: model.hpp has the metadata keys for fields, and the private keys for what MCF has no field for. The resource
// sections are attachments under their file names, unknown sections attachments "mcf.section.TYPE.VERSION". Tensors are
// listed by the offset of their payloads.
//
// Refused although a lenient reader could go on, because the file contradicts itself: sections or payloads that overlap
// in part, flags that contradict the names, a QuantInfo that disagrees with the index, reserved fields that are not 0,
// sizes that do not follow from type and shape. Accepted although not canonical (verify warns): an index that is not
// sorted and has no flag for it, tables or directory in another order, payloads off the 64-byte grid (raw types), a
// file without QuantInfo, non-zero gaps.
#include "formats/mcf/mcf.hpp"

#include <array>

#include "formats/rows.hpp"

namespace tare::mcf {
namespace {

bool recognize(const Source& source) {
  if (source.size() < kMagic.size()) return false;
  std::array<char, 4> magic{};
  source.read(0, std::as_writable_bytes(std::span(magic)));
  return std::string_view(magic.data(), magic.size()) == kMagic;
}

constexpr std::string_view kAny[] = {"*"};
constexpr std::string_view kLayouts[] = {"dense",  "mcf.int8", "mcf.int4", "mcf.q8", "mcf.q4",
                                         "mcf.k6", "mcf.k4",   "mcf.k3",   "mcf.k2"};
constexpr std::string_view kSuffixes[] = {".mcf"};

}  // namespace

constexpr Format kFormat = {
    .name = "mcf",
    .title = "Model Container File",
    .versions = "reads 1.x; writes 1.1",
    .suffixes = kSuffixes,
    .holds = {.dtypes = kAllDTypes,
              .logical_types = kAny,
              .layouts = kLayouts,
              .metadata = Room::tree,
              .config = true,
              .vocabulary = true,
              .attachments = true,
              .own_fields = kFields,
              .wants_files = true,
              .tensor_attributes = true,
              .dedup = true,
              .forward_only = true,
              .many_tensors = true},
    .recognize = recognize,
    .read = read,
    .write = write,
    .remarks = remarks,
};

}  // namespace tare::mcf
