// ALT version 2 (.alt), Altiera's container for C programs: all parts in a fixed order, nothing compressed, and only
// the sections aligned.
//
//    0  i64 0x616C7400 ("alt"), i64 size, i32 version = 2, i32 alignment = 32
//       general    0xCAFEBABE  strings model_type base_model author created_at last_modified license uuid
//       parameters 0xDEADBEEF  string hidden_act, u8 tie_word_embeddings, i32 hidden_size intermediate_size
//                              max_position_embeddings num_attention_heads num_hidden_layers num_key_value_heads
//                              sliding_window, f32 rope_theta rms_norm_eps initializer_range, i32 head_size
//       tokenizer  0xBADDCAFE  i32 vocab_size bos eos pad unk seq_len, then for each token string, f32 score, i32 type
//       tensors    0xFACEFEED  i64 tensor_count shape_count, i32 block_count unique_count, then records: i32
//                              component_type block_index layer_type projection_type n_dims, i32 dims[], string name,
//                              i32 data_type, f32 delta min max, i8 packing_flag, data
//       i64 0x0FFFFFFF
//
// A section is i64 marker, i64 size, fields; each and the end marker begin on a multiple of 32, with zeros before it
// (or on a multiple of the alignment that the start section states). The size counts header, fields and padding. A
// string is i32 length and bytes. Absent texts are empty, absent numbers 0, absent ids -1. The order of the records is:
// embed_tokens, layers by block and name, norm, lm_head, others by name; their first four numbers are derived from the
// name (names.cpp).
//
// The dialect altc is what the format's own program, alt.c, writes and reads: sizes count the fields only (and a token
// 4 bytes short), head_size rms_norm_eps rope_theta initializer_range in this order, no seq_len, tokens as f32 score,
// i32 type, i32 id, string with other type numbers, no tensor section, "unknown" for an absent text. It is read, and
// written on request.
//
// Mapping: the strings are metadata under their own names (model_type, hidden_act: config), numbers of 0 or less are
// absent config fields, head_size is head_dim. seq_len is max_position_embeddings if that is absent, and the metadata
// key alt.seq_len if it is another number. qint8 and qint4 tensors are the layouts alt.qint8 and alt.qint4. If the
// model has no uuid, the writer makes one of version 8 from an XXH3-128 of model_type, the fields of parameters and
// tokenizer in the order above, and the XXH3-128 of all tensor bytes in the order written. Dates come from the metadata
// or SOURCE_DATE_EPOCH, never from the clock.
//
// Refused: a size that counts none of the four things it may count, padding that is not zero, counts and lengths that
// extend beyond their section or the file, names that appear twice or are empty, packing flags and data types that
// disagree, numbers that are not finite, anything after the end marker.
#include "formats/alt/alt.hpp"

#include <algorithm>
#include <array>

#include "formats/rows.hpp"

namespace tare::alt {
namespace {

bool recognize(const Source& source) {
  std::array<std::byte, 20> head{};
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), source.size()));
  if (length < 8) return false;
  source.read(0, std::span(head).first(length));
  const auto magic = load_le<std::uint64_t>(head.data());
  return magic == kMagic2 || (magic == kMagic1 && load_le<std::int32_t>(head.data() + 16) != 0);
}

constexpr DType kTypes[] = {DType::f32, DType::f16};
constexpr std::string_view kLayouts[] = {"dense", "alt.qint8", "alt.qint4"};
constexpr std::string_view kSuffixes[] = {".alt"};
constexpr std::string_view kKeys[] = {"base_model", "author", "created_at", "last_modified",
                                      "license",    "uuid",   kSeqLenKey};
constexpr std::string_view kParts[] = {"scores", "types"};
constexpr std::string_view kDialects[] = {"spec", "altc"};

// Returns whether the writer made this uuid: version 8 is derived from a digest of the model and can be computed again.
// Any other uuid was given to the model and must be kept.
bool is_computed(const Value& uuid) {
  const std::string* const text = uuid.text();
  return text != nullptr && text->size() == 36 && (*text)[14] == '8';
}
constexpr OwnKey kOwnKeys[] = {{.key = "uuid", .computed = is_computed}};

}  // namespace

constexpr Format kFormat = {
    .name = "alt",
    .title = "ALT, version 2",
    .versions = "2, dialects spec and altc",
    .suffixes = kSuffixes,
    .holds = {.dtypes = kTypes,
              .logical_types = {},
              .layouts = kLayouts,
              .metadata = Room::strings,
              .config = true,
              .vocabulary = true,
              .metadata_keys = kKeys,
              .vocabulary_parts = kParts,
              .own_fields = kFields,
              .other_fields = false,
              .widens_logical_types = false,
              .dialects = kDialects},
    .recognize = recognize,
    .read = read_v2,
    .write = write_v2,
    .remarks = remarks_v2,
    .set_problem = set_problem_v2,
    .own_keys = kOwnKeys,
};

}  // namespace tare::alt
