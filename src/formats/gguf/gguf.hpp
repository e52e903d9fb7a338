// What the parts of the GGUF format share; see gguf.cpp for the byte map.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "formats/gguf/types.hpp"
#include "tare/format.hpp"

namespace tare::gguf {

inline constexpr std::string_view kMagic = "GGUF";
inline constexpr std::uint32_t kVersion = 3;     // the one that is written
inline constexpr std::uint64_t kAlignment = 32;  // of tensors, where the metadata does not say otherwise
inline constexpr std::uint64_t kMaxAlignment = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMaxName = 63, kMaxRank = 4, kMaxKey = 65535;
inline constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 30;  // of an array's elements, and a string's bytes
inline constexpr std::uint64_t kFixedBytes = 24, kMaxPadding = 32;  // in front of the entries; behind a tensor, usually
inline constexpr std::string_view kFormatName = "gguf", kSuffix = ".gguf";

// Keys that say what the file is made of.
inline constexpr std::string_view kAlignmentKey = "general.alignment", kArchitectureKey = "general.architecture";
inline constexpr std::string_view kSplitNumber = "split.no", kSplitCount = "split.count",
                                  kSplitTensors = "split.tensors.count";
bool is_split_key(std::string_view key);
// Ours: a text with what GGUF has no place for (formats/private_tree.hpp).
inline constexpr std::string_view kPrivateKey = "tare.private";
// Ours: attached files, as arrays of u8 under this and their names.
inline constexpr std::string_view kFilePrefix = "tare.file.";
// Ours, in the metadata of a Model: the keys of the file with their types, in its order, where a writer that only knows
// the values would choose others; and the ids of tokens that are not spelled in the alphabet of the others.
inline constexpr std::string_view kKeysKey = "gguf.keys", kPlainTokensKey = "gguf.plain_tokens";
// Ours, likewise: true where a file without tensors has the padding in front of data all the same.
inline constexpr std::string_view kPaddedKey = "gguf.padded";
// Ours, likewise, kept in the private tree: what the names of a model's tensors begin with in Hugging Face's files, if that is
// not "model.".
inline constexpr std::string_view kRootKey = "gguf.root";
bool is_padded(const Model& model);

// What an entry says. Arrays that may be long have forms of their own; the others are lists, u8 ones Bytes.
using Payload = std::variant<Value, std::vector<std::string>, std::vector<float>, std::vector<std::int32_t>>;

struct Entry {
  std::string key;
  EntryType type;
  Payload payload;
  std::uint64_t at = 0;  // in the file
};

// The payload as a value of a Model's metadata.
Value to_value(Payload payload, const EntryType& type);
// The type that is written for a value unless the model knows better; nothing for what GGUF cannot say.
std::optional<EntryType> usual_type(const Value& value);
// Whether the value can be written as this type and comes back the same.
bool is_of(const Value& value, const EntryType& type);
// The value as this type, where only the form differs (5 for a float, a list for bytes) or a float is rounded.
std::optional<Value> fitted(const Value& value, const EntryType& type);
// The inverse of `to_value`, for a value that `is_of` the type.
Payload to_payload(Value value, const EntryType& type);

// ---- what the keys mean ----

// The names of hyper-parameters, behind the architecture and a dot.
inline constexpr OwnField kOwnFields[] = {
    {.field = "model_type", .name = "general.architecture"},
    {.field = "vocab_size", .name = "vocab_size"},
    {.field = "hidden_size", .name = "embedding_length"},
    {.field = "intermediate_size", .name = "feed_forward_length"},
    {.field = "num_hidden_layers", .name = "block_count"},
    {.field = "num_attention_heads", .name = "attention.head_count"},
    {.field = "num_key_value_heads", .name = "attention.head_count_kv", .expected = true},
    {.field = "head_dim", .name = "attention.key_length"},
    {.field = "max_position_embeddings", .name = "context_length", .expected = true},
    {.field = "sliding_window", .name = "attention.sliding_window"},
    {.field = "rope_theta", .name = "rope.freq_base"},
    {.field = "rms_norm_eps", .name = "attention.layer_norm_rms_epsilon", .expected = true},
};

// The type that llama.cpp insists on for a key; nothing where it does not know the key, or takes several types.
std::optional<EntryType> declared_type(std::string_view key);

// Where a reader tells what is wrong with an entry.
class Complaints {
 public:
  Complaints(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}
  void error(std::string_view rule, std::string_view sentence, const Entry& entry) const;
  void warning(std::string_view rule, std::string_view sentence, const Entry& entry) const;

 private:
  Error about(std::string_view rule, std::string_view sentence, const Entry& entry) const;
  const std::string& file_;
  Diagnostics& diagnostics_;
};

// Puts the entries where a Model has a place for them. `tensors` are there already. Consumes the entries.
// `elsewhere` gets the attributes of tensors that are not there; null: there is a warning about each.
void interpret(std::vector<Entry>& entries, Model& model, const Complaints& complaints, bool with_vocabulary,
               Map* elsewhere);
// The inverse: the entries that are written for a model, in order.
std::vector<Entry> entries_of(const Model& model);

// The key of each field that has one, for a config that says what the architecture is.
std::vector<std::pair<std::string, std::string_view>> config_keys(const Config& config);
// Metadata as a list of keys (entries.cpp).
extern const MetadataRules kMetadataRules;

// ---- files ----

// One of the entries that count the files, and where it was among the others.
struct SplitEntry {
  Entry entry;
  std::string behind;  // the key of the one before it; empty: it is the first
  std::size_t index;
};
struct Split {
  std::uint32_t number = 0, count = 0;
  std::int64_t tensors = 0;
  Map attributes = {};  // of tensors in other files
  std::vector<SplitEntry> entries = {};
};
// By its name.
bool is_first_of_set(std::string_view path);
// What a file is made of, beside its Model.
struct Parts {
  std::optional<Split> split;              // what it says about the set it is a part of
  std::uint64_t infos = 0, infos_end = 0;  // what it says about its tensors, from where to where
  std::uint64_t tensors = 0;               // how many it speaks of
};
// One file as it is. The keys of `split` are not in the model.
Model read_file(const SourcePtr& source, const ReadOptions& options, Parts& parts);
// A file, or the set that it is a part of.
Model read(const Input& input, const ReadOptions& options);

void check_writable(const Model& model);
void write(const Model& model, Sink& sink, const WriteOptions& options);
// One file with these entries and tensors. `padded`: without tensors, too.
void write_file(const std::vector<Entry>& entries, const std::vector<const Tensor*>& tensors, Sink& sink,
                const WriteOptions& options, bool padded);

// Which of the attached files say it, too: config.json, or the others.
enum class FactsOf : std::uint8_t { config, tokenizer };
// A digest of what the entries say about the architecture and the tokenizer: attached files that say the same are out of date
// when it is not what it was.
std::string facts_of(const std::vector<Entry>& entries, FactsOf area);
// The entry general.alignment, or what counts without it. Throws `gguf.write.alignment`.
std::uint64_t alignment_in(const std::vector<Entry>& entries);
// Everything in front of the data, without padding.
Bytes make_head(const std::vector<Entry>& entries, const std::vector<const Tensor*>& tensors);
// The same of a file whose tensors are described already.
Bytes make_head(const std::vector<Entry>& entries, std::uint64_t tensors, std::span<const std::byte> infos);
std::vector<const Tensor*> tensors_of(const Model& model);
// See Format::amend and Format::restate.
bool amend(const std::string& path, const Model& before, const Model& after, bool dry_run);
bool restate(const std::string& path, const Model& before, const Model& after, const WriteOptions& options,
             bool dry_run);

// Bytes of a file up to its data, without padding.
std::uint64_t head_bytes(const std::vector<Entry>& entries, const std::vector<const Tensor*>& tensors);

bool recognize_tree(const std::string& path);
std::uint64_t write_tree(const Model& model, const std::string& path, const WriteOptions& options, bool overwrite);

}  // namespace tare::gguf
