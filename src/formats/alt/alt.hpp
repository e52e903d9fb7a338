// What the parts of the ALT formats share; see alt.cpp (version 2) and v1.cpp (version 1) for the byte maps.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/endian.hpp"
#include "formats/own_fields.hpp"
#include "io/metadata.hpp"
#include "tare/format.hpp"

namespace tare::alt {

inline constexpr std::uint32_t kMagic1 = 0x616C7463;  // "altc"
inline constexpr std::uint64_t kMagic2 = 0x616C7400;  // "alt"
inline constexpr std::uint64_t kGeneral = 0xCAFEBABE, kParameters = 0xDEADBEEF, kTokenizer = 0xBADDCAFE,
                               kTensors = 0xFACEFEED, kEnd = 0x0FFFFFFF;
inline constexpr std::uint64_t kAlignment = 32, kHeader = 16;
// What a file may say instead of 32: a power of two in these bounds.
inline constexpr std::int32_t kLeastAlignment = 8, kMostAlignment = 4096;
// How the dialect altc spells a text that is not known: its reader takes no empty one.
inline constexpr std::string_view kUnknown = "unknown";
inline constexpr std::size_t kUuidLength = 36;
inline constexpr std::uint64_t kMostDimensions = 64;
// The metadata key of a seq_len that is not max_position_embeddings: a text, which any container with texts can carry.
inline constexpr std::string_view kSeqLenKey = "alt.seq_len";

// Data types of tensor records.
inline constexpr std::int32_t kFloat32 = 0, kFloat16 = 1, kQint8 = 2, kQint4 = 3;

// Reads fields one after another, and says what is wrong where. Rules get the format's name in front.
class Cursor {
 public:
  Cursor(const Input& input, std::string_view format, Diagnostics& diagnostics)
      : source_(*input.source), window_(*input.source), format_(format), diagnostics_(diagnostics) {}

  std::uint64_t at() const { return at_; }
  std::uint64_t size() const { return source_.size(); }
  std::uint64_t left() const { return source_.size() - at_; }
  void go(std::uint64_t offset) { at_ = offset; }
  void set_item(std::string item) { item_ = std::move(item); }
  // Of sections, in bytes.
  std::uint64_t alignment() const { return alignment_; }
  void set_alignment(std::uint64_t alignment) { alignment_ = alignment; }
  // Where the section that follows begins, if the fields end at `end`.
  std::uint64_t aligned(std::uint64_t end) const { return (end + alignment_ - 1) / alignment_ * alignment_; }
  std::string_view item() const { return item_; }

  template <typename T>
  T take(std::string_view what) {
    return load_le<T>(bytes(sizeof(T), what).data());
  }
  std::int32_t i32(std::string_view what) { return take<std::int32_t>(what); }
  std::uint64_t u64(std::string_view what) { return take<std::uint64_t>(what); }
  float f32(std::string_view what) { return take<float>(what); }
  // Valid until the next call.
  std::span<const std::byte> bytes(std::uint64_t count, std::string_view what);
  // An int32 length and that many bytes, which must end before `limit`.
  std::string string(std::string_view what, std::uint64_t limit);
  // Zeros up to the next multiple of the alignment.
  void padding();

  Error error(ErrorKind kind, std::string_view rule, std::string_view sentence, std::uint64_t offset) const;
  [[noreturn]] void fail(std::string_view rule, std::string_view sentence, std::uint64_t offset) const;
  // Reported; returns when the caller is collecting.
  void complain(std::string_view rule, std::string_view sentence, std::uint64_t offset) const;
  void warn(std::string_view rule, std::string_view sentence, std::uint64_t offset) const;
  void note(std::string_view rule, std::string_view sentence, std::uint64_t offset) const;
  Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  const Source& source_;
  io::Window window_;
  std::string_view format_;
  Diagnostics& diagnostics_;
  std::uint64_t at_ = 0, alignment_ = kAlignment;
  std::string item_;
};

// What a section's size may mean. Which of them is canonical depends on version and dialect.
enum class SizeForm : std::uint8_t { fields, fields_and_header, fields_and_padding, all };

struct Section {
  std::string_view name;
  std::uint64_t begin = 0, size = 0, fields_end = 0;
  std::uint64_t alignment = kAlignment;

  std::uint64_t size_in(SizeForm form) const;
  // The one of the four that the size is; none when it is another number.
  std::optional<SizeForm> form() const;
  // Where a section of that size ends at most, whatever it counts.
  std::uint64_t limit() const;
};

// Marker and size; the marker is fatal when it is another.
Section open_section(Cursor& cursor, std::string_view name, std::uint64_t marker);
// Notes where the fields ended and skips the padding. Whether the size is one of the four is checked by `check_size`.
void close_section(Cursor& cursor, Section& section);
// An error for a size that is none of the four, a warning for one that is not `expected`.
void check_size(const Cursor& cursor, const Section& section, std::uint64_t expected);
// Whether a marker stands here; of the end marker the first half.
bool next_is(Cursor& cursor, std::uint64_t marker);
// The end marker of `width` bytes, and nothing behind it.
void read_end(Cursor& cursor, std::size_t canonical_width);

// What the two versions call the fields of the config.
inline constexpr bool kExpected = true;
inline constexpr OwnField kFields[] = {{"model_type", "model_type"},
                                       {"hidden_act", "hidden_act"},
                                       {"tie_word_embeddings", "tie_word_embeddings", kExpected},
                                       {"hidden_size", "hidden_size"},
                                       {"intermediate_size", "intermediate_size"},
                                       {"num_hidden_layers", "num_hidden_layers"},
                                       {"num_attention_heads", "num_attention_heads"},
                                       {"num_key_value_heads", "num_key_value_heads", kExpected},
                                       {"head_dim", "head_size", kExpected},
                                       {"max_position_embeddings", "max_position_embeddings", kExpected},
                                       {"sliding_window", "sliding_window"},
                                       {"rope_theta", "rope_theta", kExpected},
                                       {"rms_norm_eps", "rms_norm_eps", kExpected},
                                       {"initializer_range", "initializer_range"}};
inline constexpr OwnField kFields1[] = {{"model_type", "model_type"},
                                        {"hidden_size", "hidden_size"},
                                        {"intermediate_size", "intermediate_size"},
                                        {"num_hidden_layers", "num_hidden_layers"},
                                        {"num_attention_heads", "num_attention_heads"},
                                        {"num_key_value_heads", "num_key_value_heads", kExpected},
                                        {"head_dim", "head_size", kExpected},
                                        {"max_position_embeddings", "context_length", kExpected},
                                        {"sliding_window", "sliding_window"},
                                        {"rope_theta", "rope_theta", kExpected},
                                        {"rms_norm_eps", "rms_norm_eps", kExpected}};

// The numbers of the parameters sections, by those names and in the order of the file: 32 bits each, an integer or a float
// as the field is. Those of version 2 end with one of two tails.
inline constexpr std::string_view kNumbers[] = {"hidden_size",         "intermediate_size", "max_position_embeddings",
                                                "num_attention_heads", "num_hidden_layers", "num_key_value_heads",
                                                "sliding_window"};
inline constexpr std::array<std::string_view, 4> kTail = {"rope_theta", "rms_norm_eps", "initializer_range",
                                                          "head_size"};
inline constexpr std::array<std::string_view, 4> kAltcTail = {"head_size", "rms_norm_eps", "rope_theta",
                                                              "initializer_range"};
// Version 1 has its data_type before the last.
inline constexpr std::string_view kNumbers1[] = {"hidden_size",         "num_hidden_layers",   "intermediate_size",
                                                 "num_attention_heads", "num_key_value_heads", "sliding_window",
                                                 "rope_theta",          "rms_norm_eps",        "head_size"};
inline constexpr std::string_view kLastNumber1[] = {"context_length"};

// A number as a field of the config: 0 is absent, so is, with a warning, a negative number; one that is not finite is an
// error. `fields` are the version's.
void set_parameter(const Cursor& cursor, std::span<const OwnField> fields, std::string_view name, std::uint32_t bits,
                   std::uint64_t at, Config& config);
void read_numbers(Cursor& cursor, std::span<const OwnField> fields, std::span<const std::string_view> names,
                  Config& config);

// How a tokenizer section of version 2 is laid out.
struct TokenLayout {
  bool altc = false;    // score, type, id, length, bytes; else length, bytes, score, type
  bool seq_len = true;  // a sixth number before the tokens
};
struct Tokenizer {
  Section section;
  TokenLayout layout;
  std::int32_t seq_len = 0;
};
// The tokenizer section of version 2; what the size of the `start` section counts helps to tell its layout.
Tokenizer read_tokenizer(Cursor& cursor, const Section& start, Vocabulary& vocabulary);
// The size that alt.c gives its tokenizer section and asks for: 4 bytes a token less than the fields have.
inline std::uint64_t altc_size(const Section& section, std::uint64_t tokens) {
  return section.size_in(SizeForm::fields) - 4 * tokens;
}

struct SpecialId {
  std::string_view name;
  std::int64_t Vocabulary::*member;
};
inline constexpr SpecialId kSpecialIds[] = {{"bos id", &Vocabulary::bos},
                                            {"eos id", &Vocabulary::eos},
                                            {"pad id", &Vocabulary::pad},
                                            {"unk id", &Vocabulary::unk}};
// The four ids of either version. A negative one is absent; one that is no token's is kept, and told.
void read_special_ids(Cursor& cursor, std::int32_t tokens, Vocabulary& vocabulary);

// The records of either version, checked; `version` 1 or 2.
void read_tensors(Cursor& cursor, const Input& input, int version, Model& model);

// What a record says about a tensor beside its data: derived from its name.
struct Place {
  std::int32_t component = 0, block = 0, layer = 0, projection = 0;
  friend bool operator==(const Place&, const Place&) = default;
};
inline constexpr std::int32_t kLayers = 0, kEmbedTokens = 1, kLmHead = 2, kNorm = 3, kOther = 4;  // components
Place place_of(std::string_view name);
// The order in which records are written: embed_tokens, layers by block and name, norm, lm_head, others by name.
std::vector<const Tensor*> in_order(const std::vector<Tensor>& tensors);

// Numbers of token types in files.
TokenType token_type(std::int32_t number, bool altc);  // of 0 to 8
std::int32_t number_of(TokenType type, bool altc);

// Fields in memory, little-endian.
class FieldWriter {
 public:
  template <typename T>
  void put(T value) {
    std::array<std::byte, sizeof value> raw{};
    store_le<T>(raw.data(), value);
    for (const std::byte b : raw) bytes_.push_back(b);
  }
  void i32(std::int64_t value) { put(static_cast<std::int32_t>(value)); }
  void bytes(std::string_view text) {
    const auto raw = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }
  void string(std::string_view text) {
    i32(static_cast<std::int64_t>(text.size()));
    bytes(text);
  }
  void align() {
    while (bytes_.size() % kAlignment != 0) bytes_.push_back(std::byte{0});
  }
  // Marker and a size that `end_section` fills in; returns where the section begins.
  std::size_t begin_section(std::uint64_t marker);
  void end_section(std::size_t begin, SizeForm form);
  std::size_t size() const { return bytes_.size(); }
  Bytes& result() { return bytes_; }
  const Bytes& result() const { return bytes_; }

 private:
  Bytes bytes_;
};

// The texts of the general section, in the order of the file.
inline constexpr std::string_view kGeneralKeys[] = {"model_type",    "base_model", "author", "created_at",
                                                    "last_modified", "license",    "uuid"};
inline bool is_date_key(std::string_view key) { return key == "created_at" || key == "last_modified"; }
// A text of the model's metadata; empty when there is none.
std::string metadata_text(const Model& model, std::string_view key);
// What is written for one of the keys: the model's, of dates else that of SOURCE_DATE_EPOCH, else nothing. Throws
// alt.write.date.
std::string general_text(const Model& model, std::string_view key);
// What is wrong with such a text that is not empty: dates that are none (in altc they may have a time), a uuid that is
// none. Empty: nothing.
std::string general_problem(std::string_view key, std::string_view text, bool altc);
// A UUID of version 8: 122 bits of ours, here of a digest.
std::string uuid_of(const Digest& digest);

// Throws alt.write.dialect and alt.write.token for what alt.c would not read.
void require_altc(const Model& model);
std::vector<Change> remarks_altc(const Model& model);

// Checks what either version must be able to say in 32 bits, names, layouts; throws before a byte is written.
void check_writable(const Model& model, const Format& format);
std::int32_t data_type_of(const Tensor& tensor);
// A config number as an int32, 0 when it is absent.
std::int32_t number_or_zero(const std::optional<std::int64_t>& field);
void put_numbers(FieldWriter& out, std::span<const OwnField> fields, std::span<const std::string_view> names,
                 const Config& config);
// The number that the key alt.seq_len says: 0 when it is not there, none when its text is not an int32 above 0.
std::optional<std::int32_t> stated_seq_len(const Model& model);
// What to tell about a model that is written: what stays empty (fields of the column that are absent, `also_empty`, the
// tokenizer or ids), numbers that will be read back as absent. `empty`: how an empty text is spelled.
std::vector<Change> remarks(const Model& model, const std::vector<std::string>& also_empty,
                            std::span<const OwnField> fields, std::string_view empty);
// Record headers and data of all tensors, then the end marker's boundary.
void put_tensors(const Model& model, Sink& sink, const WriteOptions& options, int version, Digest* running);

Model read_v2(const Input& input, const ReadOptions& options);
void write_v2(const Model& model, Sink& sink, const WriteOptions& options);
std::vector<Change> remarks_v2(const Model& model, const WriteOptions& options);
std::string set_problem_v2(std::string_view key, std::string_view text);
Model read_v1(const Input& input, const ReadOptions& options);
void write_v1(const Model& model, Sink& sink, const WriteOptions& options);
std::vector<Change> remarks_v1(const Model& model, const WriteOptions& options);

}  // namespace tare::alt
