// Declarations shared by the parts of zTensor 2; zt2.cpp has the byte map.
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

#include "base/name_map.hpp"
#include "codecs/zt2/rules.hpp"
#include "formats/format.hpp"
#include "formats/zt2/cbor.hpp"
#include "io/metadata.hpp"
#include "tare/codec.hpp"

namespace tare::zt2 {

inline constexpr std::string_view kMagic = "\x89ZT2\r\n\x1A\n";
inline constexpr std::uint64_t kFooterBytes = 40, kLeastFile = 48;
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::uint64_t kFloor = 4096, kCanonical = 65536;  // alignment of blobs
inline constexpr std::uint64_t kMaxManifest = std::uint64_t{1} << 30;
inline constexpr std::size_t kMaxName = 1024, kMaxShardName = 64, kMaxRank = 64;
inline constexpr std::string_view kSuffix = ".zt", kOwnSuffix = ".zt2";
inline constexpr std::string_view kFormatName = "zt2";

// Dialects: the alignment of blobs, and the names of shards.
inline constexpr std::string_view kPages = "pages", kStore = "store";

// An attribute for attributes with keys that are not allowed.
inline constexpr std::string_view kOtherKeys = "tare.keys";

inline constexpr std::string_view kSeekableId = "zt.zstd-seekable/1";

// ---- the container ----

struct Footer {
  std::uint64_t offset = 0, length = 0, hash = 0;  // the manifest's; all 0: the file contains only data
  std::array<std::byte, kFooterBytes> bytes{};     // the bytes in the file
  bool has_manifest() const { return length != 0; }
};

struct Manifest {
  Footer footer;
  io::Metadata copy;
  std::span<const std::byte> bytes() const { return copy.bytes(); }
};

bool recognize(const Source& source);
// Throws for errors in the frame of the container. `limits`: on the manifest.
Footer read_footer(const Source& source, const Limits& limits);
// Also reads the manifest, and checks its hash.
Manifest find_manifest(const Source& source, const Limits& limits);
std::array<std::byte, kFooterBytes> make_footer(std::uint64_t offset, std::span<const std::byte> manifest);

// ---- the manifest, before any check ----

struct RawPart {
  std::string_view name, dtype, type, shard, encoding, digest;  // null: absent
  std::optional<std::uint64_t> offset, length, decoded;
  std::uint64_t at = 0;  // file offset of its entry
};

struct RawObject {
  std::string_view name, layout;
  Shape shape;
  InlineVector<RawPart, 1> parts;
  std::span<const std::byte> attributes;  // CBOR; null: absent
  std::uint64_t attributes_at = 0, at = 0;
};

// The form of nearly all objects: dense, one raw part in this file with an xxh3 digest, and nothing else. It has been
// checked. The tensor, which is much larger, is made once its place in the list is known.
struct PlainObject {
  std::string_view name;
  std::uint64_t offset = 0, length = 0;
  std::array<std::uint64_t, 4> shape{};
  std::array<std::byte, 8> digest{};
  DType dtype = DType::u8;
  std::uint8_t rank = 0;
};
// Reads the next value and returns true if it is such an object; otherwise, or if anything is wrong, reads nothing.
// `data_end`: of the file. The caller sets the name.
bool read_plain(Cbor& cbor, std::uint64_t data_end, PlainObject& out);
void make_tensor(const PlainObject& object, const SourcePtr& source, Tensor& tensor);

// A file that contains parts. The first one of a model is the root itself.
struct Shard {
  std::string name;
  std::uint64_t size = 0;
  std::string digest;
  SourcePtr source;              // null if it could not be found
  std::optional<Error> trouble;  // the reason
};

// ---- layouts ----

// The prefix for layouts that only this container has, and that must not be mistaken for one of ours.
inline constexpr std::string_view kForeign = "zt2:";

// Returns the number of elements, multiplied from the first dimension on, as readers do; nothing if an intermediate
// product exceeds 64 bits, even if a 0 follows.
std::optional<std::uint64_t> product_in_order(const Shape& shape);

using codec::zt2::size_of_elements;
using codec::zt2::storage_of;

// Returns how an object breaks the rules of its profile that every reader checks (dense, sparse_csr); `id` is the
// profile's. Components have the names and types of the file.
std::optional<Problem> check_profile(const Tensor& tensor, std::string_view id);
// Gives the tensor, which has the components and attributes of the file, the corresponding layout of ours. If there is
// none, or the tensor breaks a rule of its profile, it keeps the layout of the file and is carried; returns the broken
// rule.
std::optional<Problem> adopt_layout(Tensor& tensor, std::string_view id);

// A tensor in the terms of the container.
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
  std::vector<std::pair<std::string, Value>> parameters;  // attributes in addition to the tensor's own
  // The tensor's own attributes that the profile expresses in another way
  std::vector<std::string_view> implied;
};
// Throws `zt2.write.*` for a tensor that cannot be an object. The result refers to the tensor.
Object object_of(const Tensor& tensor);
Map attributes_of(const Object& object);

// ---- reading ----

Model read(const Input& input, const ReadOptions& options);
// Convert between attributes and the form in which keys that the container does not allow are stored.
Map unfold(Map attributes);
Map fold(const Map& attributes);
bool is_name(std::string_view name);
bool is_shard_name(std::string_view name);
bool is_digest(std::string_view text);
// Parses "xxh3:..." and so on; returns nothing if the digits do not match the algorithm.
std::optional<Digest> parse_digest(std::string_view text);
std::string digest_text(const Digest& digest);

// Turns raw objects into tensors, and checks everything that can be checked without reading tensor data.
class Objects {
 public:
  Objects(const Input& input, const ReadOptions& options, Diagnostics& diagnostics, const Footer& footer,
          std::vector<Shard>& files);

  // Reserves memory for this many objects, with entries of that many bytes.
  void reserve(std::uint64_t count, std::size_t bytes);
  // Reads and adds the next value if it is a plain object; returns whether it is.
  bool add_plain(Cbor& cbor, std::string_view name);
  void add(RawObject& raw);
  void add_broken(const RawObject& raw, Error error);
  // Checks that blobs do not overlap, and returns all tensors in the order of the files and their blobs.
  std::vector<Tensor> finish();
  std::vector<BrokenTensor> take_broken() { return std::move(broken_); }
  // The names of tensors whose coordinates must not repeat, although other containers give that a meaning.
  NameSet take_without_repeats() { return std::move(without_repeats_); }

 private:
  // The number of a tensor is an index into `tensors_` or, with this bit, into `plain_`.
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
  NameSet without_repeats_;   // only if data is to be checked
  std::size_t expected_ = 0;  // the largest possible number of objects
  std::uint64_t parts_ = 0, undigested_ = 0;
  std::optional<Error> first_;                  // the first error of the current object
  std::map<std::uint32_t, Error> overlapping_;  // by number of the tensor
};

// Reads the value of an entry of `objects`. Its key, `object.name`, has been read.
void read_object(Cbor& cbor, RawObject& object);
// Returns why a file is not in canonical form; empty if it is. The manifest must be valid.
std::string canonical_doubt(const Manifest& manifest, std::uint64_t file_bytes);

// ---- zstd in frames of one size ----

// A blob of `stored` bytes at `offset` of `source`, which hold such a stream of `size` bytes. The digest covers those.
// Reading throws `zt2.encoding`.
Blob seekable_blob(SourcePtr source, std::uint64_t offset, std::uint64_t stored, std::uint64_t size, Digest digest);
// A blob with an unknown encoding: reading it throws.
Blob undecodable_blob(SourcePtr source, std::uint64_t offset, std::uint64_t stored, std::uint64_t size,
                      std::string encoding, Digest digest);

// ---- shards ----

// Finds the files of the table: by name next to the root, in a store, or by size and digest.
void find_shards(const std::string& root, const ReadOptions& options, std::vector<Shard>& files);
// Returns the root file of a directory; empty if there is none, or more than one.
std::string root_in(const std::string& directory);
// Returns the root next to a shard whose table lists the shard; empty if there is none. (Shards that are found by their
// digest are in a content-addressed store, see io/place.hpp.)
std::string listed_in(const std::string& path);
bool recognize_tree(const std::string& path);
std::uint64_t write_tree(const Model& model, const std::string& path, const WriteOptions& options, bool overwrite);

// ---- writing ----

void write(const Model& model, Sink& sink, const WriteOptions& options);
void check_writable(const Model& model);

// The place of a part in the file.
struct StoredPart {
  std::uint64_t offset = 0, length = 0;
  std::optional<std::uint64_t> decoded;  // set if compressed
  std::string digest, shard;
};
struct StoredObject {
  Object object;
  std::vector<StoredPart> parts;  // in the order of object.parts
};
// Stores the tensors one after another, in the order of their names, from the sink's position on; then calls `put` for
// each, in that order. An object exists only during its call: a small file may have hundreds of thousands of tensors.
using PutObject = std::function<void(StoredObject& object)>;
void put_blobs(std::vector<const Tensor*> tensors, Sink& sink, const WriteOptions& options, std::uint64_t alignment,
               const PutObject& put);
std::vector<const Tensor*> tensors_of(const Model& model);
std::vector<Object> objects_of(const Model& model);
// An entry of a map in CBOR: its key, and key and value together.
struct Entry {
  std::span<const std::byte> key, bytes;
};
// Entries of a map in a manifest, and the memory that they refer to.
class EntryList {
 public:
  void add(Bytes key, std::span<const std::byte> value);
  void add(const Entry& entry) { entries_.push_back(entry); }  // the caller keeps its memory
  const std::vector<Entry>& all() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::vector<std::unique_ptr<const Bytes>> kept_;
};
void add_object(EntryList& entries, const StoredObject& object);
// Returns a manifest of these objects; `root` has the other entries of the root.
Bytes build_manifest(const EntryList& objects, EntryList root);
// Adds the root's attributes: metadata, and what the container has no field for.
void add_attributes(EntryList& root, const Model& model);
// Writes the manifest and the footer, at the next multiple of the alignment.
void put_manifest(Sink& sink, std::span<const std::byte> manifest, std::uint64_t alignment);

std::string content_digest(const Model& model, const Work& work);

// See tare/append.hpp and Format::amend.
void append(const std::string& path, const Model& extra, const WriteOptions& options);
bool amend(const std::string& path, const Model& before, const Model& after, bool dry_run);

}  // namespace tare::zt2
