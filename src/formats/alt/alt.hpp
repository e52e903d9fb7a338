// Declarations shared by the parts of the ALT formats; alt.cpp (version 2) and v1.cpp (version 1) have the byte maps.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/endian.hpp"
#include "formats/format.hpp"
#include "formats/own_fields.hpp"
#include "io/metadata.hpp"

namespace tare::alt {

inline constexpr std::uint32_t kMagic1 = 0x616C7463;  // "altc"
inline constexpr std::uint64_t kMagic2 = 0x616C7400;  // "alt"
inline constexpr std::uint64_t kGeneral = 0xCAFEBABE, kParameters = 0xDEADBEEF, kTokenizer = 0xBADDCAFE,
                               kTensors = 0xFACEFEED, kEnd = 0x0FFFFFFF;
inline constexpr std::uint64_t kAlignment = 32, kHeader = 16;
// A file may state another alignment than 32: a power of two within these bounds.
inline constexpr std::int32_t kLeastAlignment = 8, kMostAlignment = 4096;
// The dialect altc writes this for an absent text, because its reader rejects empty ones.
inline constexpr std::string_view kUnknown = "unknown";
inline constexpr std::size_t kUuidLength = 36;
inline constexpr std::uint64_t kMostDimensions = 64;
// The metadata key for a seq_len that differs from max_position_embeddings. The value is a text, because every
// container with metadata can hold texts.
inline constexpr std::string_view kSeqLenKey = "alt.seq_len";

// Data types of tensor records.
inline constexpr std::int32_t kFloat32 = 0, kFloat16 = 1, kQint8 = 2, kQint4 = 3;

// Reads fields one after another, and reports problems with their offsets. Rule ids are prefixed with the format's
// name.
class Cursor {
 public:
  Cursor(const Input& input, std::string_view format, Diagnostics& diagnostics)
      : source_(*input.source), window_(*input.source), format_(format), diagnostics_(diagnostics) {}

  std::uint64_t at() const { return at_; }
  std::uint64_t size() const { return source_.size(); }
  std::uint64_t left() const { return source_.size() - at_; }
  void go(std::uint64_t offset) { at_ = offset; }
  void set_item(std::string item) { item_ = std::move(item); }
  // The alignment of sections in bytes.
  std::uint64_t alignment() const { return alignment_; }
  void set_alignment(std::uint64_t alignment) { alignment_ = alignment; }
  // Returns where the next section begins if the fields of this one end at `end`.
  std::uint64_t aligned(std::uint64_t end) const { return (end + alignment_ - 1) / alignment_ * alignment_; }
  std::string_view item() const { return item_; }

  template <typename T>
  T take(std::string_view what) {
    return load_le<T>(bytes(sizeof(T), what).data());
  }
  std::int32_t i32(std::string_view what) { return take<std::int32_t>(what); }
  std::uint64_t u64(std::string_view what) { return take<std::uint64_t>(what); }
  float f32(std::string_view what) { return take<float>(what); }
  // The span is valid until the next call.
  std::span<const std::byte> bytes(std::uint64_t count, std::string_view what);
  // Reads an int32 length and that many bytes, which must end before `limit`.
  std::string string(std::string_view what, std::uint64_t limit);
  // Reads zeros up to the next multiple of the alignment.
  void padding();

  Error error(ErrorKind kind, std::string_view rule, std::string_view sentence, std::uint64_t offset) const;
  [[noreturn]] void fail(std::string_view rule, std::string_view sentence, std::uint64_t offset) const;
  // Reports an error; returns if the caller collects findings.
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

// What the size of a section may count. Version and dialect decide which of these is canonical.
enum class SizeForm : std::uint8_t { fields, fields_and_header, fields_and_padding, all };

struct Section {
  std::string_view name;
  std::uint64_t begin = 0, size = 0, fields_end = 0;
  std::uint64_t alignment = kAlignment;

  std::uint64_t size_in(SizeForm form) const;
  // Returns which of the four the size is; nothing if it is another number.
  std::optional<SizeForm> form() const;
  // Returns the largest offset at which a section of that size can end, whatever the size counts.
  std::uint64_t limit() const;
};

// Reads the marker and the size. Another marker is a fatal error.
Section open_section(Cursor& cursor, std::string_view name, std::uint64_t marker);
// Stores where the fields ended and skips the padding. `check_size` checks the section's size.
void close_section(Cursor& cursor, Section& section);
// Reports an error for a size that is none of the four, and a warning for one that is not `expected`.
void check_size(const Cursor& cursor, const Section& section, std::uint64_t expected);
// Returns whether the marker follows; only the first half of the end marker is compared.
bool next_is(Cursor& cursor, std::uint64_t marker);
// Reads the end marker, which must be the last bytes of the file. Another width than `canonical_width` bytes is a
// warning.
void read_end(Cursor& cursor, std::size_t canonical_width);

// The names that the two versions use for the config's fields.
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

// The numbers of the parameters sections, by those names and in the order of the file. Each has 32 bits and is an
// integer or a float like the field. In version 2, one of two tails follows.
inline constexpr std::string_view kNumbers[] = {"hidden_size",         "intermediate_size", "max_position_embeddings",
                                                "num_attention_heads", "num_hidden_layers", "num_key_value_heads",
                                                "sliding_window"};
inline constexpr std::array<std::string_view, 4> kTail = {"rope_theta", "rms_norm_eps", "initializer_range",
                                                          "head_size"};
inline constexpr std::array<std::string_view, 4> kAltcTail = {"head_size", "rms_norm_eps", "rope_theta",
                                                              "initializer_range"};
// In version 1, data_type precedes the last number.
inline constexpr std::string_view kNumbers1[] = {"hidden_size",         "num_hidden_layers",   "intermediate_size",
                                                 "num_attention_heads", "num_key_value_heads", "sliding_window",
                                                 "rope_theta",          "rms_norm_eps",        "head_size"};
inline constexpr std::string_view kLastNumber1[] = {"context_length"};

// Stores a number in the config. 0 means absent; so does a negative number, with a warning; a number that is not finite
// is an error. `fields` are those of the version.
void set_parameter(const Cursor& cursor, std::span<const OwnField> fields, std::string_view name, std::uint32_t bits,
                   std::uint64_t at, Config& config);
void read_numbers(Cursor& cursor, std::span<const OwnField> fields, std::span<const std::string_view> names,
                  Config& config);

// The layout of a tokenizer section of version 2.
struct TokenLayout {
  bool altc = false;    // score, type, id, length, bytes; else length, bytes, score, type
  bool seq_len = true;  // a sixth number before the tokens
};
struct Tokenizer {
  Section section;
  TokenLayout layout;
  std::int32_t seq_len = 0;
};
// Reads the tokenizer section of version 2. What the size of the `start` section counts helps to recognize the layout.
Tokenizer read_tokenizer(Cursor& cursor, const Section& start, Vocabulary& vocabulary);
// The size that alt.c writes for its tokenizer section, and requires: 4 bytes per token less than the fields have.
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
// Reads the four special ids of either version. A negative id means absent; an id beyond the tokens is kept, and
// reported.
void read_special_ids(Cursor& cursor, std::int32_t tokens, Vocabulary& vocabulary);

// Reads and checks the records of either version; `version` is 1 or 2.
void read_tensors(Cursor& cursor, const Input& input, int version, Model& model);

// The four numbers of a record that are derived from the tensor's name.
struct Place {
  std::int32_t component = 0, block = 0, layer = 0, projection = 0;
  friend bool operator==(const Place&, const Place&) = default;
};
inline constexpr std::int32_t kLayers = 0, kEmbedTokens = 1, kLmHead = 2, kNorm = 3, kOther = 4;  // components
Place place_of(std::string_view name);
// Returns the tensors in the order of their records: embed_tokens, layers by block and name, norm, lm_head, others by
// name.
std::vector<const Tensor*> in_order(const std::vector<Tensor>& tensors);

// Conversions between token types and their numbers in files.
TokenType token_type(std::int32_t number, bool altc);  // 0 to 8
std::int32_t number_of(TokenType type, bool altc);

// Builds fields in memory, little-endian.
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
  // Writes the marker and a size that `end_section` fills in later; returns where the section begins.
  std::size_t begin_section(std::uint64_t marker);
  void end_section(std::size_t begin, SizeForm form);
  std::size_t size() const { return bytes_.size(); }
  Bytes& result() { return bytes_; }
  const Bytes& result() const { return bytes_; }

 private:
  Bytes bytes_;
};

// The metadata keys of the texts in the general section, in the order of the file.
inline constexpr std::string_view kGeneralKeys[] = {"model_type",    "base_model", "author", "created_at",
                                                    "last_modified", "license",    "uuid"};
inline bool is_date_key(std::string_view key) { return key == "created_at" || key == "last_modified"; }
// Returns a text of the model's metadata; empty if it has none.
std::string metadata_text(const Model& model, std::string_view key);
// Returns the text that is written for one of the keys: the model's, or for dates that of SOURCE_DATE_EPOCH, or
// nothing. Throws alt.write.date.
std::string general_text(const Model& model, std::string_view key);
// Returns what is wrong with such a text: not a date (in altc it may have a time), or not a uuid. Returns an empty
// string for a text that is empty or valid.
std::string general_problem(std::string_view key, std::string_view text, bool altc);
// Makes a UUID of version 8, which has 122 free bits, from a digest.
std::string uuid_of(const Digest& digest);

// Throws alt.write.dialect and alt.write.token for a model that alt.c could not read.
void require_altc(const Model& model);
std::vector<Change> remarks_altc(const Model& model);

// Checks numbers that must fit 32 bits, names and layouts for either version; throws before a byte is written.
void check_writable(const Model& model, const Format& format);
std::int32_t data_type_of(const Tensor& tensor);
// Returns a config number as an int32; 0 if it is absent.
std::int32_t number_or_zero(const std::optional<std::int64_t>& field);
void put_numbers(FieldWriter& out, std::span<const OwnField> fields, std::span<const std::string_view> names,
                 const Config& config);
// Returns the number that the metadata key alt.seq_len states: 0 if there is no such key, nothing if its text is not a
// positive int32.
std::optional<std::int32_t> stated_seq_len(const Model& model);
// Returns what convert reports about the written model: fields that stay empty (absent fields of the config,
// `also_empty`, the tokenizer or its ids), and numbers that will be read back as absent. `empty`: how an empty text is
// written.
std::vector<Change> remarks(const Model& model, const std::vector<std::string>& also_empty,
                            std::span<const OwnField> fields, std::string_view empty);
// Writes the record headers and data of all tensors, and the padding before the end marker.
void put_tensors(const Model& model, Sink& sink, const WriteOptions& options, int version, Digest* running);

Model read_v2(const Input& input, const ReadOptions& options);
void write_v2(const Model& model, Sink& sink, const WriteOptions& options);
std::vector<Change> remarks_v2(const Model& model, const WriteOptions& options);
std::string set_problem_v2(std::string_view key, std::string_view text);
Model read_v1(const Input& input, const ReadOptions& options);
void write_v1(const Model& model, Sink& sink, const WriteOptions& options);
std::vector<Change> remarks_v1(const Model& model, const WriteOptions& options);

}  // namespace tare::alt
