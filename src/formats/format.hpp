// The table of containers: their names, what they can hold, and how to read and write them.
//
// Everything that concerns all formats (detection, help, `tare formats`, the README's table, conformance tests, fuzz
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
#include "tare/metadata_entry.hpp"
#include "tare/model.hpp"
#include "tare/open.hpp"
#include "tare/progress.hpp"
#include "tare/sink.hpp"
#include "tare/source.hpp"
#include "tare/write_options.hpp"

namespace tare {

// A file or directory that a reader gets.
struct Input {
  std::string path;
  SourcePtr source;  // null for a directory
};

enum class Room : std::uint8_t { none, strings, tree };

inline constexpr std::string_view kEverything[] = {"*"};
// Whether the list contains this name or "*".
[[nodiscard]] bool lists(std::span<const std::string_view> names, std::string_view name);

// A field of the config for which a container has its own name.
struct OwnField {
  std::string_view field;  // the name in Config
  std::string_view name;   // the name in the container
  // The container's readers need it: if the source does not state it, `convert` fills in the usual default.
  bool expected = false;
};

// A metadata key that a container's reader creates from a fact of the file. If one of the following holds, a container
// that cannot hold the key may omit it without loss.
struct OwnKey {
  std::string_view key;
  bool about_file = false;                         // describes the file, not the model
  bool about_set = false;                          // likewise, and useless to a single file of weights
  std::string_view repeats = {};                   // repeats this field of the config
  std::string_view assumed = {};                   // has this value, which is every reader's default
  bool (*computed)(const Value& value) = nullptr;  // can be computed from the tensors
  // The entry of this map that counts the elements of all tensors: `convert` keeps it up to date.
  std::string_view counts = {};
};

// What a container can hold, as data. `convert` decides by this alone what must change.
struct Capabilities {
  std::span<const DType> dtypes;                    // storage types
  std::span<const std::string_view> logical_types;  // on top of those; {"*"}: any
  std::span<const std::string_view> layouts;        // {"*"}: any
  Room metadata = Room::none;
  bool config = false, vocabulary = false, attachments = false;
  // What it can hold of those: keys of metadata; parts of a vocabulary in addition to the tokens and the special ids:
  // any of "kind", "scores", "types", "merges".
  std::span<const std::string_view> metadata_keys = kEverything;
  std::span<const std::string_view> vocabulary_parts = kEverything;
  // Fields of the config that it has its own name for, in the order of Config, and whether it accepts others too.
  std::span<const OwnField> own_fields = {};
  bool other_fields = true;
  // Other programs look for config.json and the tokenizer's files in it: `convert` generates missing ones.
  bool wants_files = false;
  bool tensor_attributes = false;    // in addition to a codec's parameters, which belong to its layout
  bool widens_logical_types = true;  // `convert` widens fp8 to a wider float without being asked
  bool zstd = false, digests = false, dedup = false, shards = false;  // supported WriteOptions
  std::span<const std::string_view> dialects = {};
  bool forward_only = false;                             // can be written to a pipe
  bool many_tensors = true;                              // false: exactly one (npy)
  std::size_t max_rank = SIZE_MAX, max_name = SIZE_MAX;  // dimensions of a tensor, bytes of its name
  // Not empty: only models of this architecture, which fixes the names and shapes of the tensors ("tiny_llama").
  std::string_view architecture = {};

  bool has_field(std::string_view field) const;
  bool expects_field(std::string_view field) const;
};

// How a container keeps its metadata if its files hold more than Model::metadata: types of values, keys for the config
// or the vocabulary of a Model.
struct MetadataRules {
  // The keys, in order, of the file that would be written for a model.
  std::vector<MetadataEntry> (*list)(const Model& model) = nullptr;
  // The inverse: changes the model to match these entries, which are an edited result of `list`. Throws what is wrong
  // with them.
  void (*apply)(Model& model, std::vector<MetadataEntry> entries) = nullptr;
  bool (*is_type)(std::string_view type) = nullptr;
  std::string_view types = {};  // the names of the types, for people
  // The type that the container's programs require for a key; empty: any. Null: no key has one.
  std::string (*declared_type)(std::string_view key) = nullptr;
  // The value as this type; nothing if it does not fit.
  std::optional<Value> (*fit)(const Value& value, std::string_view type) = nullptr;
  // The type for a new key with this value; empty: the container has no such type.
  std::string (*usual_type)(const Value& value) = nullptr;
  // Why a key cannot be set, renamed or removed ("it counts the files of a set"); empty: it can.
  std::string (*reserved)(std::string_view key) = nullptr;
  // Whether the container's programs give the key a meaning in this model, wherever the model is kept. Null: no key
  // has one.
  bool (*owns)(const Model& model, std::string_view key) = nullptr;
  // Likewise, and a model that does not follow Format::adopt states the same elsewhere: in its config, its vocabulary
  // or their files.
  bool (*describes)(const Model& model, std::string_view key) = nullptr;
};

// A tensor that got a new name. Several tensors may become one, and one may become several.
struct Renamed {
  std::string before, after;
};

struct Format {
  std::string_view name;      // "zt"
  std::string_view title;     // "zTensor"
  std::string_view versions;  // versions read and written, for people
  std::span<const std::string_view> suffixes;
  Capabilities holds;
  // Whether these bytes are (meant to be) this format. Reads only a few bytes and never throws because of content.
  bool (*recognize)(const Source& source) = nullptr;
  Model (*read)(const Input& input, const ReadOptions& options) = nullptr;
  // Null: read-only. The model must fit `holds` (see convert.hpp); a model that does not fit is refused.
  void (*write)(const Model& model, Sink& sink, const WriteOptions& options) = nullptr;
  // What the user should know about the file that is written, such as fields that the model leaves empty; `convert`
  // reports it. Null: nothing.
  std::vector<Change> (*remarks)(const Model& model, const WriteOptions& options) = nullptr;
  // Why this metadata key should not be set to this text ("is not a date ..."); empty: it may be. Only for values that
  // the user sets: those of a file are carried unchanged, and `verify` warns. Null: any text is valid.
  std::string (*set_problem)(std::string_view key, std::string_view text) = nullptr;
  // Metadata keys that represent facts of its files.
  std::span<const OwnKey> own_keys = {};
  // Adds the tensors of `extra` (names must be new) to a file in place and sets its metadata keys, see append.hpp.
  // Null: files must be rewritten.
  void (*append)(const std::string& path, const Model& extra, const WriteOptions& options) = nullptr;
  // The conventions of the programs that read this container: names of tensors, order of matrix rows, keys. `adopt`
  // changes a model that follows Hugging Face's conventions to theirs, and throws `convert.names` if it does not know
  // how; `release` does the opposite. Neither changes a model that already conforms or does not state its architecture.
  // Both fill `renamed`. Null: there are no such conventions.
  void (*adopt)(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed) = nullptr;
  void (*release)(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed) = nullptr;
  // Whether a model follows these conventions already, so that the container's keys describe it.
  bool (*follows)(const Model& model) = nullptr;
  // How many tensors would get other names in `release`; 0 if it would throw. Reads only names and shapes.
  std::size_t (*count_released)(const Model& model) = nullptr;
  // Whether the container's programs accept this tensor only as f32, in a model that follows their conventions. Null:
  // never.
  bool (*wants_f32)(const Model& model, const Tensor& tensor) = nullptr;
  // Updates keys that describe the types of the tensors after some were encoded, decoded or cast. `own`: the model is
  // about to be written in this container. `mix`: the requested mix, see mixes(); empty: none. Null: there are no such
  // keys.
  void (*retyped)(Model& model, bool own, std::string_view mix) = nullptr;
  // Null: the metadata of a file is Model::metadata.
  const MetadataRules* metadata = nullptr;
  // Gives the file at `path` the metadata, config and vocabulary of `after`, in place; the file is valid at every
  // moment, even after a kill or a power cut. `before` was read from this file and differs from `after` in nothing
  // else. Returns false, without any change, if that is impossible. `dry_run`: only returns the answer. Null: files
  // must be rewritten.
  bool (*amend)(const std::string& path, const Model& before, const Model& after, bool dry_run) = nullptr;
  // Likewise, but rewrites the file, with the bytes of its tensors unchanged, even of broken ones. For a model in
  // several files, rewrites the one that holds all metadata. Null, or false: the whole model must be rewritten.
  bool (*rewrite_metadata)(const std::string& path, const Model& before, const Model& after,
                           const WriteOptions& options, bool dry_run) = nullptr;
  // The file that lists the file at `path` as a part of its model, by size or digest, so that changing or replacing the part
  // would break the model; empty: none does, or it does not exist. Null: the container's parts are not listed so.
  std::string (*listed_in)(const std::string& path) = nullptr;
  // The digest of a model that the container's specification defines: equal for all files of this format with the same
  // tensors. The model must fit `holds`. Null: the specification defines none.
  std::string (*content_digest)(const Model& model, const Work& work) = nullptr;
  std::string_view content_digest_text = {};  // a sentence that describes it, for people
  // For containers that are a directory, or that `shard_bytes` splits into several files; null for all others. `path`
  // is the directory (created if missing). Files get their final names only when all are complete. Returns the bytes of
  // all files.
  bool (*recognize_tree)(const std::string& path) = nullptr;
  std::uint64_t (*write_tree)(const Model& model, const std::string& path, const WriteOptions& options,
                              bool overwrite) = nullptr;
};

[[nodiscard]] std::span<const Format> formats();
// Null if there is no such row.
[[nodiscard]] const Format* find_format(std::string_view name);
[[nodiscard]] const Format* format_of_suffix(std::string_view path);
inline bool is_readable(const Format& format) { return format.read != nullptr; }
inline bool is_writable(const Format& format) { return format.write != nullptr || format.write_tree != nullptr; }
// Throws `rule` if the existing file at `path` is a part of a model that another file lists (Format::listed_in). `doing`:
// what was to be done to it.
void refuse_listed(const std::string& path, std::string_view rule, std::string_view doing);
// The format of these bytes. Throws `open.unrecognized`; the message names well-known things that are not models, such
// as a git-lfs pointer or an HTML page.
[[nodiscard]] const Format& detect(const Source& source);

}  // namespace tare
