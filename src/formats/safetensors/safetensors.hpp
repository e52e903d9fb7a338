// What the parts of the safetensors format share; see safetensors.cpp for the byte map.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/safetensors/types.hpp"
#include "tare/format.hpp"

namespace tare::io {
class Directory;
}

namespace tare::safetensors {

inline constexpr std::uint64_t kMaxHeader = 100'000'000;        // what the reference implementation reads
inline constexpr std::uint64_t kMaxWrittenHeader = 25'000'000;  // what the tools of Hugging Face's hub still read
inline constexpr std::uint64_t kDataAlignment = 4096;           // where our files' data begins: a page
inline constexpr std::uint64_t kLeastAlignment = 8;             // and that of the reference implementation's
inline constexpr std::string_view kMetadataKey = "__metadata__";
// One string in the metadata for what has no place of its own: values that are no strings, config, attributes.
inline constexpr std::string_view kPrivateKey = "__tare__";
inline constexpr std::string_view kUpstream = "upstream";  // the dialect: data on an 8-byte boundary
inline constexpr std::string_view kSuffix = ".safetensors", kIndexSuffix = ".safetensors.index.json";
// Entries of an index's "metadata" other than total_size, in the model's metadata.
inline constexpr std::string_view kIndexMetadata = "safetensors.index";

// What such files hold; a directory of them holds more.
inline constexpr std::string_view kLayouts[] = {"dense", "packed.f4_e2m1", "packed.f6_e2m3", "packed.f6_e3m2"};
inline constexpr std::string_view kDialects[] = {kUpstream};
inline constexpr Capabilities kHolds = {.dtypes = kAllDTypes,
                                        .logical_types = kLogicalTypes,
                                        .layouts = kLayouts,
                                        .metadata = Room::tree,
                                        .config = true,
                                        .tensor_attributes = true,
                                        .shards = true,
                                        .dialects = kDialects,
                                        .forward_only = true};

const HeaderType* find_type(std::string_view name);
// Null when safetensors has no such type.
const HeaderType* type_of(const Tensor& tensor);

// Parses `text`, which starts at byte 8 of the file and has Json::kPadding readable bytes behind it, into `placer` and
// `metadata`. Throws for what is not JSON or breaks the form; entries that make no sense are reported and omitted.
class Placer;
void parse_header(std::string_view text, const std::string& file, Placer& placer, Map& metadata,
                  Diagnostics& diagnostics);
// The same for the form that all common writers emit, several times faster and reading every byte once, so `text` may
// be a mapping. False for any other form and for whatever is wrong: nothing is reported, and `placer` and `metadata` are
// of no use any more.
bool scan_header(std::string_view text, const std::string& file, Placer& placer, Map& metadata);

// One file. `source` is a safetensors file for certain.
Model read_file(const SourcePtr& source, const ReadOptions& options);
// A file or an index.
Model read(const Input& input, const ReadOptions& options);
// Moves what is kept under kPrivateKey to where it belongs; a text that is not ours stays where it is, with a warning.
void take_private(Model& model, const std::string& file, const Limits& limits, Diagnostics& diagnostics);

// The index of a sharded set.
struct Index {
  struct Entry {
    std::string tensor;
    std::uint32_t shard;  // in `shards`
    std::uint64_t at;     // byte offset
  };
  std::vector<Entry> weights;
  std::vector<std::string> shards;  // file names, sorted
  std::optional<std::uint64_t> total_size;
  std::string bad_total;  // a total_size that is not a number of bytes, as it stands there
  std::uint64_t total_at = 0;
  Map metadata;                       // without total_size
  std::vector<std::string> repeated;  // keys of it that appear twice
};
// Throws for what is not JSON, breaks the form or names a file elsewhere than beside the index.
Index parse_index(std::string_view text, const std::string& file);
Index read_index(const std::string& path, const Source& source, const Limits& limits);
// The whole set: every shard, checked against the index. `path` is the index's, its shards lie beside it.
Model read_set(const std::string& path, const SourcePtr& source, const ReadOptions& options);
// Whether the bytes are an index, or the name says that they are meant to be one.
bool is_index(const Source& source);
// Whether the bytes begin as one safetensors file does.
bool looks_like_file(const Source& source);

// The reader's diagnostics, or one that throws.
class Reports {
 public:
  explicit Reports(const ReadOptions& options)
      : diagnostics_(options.diagnostics != nullptr ? *options.diagnostics : throwing_) {}
  Diagnostics& operator*() { return diagnostics_; }
  Diagnostics* operator->() { return &diagnostics_; }

 private:
  Diagnostics throwing_;
  Diagnostics& diagnostics_;
};

// Throws unless the reader would take these tensors: names, types, sizes.
void check_writable(const Model& model);
using Strings = std::vector<std::pair<std::string, std::string>>;
// The metadata of a file with these tensors as strings, sorted by key: the model's own strings, and what is private.
// Of a set, only the first file carries what is private and not about tensors.
Strings string_metadata(const Model& model, std::span<const Tensor* const> tensors, bool first);
// Sorts tensors into the order of a file.
void put_in_order(std::vector<const Tensor*>& tensors);
// At most so many bytes of header for this tensor.
std::uint64_t header_share(const Tensor& tensor);
// One file with these tensors, in this order. Throws `safetensors.write.header`, before a byte is written, when the
// header is too long.
void write_file(std::span<const Tensor* const> ordered, const Strings& metadata, Sink& sink,
                const WriteOptions& options);

void write(const Model& model, Sink& sink, const WriteOptions& options);
// Which tensors go into which file: as many as fit, in the model's order.
std::vector<std::vector<const Tensor*>> plan_shards(const Model& model, std::optional<std::uint64_t> shard_bytes);

// "model-00003-of-00009.safetensors", as all writers of sets call their files.
struct ShardName {
  std::string_view stem;    // "model"
  std::uint32_t number;     // 3
  std::uint32_t count;      // 9
  std::string_view digits;  // "00003": as many as the other shards' numbers have
};
// Nothing for other names.
std::optional<ShardName> parse_shard_name(std::string_view file);

// What the names of a set begin with, unless something else is asked for.
inline constexpr std::string_view kUsualStem = "model";
// "model" of model.safetensors.index.json. A variant ("fp16" of the stem model.fp16) stands elsewhere in the name of an
// index than in those of the files: model.safetensors.index.fp16.json. Nothing for other names.
std::optional<std::string> stem_of_index(std::string_view file);
std::string index_name(std::string_view stem);

// A file of a directory that is being written.
using MakeSink = std::function<std::unique_ptr<Sink>(const std::string& name)>;
// STEM.safetensors, or shards and their index; the file that makes them a model (the index, or the only one) comes
// last. Each file is opened once before its sink is committed: throws `safetensors.write.check` when it is not what was
// written.
void write_set(const Model& model, const MakeSink& make, const WriteOptions& options,
               std::string_view stem = kUsualStem);
// The files that an index names as its shards; none where there is no such index, or none that can be read.
std::vector<std::string> shards_named_by(const io::Directory& directory, const std::string& index);
std::uint64_t write_tree(const Model& model, const std::string& path, const WriteOptions& options, bool overwrite);

}  // namespace tare::safetensors
