// The table of containers: what each is called, what it can hold, and how to read and write it.
//
// Everything that loops over formats (detection, help, `tare formats`, the README's table, conformance tests, fuzz
// targets, benchmarks) loops over `formats()`. A new container is a folder and a row.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/change.hpp"
#include "tare/error.hpp"
#include "tare/export.hpp"
#include "tare/model.hpp"
#include "tare/progress.hpp"
#include "tare/sink.hpp"
#include "tare/source.hpp"

namespace tare {

// Bounds on what a file may ask for; every one can be raised by the caller. With these, reading costs time and memory
// in proportion to the bytes of the file, whatever they say.
struct TARE_API Limits {
  std::uint64_t metadata_bytes = std::uint64_t{1} << 30;  // a manifest, header or member directory
  // Of all metadata that one call reads, in however many files, archives and documents: values that are made of it, looks
  // at values that may have been looked at before, and bytes that are inflated or repeated. So many, and more for each
  // byte of the files: a tenth of a value, four looks, eight bytes; for up to 256 MiB of them. A key counts as three
  // values, a tensor as four, an attached file as 300.
  std::uint64_t metadata_values = std::uint64_t{1} << 17;
  std::uint64_t metadata_steps = std::uint64_t{1} << 20;
  std::uint64_t metadata_made = std::uint64_t{4} << 20;
  std::uint64_t component_bytes = std::uint64_t{32} << 30;  // decoded size that only the file vouches for
  // What all tensors and attachments decode to: `decoded_bytes`, and `expansion` times the bytes of the file.
  std::uint64_t decoded_bytes = std::uint64_t{16} << 20;
  std::uint64_t expansion = 32;
  unsigned depth = 64;  // nesting of metadata
  unsigned rank = 64;   // dimensions of a tensor

  // The sum of the two, for so many bytes.
  std::uint64_t decoded_from(std::uint64_t file_bytes) const;
};

struct ReadOptions {
  Access access = Access::mapped;
  Limits limits = {};
  Diagnostics* diagnostics = nullptr;  // null: throw the first error
  // Only names, types and sizes are wanted: that the tensors would decode to more than `limits` allows is no error.
  bool listing = false;
  // Off: Model::vocabulary may stay empty. Hundreds of thousands of tokens and merges take longer than everything else.
  bool vocabulary = true;
  unsigned threads = 0;  // for readers that check the data (zip's checksums); 0: all cores
  // Of a model's directory: files to carry beyond those that belong to every model, as globs over their relative names.
  std::vector<std::string> attach = {};
  // Read on when a tensor breaks a rule of its own, and list it in Model::broken; off: that is thrown like any other
  // error. What is wrong with the file as a whole is an error either way.
  bool keep_broken = false;
};

struct WriteOptions {
  // Compress components at this level. Nothing: those that come compressed with zstd stay as they are, byte for byte,
  // and all others are stored raw.
  std::optional<int> zstd_level = std::nullopt;
  bool unpack = false;  // without a level: store raw what comes compressed, too
  // What digest to store with each component. Nothing: the algorithm the component came with, recomputed.
  std::optional<DigestAlgorithm> digest = std::nullopt;
  bool dedup = false;        // store components with equal bytes once
  std::string dialect = {};  // one of the row's `dialects`; empty: the canonical bytes
  // Split the tensors over files of at most this many bytes each (a single larger tensor gets a file of its own).
  std::optional<std::uint64_t> shard_bytes = std::nullopt;
  unsigned threads = 0;          // 0: all cores
  Progress* progress = nullptr;  // counts tensor bytes written
};

// A file or directory handed to a reader.
struct Input {
  std::string path;
  SourcePtr source;  // null for a directory
};

enum class Room : std::uint8_t { none, strings, tree };

inline constexpr std::string_view kEverything[] = {"*"};
// Whether a list of names has this one, or is of everything.
[[nodiscard]] TARE_API bool lists(std::span<const std::string_view> names, std::string_view name);

// A field of the config that a container has a name of its own for.
struct OwnField {
  std::string_view field;  // of Config
  std::string_view name;   // in the container
  // Its readers count on the number: where the source is silent, `convert` fills in the usual default.
  bool expected = false;
};

// A metadata key that a container's reader makes of a fact of the file. A container that has no place for it may do
// without it, and nothing is lost, when one of these holds.
struct OwnKey {
  std::string_view key;
  bool about_file = false;                         // it is about the file, not about the model
  bool about_set = false;                          // likewise, and of no use to a single file of weights
  std::string_view repeats = {};                   // it says the same as this field of the config
  std::string_view assumed = {};                   // it is this value, which every reader takes where nothing is said
  bool (*computed)(const Value& value) = nullptr;  // it follows from the tensors
  // The entry of this map that counts the elements of all tensors: `convert` keeps it true.
  std::string_view counts = {};
};

// What a container can hold, as data. `convert` reads this and nothing else to learn what must change.
struct TARE_API Capabilities {
  std::span<const DType> dtypes;                    // storage types
  std::span<const std::string_view> logical_types;  // over those; {"*"}: any
  std::span<const std::string_view> layouts;        // {"*"}: any
  Room metadata = Room::none;
  bool config = false, vocabulary = false, attachments = false;
  // Of those, what it has a place for: keys of metadata, and of a vocabulary beside the tokens and the special ids any of
  // "kind", "scores", "types", "merges".
  std::span<const std::string_view> metadata_keys = kEverything;
  std::span<const std::string_view> vocabulary_parts = kEverything;
  // Fields of the config that it has a name for, in the order of Config, and whether it takes the others, too.
  std::span<const OwnField> own_fields = {};
  bool other_fields = true;
  // Other programs look for config.json and the tokenizer's files in it: `convert` makes those that are missing.
  bool wants_files = false;
  bool tensor_attributes = false;    // beside the parameters of a codec, which travel with its layout
  bool widens_logical_types = true;  // fp8 becomes a wider float without being asked for
  bool zstd = false, digests = false, dedup = false, shards = false;  // WriteOptions it honours
  std::span<const std::string_view> dialects = {};
  bool forward_only = false;                             // can be written to a pipe
  bool many_tensors = true;                              // false: exactly one (npy)
  std::size_t max_rank = SIZE_MAX, max_name = SIZE_MAX;  // dimensions of a tensor, bytes of its name
  // Not empty: only models of this one architecture, which fixes the names and shapes of the tensors ("tiny_llama").
  std::string_view architecture = {};

  bool has_field(std::string_view field) const;
  bool expects_field(std::string_view field) const;
};

// One key of a file's metadata, as the file has it.
struct MetadataEntry {
  std::string key;
  std::string type;  // in the container's words ("u32", "[string]"), or the kind of value ("text") where it has none
  Value value;
  friend bool operator==(const MetadataEntry&, const MetadataEntry&) = default;
};

// How a container keeps its metadata if its files say more than Model::metadata does: types of values, keys for what is the
// config or the vocabulary of a Model.
struct MetadataRules {
  // The keys of the file that is written for a model, in order.
  std::vector<MetadataEntry> (*list)(const Model& model) = nullptr;
  // The inverse: the model says what these entries say, which are those of `list`, edited. Throws what is wrong with them.
  void (*restate)(Model& model, std::vector<MetadataEntry> entries) = nullptr;
  bool (*is_type)(std::string_view type) = nullptr;
  std::string_view types = {};  // their names, for people
  // The type that the container's programs insist on for a key; empty: any. Null: for no key.
  std::string (*declared_type)(std::string_view key) = nullptr;
  // The value as this type; nothing if it cannot be one.
  std::optional<Value> (*fit)(const Value& value, std::string_view type) = nullptr;
  // The type of a new key that has this value; empty: the container has none for it.
  std::string (*usual_type)(const Value& value) = nullptr;
  // Why a key cannot be set, renamed or removed ("it counts the files of a set"); empty: it can.
  std::string (*reserved)(std::string_view key) = nullptr;
};

// A tensor under its new name. Several may have become one, and one several.
struct Renamed {
  std::string before, after;
};

struct Format {
  std::string_view name;      // "zt"
  std::string_view title;     // "zTensor"
  std::string_view versions;  // what it reads and writes, for people
  std::span<const std::string_view> suffixes;
  Capabilities holds;
  // Whether these bytes are (meant to be) this format; looks at a few bytes only and never throws for content.
  bool (*recognize)(const Source& source) = nullptr;
  Model (*read)(const Input& input, const ReadOptions& options) = nullptr;
  // Null: read-only. The model must fit `holds` (see convert.hpp); what does not is refused, never dropped.
  void (*write)(const Model& model, Sink& sink, const WriteOptions& options) = nullptr;
  // What it always has a place for and this model leaves empty; `convert` passes them on. Null: nothing.
  std::vector<Change> (*remarks)(const Model& model, const WriteOptions& options) = nullptr;
  // Why somebody who sets this metadata key to this text should not ("is not a date ..."); empty: no reason. What a file
  // brings along is not asked about: it is carried, and `verify` warns. Null: any text will do.
  std::string (*set_problem)(std::string_view key, std::string_view text) = nullptr;
  // Metadata keys that stand for facts of its files.
  std::span<const OwnKey> own_keys = {};
  // Adds the tensors of `extra` (names must be new) to a file in place and sets its metadata keys, see append.hpp. Null:
  // it can only be written anew.
  void (*append)(const std::string& path, const Model& extra, const WriteOptions& options) = nullptr;
  // What the programs that read this container expect of a model beside the bytes: the names of tensors, the order of their
  // rows, keys. `adopt` turns a model that follows Hugging Face's conventions into one that follows theirs, and throws
  // `convert.names` where it does not know how; `release` does the opposite. Neither changes a model that is so already, or
  // that says nothing of its architecture. `renamed`: filled with the names. Null: there are no such conventions.
  void (*adopt)(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed) = nullptr;
  void (*release)(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed) = nullptr;
  // How many tensors `release` would make under other names; 0 if it would throw. Looks at names and shapes only.
  std::size_t (*count_released)(const Model& model) = nullptr;
  // Whether its readers take this tensor as f32 only, in a model that follows their conventions. Null: none.
  bool (*wants_f32)(const Model& model, const Tensor& tensor) = nullptr;
  // Brings keys that say of which types the tensors are up to date: some have been encoded, decoded or cast. `own`: the
  // model is about to be written in this container. `mix`: the one that was asked for, see mixes(); empty: none. Null: it
  // has no such keys.
  void (*retyped)(Model& model, bool own, std::string_view mix) = nullptr;
  // Null: the metadata of a file is that of its Model.
  const MetadataRules* metadata = nullptr;
  // Gives the file at `path` the metadata, config and vocabulary of `after`, in place, such that it is whole at every
  // moment, whatever happens. It is the file that `before` was read from, and the two differ in nothing else. False: that
  // cannot be, and nothing was done. `dry_run`: only says so. Null: it can only be written anew.
  bool (*amend)(const std::string& path, const Model& before, const Model& after, bool dry_run) = nullptr;
  // Likewise, but by writing the file anew, with the bytes of its tensors as they are, also of those that are broken. Of a
  // model in several files the one that holds all metadata. Null, or false: the model has to be written anew as a whole.
  bool (*restate)(const std::string& path, const Model& before, const Model& after, const WriteOptions& options,
                  bool dry_run) = nullptr;
  // The digest of a model by the container's own document: the same for every file of this format that holds these tensors.
  // Hashes the tensors on up to `threads` threads. The model must fit `holds`. Null: the document defines none.
  std::string (*content_digest)(const Model& model, unsigned threads, Progress* progress) = nullptr;
  std::string_view content_digest_text = {};  // a sentence about it, for people
  // For containers that are a directory, or that `shard_bytes` splits into several files; null for all others. `path`
  // is the directory (created if missing). Every file is written whole and under its final name only when all are
  // complete. Returns the bytes of all files.
  bool (*recognize_tree)(const std::string& path) = nullptr;
  std::uint64_t (*write_tree)(const Model& model, const std::string& path, const WriteOptions& options,
                              bool overwrite) = nullptr;
};

[[nodiscard]] TARE_API std::span<const Format> formats();
// Null when there is no such row.
[[nodiscard]] TARE_API const Format* find_format(std::string_view name);
[[nodiscard]] TARE_API const Format* format_of_suffix(std::string_view path);
// The format of these bytes. Throws `open.unrecognized`, and says what the bytes look like when they are a git-lfs
// pointer, an HTML page or another well-known thing that is not a model.
[[nodiscard]] TARE_API const Format& detect(const Source& source);

// Opens any model file: detects the format and reads its metadata. Tensor bytes stay where they are.
[[nodiscard]] TARE_API Model open(const std::string& path, const ReadOptions& options = {});
[[nodiscard]] TARE_API Model open(const SourcePtr& source, const ReadOptions& options = {});

}  // namespace tare
