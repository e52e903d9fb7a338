// Declarations shared by the parts of the safetensors format; safetensors.cpp has the byte map.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.hpp"
#include "formats/safetensors/types.hpp"

namespace tare::io {
class Directory;
}

namespace tare::safetensors {

inline constexpr std::uint64_t kMaxHeader = 100'000'000;        // the limit of the reference implementation
inline constexpr std::uint64_t kMaxWrittenHeader = 25'000'000;  // the limit of Hugging Face's hub tools
inline constexpr std::uint64_t kDataAlignment = 4096;           // alignment of the data in our files: a page
inline constexpr std::uint64_t kLeastAlignment = 8;             // alignment in the reference implementation's files
inline constexpr std::string_view kMetadataKey = "__metadata__";
// The metadata key for what has no field: values that are not strings, config, attributes.
inline constexpr std::string_view kPrivateKey = "__tare__";
inline constexpr std::string_view kUpstream = "upstream";  // the dialect: data on an 8-byte boundary
inline constexpr std::string_view kSuffix = ".safetensors", kIndexSuffix = ".safetensors.index.json";
// The metadata key for the entries of an index's "metadata" other than total_size.
inline constexpr std::string_view kIndexMetadata = "safetensors.index";

// What a file or a set can hold; a directory (hf) can hold more.
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
// Returns null if safetensors has no such type.
const HeaderType* type_of(const Tensor& tensor);

// Parses `text`, which starts at byte 8 of the file and is followed by Json::kPadding readable bytes, into `placer` and
// `metadata`. Throws if it is not JSON or has another form; invalid entries are reported and omitted.
class Placer;
void parse_header(std::string_view text, const std::string& file, Placer& placer, Map& metadata,
                  Diagnostics& diagnostics);
// Does the same for the form that all common writers use, several times faster. It reads every byte once, so `text` may
// be a mapped file. Returns false for any other form and for any error: nothing is reported, and `placer` and
// `metadata` must be discarded.
bool scan_header(std::string_view text, const std::string& file, Placer& placer, Map& metadata);

// Reads one file. `source` must be a safetensors file.
Model read_file(const SourcePtr& source, const ReadOptions& options);
// Reads a file or an index.
Model read(const Input& input, const ReadOptions& options);
// Moves the content of kPrivateKey into the model. A text that Tare did not write stays metadata, with a warning.
void take_private(Model& model, const std::string& file, const Limits& limits, Diagnostics& diagnostics);

// The index of a sharded set.
struct Index {
  struct Entry {
    std::string tensor;
    std::uint32_t shard;  // index into `shards`
    std::uint64_t at;     // byte offset
  };
  std::vector<Entry> weights;
  std::vector<std::string> shards;  // file names, sorted
  std::optional<std::uint64_t> total_size;
  std::string bad_total;  // the text of a total_size that is not a number of bytes
  std::uint64_t total_at = 0;
  Map metadata;                       // without total_size
  std::vector<std::string> repeated;  // keys that appear twice
  std::vector<std::string> unknown;   // the first of the keys next to weight_map and metadata, quoted
  std::size_t unknowns = 0;           // how many there are
};
// Throws if the text is not JSON, has another form, or names a file outside the directory of the index.
Index parse_index(std::string_view text, const std::string& file);
Index read_index(const std::string& path, const Source& source, const Limits& limits);
// Reads the whole set: every shard, checked against the index. `path` is that of the index; the shards are next to it.
Model read_set(const std::string& path, const SourcePtr& source, const ReadOptions& options);
// Returns whether the bytes are an index, or the name is that of one.
bool is_index(const Source& source);
// Returns whether the bytes begin like a safetensors file.
bool looks_like_file(const Source& source);

// The caller's diagnostics, or one that throws.
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

// Throws unless the reader would accept the names, types and sizes of these tensors.
void check_writable(const Model& model);
using Strings = std::vector<std::pair<std::string, std::string>>;
// Returns the metadata of a file with these tensors as strings, sorted by key: the model's own strings and the private
// one. In a set, private entries that do not concern tensors are only in the first file.
Strings string_metadata(const Model& model, std::span<const Tensor* const> tensors, bool first);
// Sorts tensors into the order in which a file stores them.
void put_in_order(std::vector<const Tensor*>& tensors);
// Returns an upper bound on the bytes of header for this tensor.
std::uint64_t header_share(const Tensor& tensor);
// Writes one file with these tensors, in this order. Throws `safetensors.write.header`, before a byte is written, if
// the header is too long.
void write_file(std::span<const Tensor* const> ordered, const Strings& metadata, Sink& sink,
                const WriteOptions& options);

void write(const Model& model, Sink& sink, const WriteOptions& options);
// Assigns tensors to files: as many as fit, in the model's order.
std::vector<std::vector<const Tensor*>> plan_shards(const Model& model, std::optional<std::uint64_t> shard_bytes);

// The usual name of a shard: "model-00003-of-00009.safetensors".
struct ShardName {
  std::string_view stem;    // "model"
  std::uint32_t number;     // 3
  std::uint32_t count;      // 9
  std::string_view digits;  // "00003": all shards of a set have the same number of digits
};
// Returns nothing for other names.
std::optional<ShardName> parse_shard_name(std::string_view file);

// The stem of a set's names, unless another one is asked for.
inline constexpr std::string_view kUsualStem = "model";
// Returns "model" for model.safetensors.index.json, and nothing for other names. A variant such as fp16 is placed
// differently in the name of an index, model.safetensors.index.fp16.json; the stem is then model.fp16.
std::optional<std::string> stem_of_index(std::string_view file);
std::string index_name(std::string_view stem);

// Makes the sink for a file of the directory that is being written.
using MakeSink = std::function<std::unique_ptr<Sink>(const std::string& name)>;
// Writes STEM.safetensors, or shards and their index; the file that makes them a model (the index, or the only file)
// comes last. Each file is opened once before its sink is committed: throws `safetensors.write.check` if it is not what
// was written.
void write_set(const Model& model, const MakeSink& make, const WriteOptions& options,
               std::string_view stem = kUsualStem);
// Returns the shards that an index names; none if the index does not exist or cannot be read.
std::vector<std::string> shards_named_by(const io::Directory& directory, const std::string& index);
std::uint64_t write_tree(const Model& model, const std::string& path, const WriteOptions& options, bool overwrite);

}  // namespace tare::safetensors
