// Declarations shared by the parts of the MCF format; mcf.cpp has the byte map.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/endian.hpp"
#include "base/name_map.hpp"
#include "formats/format.hpp"
#include "io/metadata.hpp"
#include "tare/formats/mcf.hpp"

namespace tare::mcf {

// ModelInfo's names for the config's fields. Config fields that it does not have are private (model.hpp).
inline constexpr OwnField kFields[] = {{"model_type", "arch"},
                                       {"vocab_size", "vocab"},
                                       {"hidden_size", "hidden"},
                                       {"num_hidden_layers", "layers"},
                                       {"num_attention_heads", "heads"},
                                       {"num_key_value_heads", "kv_heads", true},
                                       {"max_position_embeddings", "context"},
                                       {"rope_theta", "rope_base", true}};

inline constexpr std::string_view kMagic{"MCF\0", 4};
inline constexpr std::uint16_t kMajor = 1, kMinor = 1;
inline constexpr std::uint64_t kHeaderBytes = 40, kDirectoryEntryBytes = 24;
inline constexpr std::uint64_t kSectionAlignment = 8, kPayloadAlignment = 64;
inline constexpr std::uint64_t kFlagAligned64 = 1;
inline constexpr std::uint64_t kMaxU32 = 0xFFFF'FFFF;
inline constexpr std::uint64_t kIndexHeaderBytes = 48, kIndexEntryBytes = 40;
inline constexpr std::uint32_t kIndexSorted = 1, kIndexUtf8 = 2;
inline constexpr std::uint64_t kInfoBytes = 88, kKvBytes = 24;
inline constexpr std::uint64_t kQuantHeaderBytes = 8, kQuantRecordBytes = 24;
inline constexpr std::size_t kMaxRank = 64;

// The six files of a Hugging Face directory that have sections of their own.
struct Resource {
  SectionType type;
  std::string_view name;
};
std::span<const Resource> resources();

struct Header {
  std::uint16_t minor = kMinor;
  std::uint64_t flags = kFlagAligned64;
  std::uint64_t directory_offset = 0, file_size = 0;
  std::uint32_t section_count = 0;
  Bytes extra;  // header bytes after the 40 that this version defines
};

// Header and directory, checked: every section is inside the file and overlaps no other. Broken rules of a section go
// to `diagnostics`, and the section is omitted; errors that concern the header or the whole directory are thrown.
struct Container {
  Header header;
  std::vector<Section> sections;  // by type
  const Section* find(SectionType type) const;
};
Container read_container(const Source& source, const Limits& limits, Diagnostics& diagnostics);

// Warns if a byte of [begin, end) that is in none of the ranges `used` (sorted by offset) is not zero.
struct Range {
  std::uint64_t offset, length;
};
void check_gaps(const Source& source, std::span<const Range> used, std::uint64_t begin, std::uint64_t end,
                Diagnostics& diagnostics);

// A copy of a section's bytes: the file cannot change names, keys and records once they are checked.
class SectionBytes {
 public:
  // Throws Error limit `mcf.section.limit` if the section is larger than `limits` allows.
  SectionBytes(const Source& source, const Section& section, const Limits& limits);

  std::uint64_t size() const { return bytes_.bytes().size(); }
  // Returns the file offset of a byte of the section.
  std::uint64_t at(std::uint64_t inner) const { return offset_ + inner; }
  // The caller of these two has checked the bounds.
  template <typename T>
  T load(std::uint64_t inner) const {
    return load_le<T>(bytes_.bytes().data() + inner);
  }
  std::string_view text(std::uint64_t inner, std::uint64_t length) const { return bytes_.text().substr(inner, length); }
  // Makes an Error about a byte of the section.
  Error refuse(ErrorKind kind, std::string_view rule, std::string_view sentence, std::uint64_t inner) const;

 private:
  std::uint64_t offset_;
  io::Metadata bytes_;
};

// ---- ModelInfo: the fixed fields and the key-value pairs, as bytes --------------------------------------------------

struct InfoFields {
  std::uint32_t arch = 0, vocab = 0, hidden = 0, layers = 0, heads = 0, kv_heads = 0, context = 0, train_context = 0;
  std::uint32_t rope_type = 0;
  float rope_base = 0, rope_scale = 0;
};

struct InfoPair {
  std::string_view key;
  std::variant<std::uint32_t, float, std::string_view> value;
  std::uint64_t at = 0;  // file offset of the value; for a string, of its first byte
};

struct Info {
  InfoFields fields;
  std::optional<std::string_view> model_name, base_model;
  std::vector<InfoPair> pairs;  // by key
};

// The result has views into `bytes`. Throws for the first broken rule.
Info read_info(const SectionBytes& bytes, Diagnostics& diagnostics);

struct InfoText {
  InfoFields fields;
  std::string model_name, base_model;  // empty: absent
  std::map<std::string, std::variant<std::uint32_t, float, std::string>, std::less<>> pairs;
};
// Returns the section's canonical bytes. Throws Error limit `mcf.write.limit` if a length does not fit its field.
Bytes build_info(const InfoText& info);

// ---- ModelInfo and the model ----------------------------------------------------------------------------------------

// Private keys about single tensors; the reader of the tensors removes those that it uses.
struct TensorNotes {
  NameViewMap<std::string_view> types;  // tare.type.NAME
  NameViewMap<Map> attributes;          // tare.attributes.NAME
};

// Fills metadata, config, vocabulary and attachments from ModelInfo (null: there is none), the header and the resource
// sections. Attachments are ranges of the input's source.
void fill_model(const Info* info, const Container& container, const Input& input, const ReadOptions& options,
                Model& model, TensorNotes& notes, Diagnostics& diagnostics);
// Warns of notes that belong to no tensor, and keeps them as metadata.
void keep_stale_notes(const TensorNotes& notes, Model& model, Diagnostics& diagnostics);

// Everything but the tensors' bytes, as a file will hold it.
struct Outline {
  Header header;
  Bytes info;
  std::vector<std::pair<Section, Blob>> resources, others;  // sorted by type; offsets not yet known
};
// Throws Error `mcf.write.*` for what MCF cannot hold.
Outline outline_of(const Model& model);

// ---- tensors --------------------------------------------------------------------------------------------------------

// How a component is stored: MCF has no bool, no fp8 and no complex numbers.
struct StoredType {
  std::uint32_t number = 0;  // its number in TensorIndex
  bool pairs = false;        // the file has one more dimension of 2, for the parts of a complex number
  std::string note;          // for tare.type.NAME; empty if not needed
};
StoredType stored_type(const Component& component);
// Returns the type for a number of TensorIndex; nothing for quantized and unknown types.
std::optional<DType> plain_type(std::uint32_t number);
// Gives a component that was stored as `dtype` the type that a note names, and removes the additional dimension from
// the shape. Returns false if the two do not match.
bool apply_note(std::string_view note, Component& component, Shape& shape);

// Reads the tensors in the order of their payloads. Broken rules go to `diagnostics`, and the tensor to Model::broken.
void read_tensors(const Input& input, const ReadOptions& options, const Container& container, TensorNotes& notes,
                  Model& model, Diagnostics& diagnostics);

Model read(const Input& input, const ReadOptions& options);
void write(const Model& model, Sink& sink, const WriteOptions& options);
// Reports what ModelInfo cannot hold of the model.
std::vector<Change> remarks(const Model& model, const WriteOptions& options);

// Returns for each tensor the first tensor with the same stored bytes, which may be itself.
std::vector<std::size_t> find_equal_payloads(std::span<const Tensor> tensors, unsigned threads);

}  // namespace tare::mcf
