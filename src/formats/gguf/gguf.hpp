// Declarations that the parts of the GGUF format share; see gguf.cpp for the byte map.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "formats/format.hpp"
#include "formats/gguf/keys.hpp"

namespace tare::gguf {

inline constexpr std::string_view kMagic = "GGUF";
inline constexpr std::uint32_t kVersion = 3;     // the version that is written
inline constexpr std::uint64_t kAlignment = 32;  // default alignment of tensors
inline constexpr std::uint64_t kMaxAlignment = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMaxName = 63, kMaxRank = 4, kMaxKey = 65535;
inline constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 30;  // most elements of an array, and bytes of a string
inline constexpr std::uint64_t kFixedBytes = 24, kMaxPadding = 32;  // bytes before the entries; padding after a tensor
inline constexpr std::string_view kFormatName = "gguf", kSuffix = ".gguf";

bool is_padded(const Model& model);

// The value of an entry. Arrays that may be long have compact forms of their own; other arrays are lists, those of u8
// Bytes.
using Payload = std::variant<Value, std::vector<std::string>, std::vector<float>, std::vector<std::int32_t>>;

struct Entry {
  std::string key;
  EntryType type;
  Payload payload;
  std::uint64_t at = 0;  // byte offset in the file
};

// Converts the payload to a value of a Model's metadata.
Value to_value(Payload payload, const EntryType& type);
// The type that is written for a value if the model does not record one; nothing if GGUF cannot hold the value.
std::optional<EntryType> usual_type(const Value& value);
// Returns whether the value can be written as this type and be read back unchanged.
bool is_of(const Value& value, const EntryType& type);
// Returns the value as this type if only the form differs (5 for a float, a list for bytes) or a float must be rounded.
std::optional<Value> fitted(const Value& value, const EntryType& type);
// The inverse of `to_value`, for a value that `is_of` the type.
Payload to_payload(Value value, const EntryType& type);

// Reports problems with an entry: its file, offset and key.
class Complaints {
 public:
  Complaints(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}
  void error(std::string_view rule, std::string_view sentence, const Entry& entry) const;
  void warning(std::string_view rule, std::string_view sentence, const Entry& entry) const;
  bool thorough() const { return diagnostics_.thorough(); }

 private:
  Error about(std::string_view rule, std::string_view sentence, const Entry& entry) const;
  const std::string& file_;
  Diagnostics& diagnostics_;
};

// Sets the fields of the config that the entries state, and `taken` for each entry that holds nothing else.
void take_config(const std::vector<Entry>& entries, Model& model, std::vector<bool>& taken,
                 const Complaints& complaints);
// The inverse: the entries for the fields that have a key.
std::vector<Entry> config_entries(const Config& config);
// Moves the entries into the fields of `model`, which already has its tensors. Consumes the entries. `elsewhere`
// receives the attributes of tensors that the model does not have; if null, each gets a warning.
void interpret(std::vector<Entry>& entries, Model& model, const Complaints& complaints, bool with_vocabulary,
               Map* elsewhere);
// The inverse: returns the entries to write for a model, in order.
std::vector<Entry> entries_of(const Model& model);

// ---- the metadata as a list of keys: see MetadataRules ----

std::vector<MetadataEntry> list_entries(const Model& model);
void apply_entries(Model& model, std::vector<MetadataEntry> list);
bool is_entry_type(std::string_view type);
std::string declared_entry_type(std::string_view key);
std::optional<Value> fit_entry(const Value& value, std::string_view type);
std::string usual_entry_type(const Value& value);
std::string reserved_key(std::string_view key);

// ---- files ----

// One of the entries that number the files of a set, and its position among the entries.
struct SplitEntry {
  Entry entry;
  std::string behind;  // the key of the entry before it; empty if it is the first
  std::size_t index;
};
struct Split {
  std::uint32_t number = 0, count = 0;
  std::int64_t tensors = 0;
  Map attributes = {};  // for tensors in other files
  std::vector<SplitEntry> entries = {};
};
// Decides by the file name alone.
bool is_first_of_set(std::string_view path);
// What read_file finds in a file, in addition to the Model.
struct Parts {
  std::optional<Split> split;              // the entries that describe the set of files
  std::uint64_t infos = 0, infos_end = 0;  // byte range of the tensor infos
  std::uint64_t tensors = 0;               // number of tensor infos
};
// Reads one file by itself. The split.* keys go to `parts`, not into the model.
Model read_file(const SourcePtr& source, const ReadOptions& options, Parts& parts);
// Reads a file, or the whole set that it belongs to.
Model read(const Input& input, const ReadOptions& options);

void check_writable(const Model& model);
void write(const Model& model, Sink& sink, const WriteOptions& options);
// Writes one file with these entries and tensors. `padded`: pads the header even if there are no tensors.
void write_file(const std::vector<Entry>& entries, const std::vector<const Tensor*>& tensors, Sink& sink,
                const WriteOptions& options, bool padded);

// Which attached files repeat these facts: config.json, or the files of the tokenizer. Both repeat the ids of special
// tokens.
enum class FactsOf : std::uint8_t { config, tokenizer, ids };
// A digest of the entries about the architecture, the tokenizer or the special tokens. If it changes, attached files that repeat these
// facts are out of date.
std::string facts_of(const std::vector<Entry>& entries, FactsOf area);
// Returns the value of general.alignment, or the default. Throws `gguf.write.alignment`.
std::uint64_t alignment_in(const std::vector<Entry>& entries);
// Everything before the data, without padding.
Bytes make_head(const std::vector<Entry>& entries, const std::vector<const Tensor*>& tensors);
// The same, for a file whose tensor infos exist already.
Bytes make_head(const std::vector<Entry>& entries, std::uint64_t tensors, std::span<const std::byte> infos);
std::vector<const Tensor*> tensors_of(const Model& model);
// These implement Format::amend and Format::rewrite_metadata.
bool amend(const std::string& path, const Model& before, const Model& after, bool dry_run);
bool rewrite_metadata(const std::string& path, const Model& before, const Model& after, const WriteOptions& options,
                      bool dry_run);

// Bytes before the data, without padding.
std::uint64_t head_bytes(const std::vector<Entry>& entries, const std::vector<const Tensor*>& tensors);

bool recognize_tree(const std::string& path);
std::uint64_t write_tree(const Model& model, const std::string& path, const WriteOptions& options, bool overwrite);

}  // namespace tare::gguf
