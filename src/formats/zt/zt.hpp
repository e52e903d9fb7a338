// What the parts of the zTensor format share; see zt.cpp for the byte map.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/metadata.hpp"
#include "tare/format.hpp"
#include "wire/cbor.hpp"

namespace tare::zt {

inline constexpr std::string_view kMagic = "ZTEN1000";
inline constexpr std::string_view kMagic01 = "ZTEN0001";
inline constexpr std::uint64_t kAlignment = 64;
inline constexpr std::uint64_t kFooterBytes = 16;  // manifest size, magic
inline constexpr std::uint64_t kMaxManifest = std::uint64_t{1} << 30;
inline constexpr std::string_view kWrittenVersion = "1.2.0";

// Private root attributes for what zTensor has no place of its own for.
inline constexpr std::string_view kConfigKey = "tare.config";
inline constexpr std::string_view kVocabularyKey = "tare.vocabulary";
inline constexpr std::string_view kAttachmentsKey = "tare.attachments";
// Text keys that the document does not know are kept under this one: in the metadata (root), in a tensor's attributes
// (object), and with ".ROLE" behind it (component).
inline constexpr std::string_view kUnknownKeys = "zt.keys";
// Keeps them there; under another key if an attribute of the file has that one.
void put_unknown(Map& attributes, std::string key, Map unknown);

// The manifest's bytes and where they are.
struct Manifest {
  std::uint64_t offset = 0;
  io::Metadata copy;
  bool v01 = false;        // of the container 0.1
  bool has_footer = true;  // containers 1.1 and later

  std::span<const std::byte> bytes() const { return copy.bytes(); }
};

// A component as its manifest spells it, before anything is believed.
struct RawComponent {
  std::string_view role, dtype, type, encoding, digest;
  std::optional<std::uint64_t> offset, length, uncompressed;
  std::uint64_t at = 0;  // file offset of its entry, for errors
  bool big_endian = false;
  Map unknown;
};

struct RawObject {
  std::string_view name, layout;
  Shape shape;
  InlineVector<RawComponent, 1> components;
  Map attributes;
  std::uint64_t at = 0;
};

// Turns raw objects into tensors, checking everything that can be checked without touching tensor data.
class ObjectChecker {
 public:
  // `data_end`: where the blobs must end (the manifest's offset). `sizes_given`: zstd components must say their
  // decoded size (from 1.2 on).
  ObjectChecker(const Input& input, const ReadOptions& options, Diagnostics& diagnostics, std::uint64_t data_end,
                bool sizes_given);

  void add(RawObject& raw);
  // An object that cannot be read; `raw` has what is known of it.
  void add_broken(const RawObject& raw, Error error);
  // All tensors, by the offset of their first blob, ties by name; after the check that blobs do not overlap.
  std::vector<Tensor> finish();
  // Those that broke a rule of their own, after `finish`.
  std::vector<BrokenTensor> take_broken() { return std::move(broken_); }
  void reserve(std::uint64_t count);

 private:
  static constexpr std::uint32_t kNoTensor = UINT32_MAX;
  struct Range {
    std::uint64_t offset, length;
    std::uint32_t tensor;  // kNoTensor: of a broken one, whose bytes are nevertheless its own
  };

  bool check_component(const RawObject& object, const RawComponent& raw, Component& out);
  std::optional<std::uint64_t> decoded_size(const RawObject& object, const RawComponent& raw, DType dtype);
  std::optional<std::uint64_t> measured_size(const RawObject& object, const RawComponent& raw);
  void report(const RawObject& object, Error error, std::uint64_t at);
  void report(const RawObject& object, std::uint64_t at, ErrorKind kind, std::string_view rule,
              std::string_view sentence) {
    report(object, Error(kind, rule, sentence), at);
  }
  void warn(const RawObject& object, std::uint64_t at, std::string_view rule, std::string_view sentence);
  void complain_about_digest(const RawObject& object, const RawComponent& raw);
  void widen_indices(const RawObject& raw, Tensor& tensor);
  void drop_last(const RawObject& raw);
  void check_overlaps();
  void drop_overlapping(std::span<const std::uint32_t> order);
  std::vector<std::uint32_t> order_of_tensors() const;
  void check_padding();

  const Input& input_;
  const ReadOptions& options_;
  Diagnostics& diagnostics_;
  std::uint64_t data_end_;
  bool sizes_given_;
  // What was unpacked only to learn its size, by offset and length of the range; and what may still be.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> measured_;
  std::uint64_t measurable_, measured_packed_ = 0;
  std::vector<Tensor> tensors_;
  std::vector<Range> ranges_;
  std::vector<BrokenTensor> broken_;
  bool unread_ = false;                         // some object could not be read
  std::optional<Error> first_;                  // what is wrong with the object at hand
  std::map<std::uint32_t, Error> overlapping_;  // by number of the tensor
  std::vector<Range> lost_;                     // of broken tensors, as far as they lie in the data
};

// Reads one object with `read`. Should that fail, the object is broken and passed over: the file is as good as its
// CBOR is.
template <typename Read>
void read_guarded(wire::CborReader& cbor, RawObject& object, ObjectChecker& checker, const Read& read) {
  const auto start = cbor.mark();
  try {
    read();
  } catch (const Error& error) {
    if (object.name.data() == nullptr || error.kind() == ErrorKind::io) throw;
    try {
      cbor.back_to(start);
      cbor.skip();
    } catch (const Error&) {
      throw error;
    }
    checker.add_broken(object, error);
    return;
  }
  checker.add(object);
}

// Finds the manifest of a ZTEN1000 or ZTEN0001 file.
Manifest find_manifest(const Source& source, const Limits& limits);

Model read(const Input& input, const ReadOptions& options);
// An array of dimensions, at most 64.
void read_shape(wire::CborReader& cbor, Shape& shape);
// The two containers before the footer.
void read_v01(wire::CborReader& cbor, ObjectChecker& checker);
void read_v10_object(wire::CborReader& cbor, RawObject& object);
// A long dtype name of 0.1 and 1.0 ("float32") as a storage type; the name itself when it is none.
std::string_view short_dtype(std::string_view long_name);

void write(const Model& model, Sink& sink, const WriteOptions& options);

// Where each component of each tensor came to lie, as the manifest needs it.
struct StoredComponent {
  std::uint64_t offset = 0, length = 0;
  std::optional<std::uint64_t> uncompressed;  // set: zstd
  std::string digest;
};
struct StoredTensor {
  const Tensor* tensor = nullptr;
  std::vector<StoredComponent> components;  // as tensor->components
};
// Canonical manifest bytes. Throws Error limit `zt.manifest.size` above 1 GiB.
Bytes build_manifest(const Model& model, std::vector<StoredTensor> tensors);
// Writes the blobs of these tensors, in order, and says where they are.
std::vector<StoredTensor> put_blobs(std::span<const Tensor> tensors, Sink& sink, const WriteOptions& options);
// Manifest, its length, the magic.
void put_footer(Sink& sink, std::span<const std::byte> manifest);
// The order in which a tensor's components are laid out.
std::vector<std::size_t> write_order(const Tensor& tensor);
bool recognize(const Source& source);

// See tare/append.hpp. `reach`: how far a footer may stand from its manifest (smaller in tests).
void append(const std::string& path, const Model& extra, const WriteOptions& options,
            std::uint64_t reach = kMaxManifest);
// See Format::amend.
bool amend(const std::string& path, const Model& before, const Model& after, bool dry_run);
// Throws unless the reader would accept this model: names unique and UTF-8, layouts and sizes in order, metadata not
// too deep.
void check_writable(const Model& model);

}  // namespace tare::zt
