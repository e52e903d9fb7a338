// What the parts of zTensor 2 share; see zt2.cpp for the byte map.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codecs/zt2/rules.hpp"
#include "formats/zt2/cbor.hpp"
#include "io/metadata.hpp"
#include "tare/codec.hpp"
#include "tare/format.hpp"

namespace tare::zt2 {

inline constexpr std::string_view kMagic = "\x89ZT2\r\n\x1A\n";
inline constexpr std::uint64_t kFooterBytes = 40, kLeastFile = 48;
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::uint64_t kFloor = 4096, kCanonical = 65536;  // alignment of blobs
inline constexpr std::uint64_t kMaxManifest = std::uint64_t{1} << 30;
inline constexpr std::size_t kMaxName = 1024, kMaxShardName = 64, kMaxRank = 64;
inline constexpr std::string_view kSuffix = ".zt", kOwnSuffix = ".zt2";
inline constexpr std::string_view kFormatName = "zt2";

// Dialects: where blobs may begin, and under which names shards are kept.
inline constexpr std::string_view kPages = "pages", kStore = "store";

// Private attributes of the root for what the container has no place for; the last also of objects: attributes whose keys
// it does not allow.
inline constexpr std::string_view kConfigKey = "tare.config";
inline constexpr std::string_view kVocabularyKey = "tare.vocabulary";
inline constexpr std::string_view kAttachmentsKey = "tare.attachments";
inline constexpr std::string_view kOtherKeys = "tare.keys";

inline constexpr std::string_view kSeekableId = "zt.zstd-seekable/1";

// ---- the container ----

struct Footer {
  std::uint64_t offset = 0, length = 0, hash = 0;  // of the manifest; all 0: a file of nothing but data
  std::array<std::byte, kFooterBytes> bytes{};     // as it is in the file
  bool has_manifest() const { return length != 0; }
};

struct Manifest {
  Footer footer;
  io::Metadata copy;
  std::span<const std::byte> bytes() const { return copy.bytes(); }
};

bool recognize(const Source& source);
// Throws what is wrong with the container's frame. `limits`: of the manifest.
Footer read_footer(const Source& source, const Limits& limits);
// The same, and the manifest, whose hash is right.
Manifest find_manifest(const Source& source, const Limits& limits);
std::array<std::byte, kFooterBytes> make_footer(std::uint64_t offset, std::span<const std::byte> manifest);

// ---- the manifest, before anything is believed ----

struct RawPart {
  std::string_view name, dtype, type, shard, encoding, digest;  // null: not there
  std::optional<std::uint64_t> offset, length, decoded;
  std::uint64_t at = 0;  // where its entry is in the file
};

struct RawObject {
  std::string_view name, layout;
  Shape shape;
  InlineVector<RawPart, 1> parts;
  std::span<const std::byte> attributes;  // CBOR; null: not there
  std::uint64_t attributes_at = 0, at = 0;
};

// An object as nearly all are: dense, one raw part of this file with an xxh3 digest, and nothing else. It has been checked,
// and is what a tensor is made of once it is known where in the list that belongs: tensors are large.
struct PlainObject {
  std::string_view name;
  std::uint64_t offset = 0, length = 0;
  std::array<std::uint64_t, 4> shape{};
  std::array<std::byte, 8> digest{};
  DType dtype = DType::u8;
  std::uint8_t rank = 0;
};
// Whether the next value is one, which is then read. If not, or if anything is wrong with it, nothing is read. `data_end`:
// of the file. The name is the caller's to set.
bool read_plain(Cbor& cbor, std::uint64_t data_end, PlainObject& out);
void make_tensor(const PlainObject& object, const SourcePtr& source, Tensor& tensor);

// A file that parts may be in. The first of a model is the root itself.
struct Shard {
  std::string name;
  std::uint64_t size = 0;
  std::string digest;
  SourcePtr source;              // null: it could not be found
  std::optional<Error> trouble;  // why
};

// ---- layouts ----

// Names of layouts that only this container has, and that must not be taken for a layout of ours.
inline constexpr std::string_view kForeign = "zt2:";

// The number of elements, multiplied from the first dimension on, as readers do it; nothing when it once does not fit 64
// bits, although a 0 may follow.
std::optional<std::uint64_t> product_in_order(const Shape& shape);

using codec::zt2::size_of_elements;
using codec::zt2::storage_of;

// What is wrong with an object by the rules of its profile that every reader checks (dense, sparse_csr); `id` is the
// profile's. Components have the names and types of the file.
std::optional<Problem> check_profile(const Tensor& tensor, std::string_view id);
// Gives the tensor, whose components and attributes are those of the file, the layout of ours that it is; or, if it is none
// or breaks a rule of its profile, that of the file, which is then carried. In the latter case returns the rule.
std::optional<Problem> adopt_layout(Tensor& tensor, std::string_view id);

// A tensor in the words of the container.
struct Part {
  std::string name;
  DType dtype = DType::u8;  // never boolean
  std::string type;
  const Blob* blob = nullptr;
};
struct Object {
  const Tensor* tensor = nullptr;
  std::string layout;
  std::vector<Part> parts;                                // by name
  std::vector<std::pair<std::string, Value>> parameters;  // attributes beside the tensor's own
  std::vector<std::string_view> implied;                  // the tensor's own that the profile says otherwise
};
// Throws `zt2.write.*` for a tensor that cannot be an object. Refers to the tensor.
Object object_of(const Tensor& tensor);
Map attributes_of(const Object& object);

// ---- reading ----

Model read(const Input& input, const ReadOptions& options);
// Attributes with the keys that the container does not allow.
Map unfold(Map attributes);
Map fold(const Map& attributes);
bool is_name(std::string_view name);
bool is_shard_name(std::string_view name);
bool is_digest(std::string_view text);
// "xxh3:..." and so on; nothing when the digits are not that algorithm's.
std::optional<Digest> parse_digest(std::string_view text);
std::string digest_text(const Digest& digest);

// Turns raw objects into tensors, checking all that can be checked without touching tensor data.
class Objects {
 public:
  Objects(const Input& input, const ReadOptions& options, Diagnostics& diagnostics, const Footer& footer,
          std::vector<Shard>& files);

  // For so many objects, whose entries have that many bytes.
  void reserve(std::uint64_t count, std::size_t bytes);
  // Whether the next value is a plain object, which is then read and added.
  bool add_plain(Cbor& cbor, std::string_view name);
  void add(RawObject& raw);
  void add_broken(const RawObject& raw, Error error);
  // All tensors in the order of the files and their blobs, after the check that blobs do not overlap.
  std::vector<Tensor> finish();
  std::vector<BrokenTensor> take_broken() { return std::move(broken_); }

 private:
  // Numbers of tensors: in `tensors_`, or, with this bit, in `plain_`.
  static constexpr std::uint32_t kPlain = std::uint32_t{1} << 31;
  static constexpr std::uint32_t kManifest = UINT32_MAX;
  struct Range {
    std::uint32_t file;
    std::uint32_t tensor;  // kManifest: none
    std::uint64_t offset, length;
  };

  Tensor& start_tensor(const RawObject& raw);
  bool check_part(const RawObject& object, const RawPart& raw, Component& out);
  Blob blob_of(const RawObject& object, const RawPart& raw, const Shard& file, const Digest& digest) const;
  void read_attributes(const RawObject& raw, Tensor& tensor);
  void check_data(const Tensor& tensor, const RawObject& raw);
  std::uint32_t file_of(std::string_view shard) const;
  void report(const RawObject& object, std::uint64_t at, Error error);
  void report(const RawObject& object, std::uint64_t at, std::string_view rule, std::string_view sentence) {
    report(object, at, Error(ErrorKind::corrupt, rule, sentence));
  }
  void warn(const RawObject& object, std::uint64_t at, const Problem& problem);
  void drop_last();
  void check_overlaps();
  std::string_view name_of_tensor(std::uint32_t number) const;
  std::vector<std::uint32_t> order_of_tensors() const;

  const Input& input_;
  const ReadOptions& options_;
  Diagnostics& diagnostics_;
  const Footer& footer_;
  std::vector<Shard>& files_;
  std::vector<Tensor> tensors_;
  std::vector<PlainObject> plain_;
  std::vector<Range> ranges_;
  std::vector<BrokenTensor> broken_;
  std::size_t expected_ = 0;  // objects, at most
  std::uint64_t parts_ = 0, undigested_ = 0;
  std::optional<Error> first_;                  // what is wrong with the object at hand
  std::map<std::uint32_t, Error> overlapping_;  // by number of the tensor
};

// The value of an entry of `objects`, whose key is `object.name` and has been read.
void read_object(Cbor& cbor, RawObject& object);
// Why a file is not in canonical form; empty: it is. The manifest is valid.
std::string canonical_doubt(const Manifest& manifest, std::uint64_t file_bytes);

// ---- zstd in frames of one size ----

// `stored` bytes at `offset` of `source` that hold such a stream of `size` bytes. The digest is of those. Errors are
// `zt2.encoding` when the bytes are pulled.
Blob seekable_blob(SourcePtr source, std::uint64_t offset, std::uint64_t stored, std::uint64_t size, Digest digest);
// Of an encoding that Tare does not know: refuses when it is pulled.
Blob undecodable_blob(SourcePtr source, std::uint64_t offset, std::uint64_t stored, std::uint64_t size,
                      std::string encoding, Digest digest);

// ---- shards ----

// Finds the files of the table: by name beside the root, in a store, or by size and digest.
void find_shards(const std::string& root, const ReadOptions& options, std::vector<Shard>& files);
// The root file of a directory; empty when there is none, or more than one.
std::string root_in(const std::string& directory);
bool recognize_tree(const std::string& path);
std::uint64_t write_tree(const Model& model, const std::string& path, const WriteOptions& options, bool overwrite);

// ---- writing ----

void write(const Model& model, Sink& sink, const WriteOptions& options);
void check_writable(const Model& model);

// Where a part came to lie.
struct StoredPart {
  std::uint64_t offset = 0, length = 0;
  std::optional<std::uint64_t> decoded;  // set: compressed
  std::string digest, shard;
};
struct StoredObject {
  Object object;
  std::vector<StoredPart> parts;  // as object.parts
};
// The objects of these tensors in the order of their names, stored one after another from the sink's position on.
std::vector<StoredObject> put_blobs(std::vector<Object> objects, Sink& sink, const WriteOptions& options,
                                    std::uint64_t alignment);
std::vector<Object> objects_of(std::span<const Tensor* const> tensors);
std::vector<Object> objects_of(const Model& model);
// An entry of a map: its key, and key and value together, in CBOR.
struct Entry {
  std::span<const std::byte> key, bytes;
};
// The entries `objects` of a manifest, and what keeps them.
class EntryList {
 public:
  void add(Bytes key, std::span<const std::byte> value);
  void add(const Entry& entry) { entries_.push_back(entry); }  // which somebody else keeps
  const std::vector<Entry>& all() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::vector<std::unique_ptr<const Bytes>> kept_;
};
void add_object(EntryList& entries, const StoredObject& object);
// A manifest of these objects; `root` has the other entries of the root.
Bytes build_manifest(const EntryList& objects, EntryList root);
// The root's attributes: metadata, and what the container has no place for.
void add_attributes(EntryList& root, const Model& model);
// Manifest and footer, on the next multiple of the alignment.
void put_manifest(Sink& sink, std::span<const std::byte> manifest, std::uint64_t alignment);

std::string content_digest(const Model& model, unsigned threads, Progress* progress);

// See tare/append.hpp and Format::amend.
void append(const std::string& path, const Model& extra, const WriteOptions& options);
bool amend(const std::string& path, const Model& before, const Model& after, bool dry_run);

}  // namespace tare::zt2
