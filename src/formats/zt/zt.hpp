// Declarations shared by the parts of the zTensor format; zt.cpp has the byte map.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.hpp"
#include "io/metadata.hpp"
#include "wire/cbor.hpp"

namespace tare::zt {

inline constexpr std::string_view kMagic = "ZTEN1000";
inline constexpr std::string_view kMagic01 = "ZTEN0001";
inline constexpr std::uint64_t kAlignment = 64;
inline constexpr std::uint64_t kFooterBytes = 16;  // manifest size, magic
inline constexpr std::uint64_t kMaxManifest = std::uint64_t{1} << 30;
inline constexpr std::string_view kWrittenVersion = "1.2.0";

// The key for text keys that the document does not define: in the metadata (root), in a tensor's attributes (object),
// and followed by ".ROLE" (component).
inline constexpr std::string_view kUnknownKeys = "zt.keys";
// Keeps such keys under `key`, or under another one if the file has an attribute with that key.
void put_unknown(Map& attributes, std::string key, Map unknown);

// The manifest's bytes and their offset.
struct Manifest {
  std::uint64_t offset = 0;
  io::Metadata copy;
  bool v01 = false;        // the file is a container 0.1
  bool has_footer = true;  // containers 1.1 and later

  std::span<const std::byte> bytes() const { return copy.bytes(); }
};

// A component as the manifest has it, before any check.
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

// Records which keys of a fixed set were read; refuses a key that appears twice.
class Fields {
 public:
  Fields(wire::CborReader& cbor, std::string_view rule) : cbor_(cbor), rule_(rule) {}
  void meet(unsigned bit, std::string_view key);
  bool has(unsigned bit) const { return (seen_ >> bit & 1) != 0; }

 private:
  wire::CborReader& cbor_;
  std::string_view rule_;
  unsigned seen_ = 0;
};

// Turns raw objects into tensors, and checks everything that can be checked without reading tensor data.
class ObjectChecker {
 public:
  // `data_end`: the offset at which the blobs must end (that of the manifest). `sizes_given`: zstd components must
  // state their decoded size (from 1.2 on).
  ObjectChecker(const Input& input, const ReadOptions& options, Diagnostics& diagnostics, std::uint64_t data_end,
                bool sizes_given);

  void add(RawObject& raw);
  // Adds an object that cannot be read; `raw` has what is known of it.
  void add_broken(const RawObject& raw, Error error);
  // Checks that blobs do not overlap, and returns all tensors, sorted by the offset of their first blob, then by name.
  std::vector<Tensor> finish();
  // Returns the broken tensors; called after `finish`.
  std::vector<BrokenTensor> take_broken() { return std::move(broken_); }
  void reserve(std::uint64_t count);

 private:
  static constexpr std::uint32_t kNoTensor = UINT32_MAX;
  struct Range {
    std::uint64_t offset, length;
    std::uint32_t tensor;  // kNoTensor: a broken tensor, whose bytes still belong to no other
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
  // Sizes of components that were decoded only to measure them, by offset and length of the range; and the bytes that
  // may still be decoded.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> measured_;
  std::uint64_t measurable_, measured_compressed_ = 0;
  std::vector<Tensor> tensors_;
  std::vector<Range> ranges_;
  std::vector<BrokenTensor> broken_;
  bool unread_ = false;                         // some object could not be read
  std::optional<Error> first_;                  // the first error of the current object
  std::map<std::uint32_t, Error> overlapping_;  // by number of the tensor
  std::vector<Range> lost_;                     // ranges of broken tensors within the data
};

// Reads one object with `read`. If that fails, the object is broken and skipped; the others can still be read if its
// CBOR is valid.
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
// Reads an array of dimensions, at most 64.
void read_shape(wire::CborReader& cbor, Shape& shape);
// The two containers without a footer magic.
void read_v01(wire::CborReader& cbor, ObjectChecker& checker);
void read_v10_object(wire::CborReader& cbor, RawObject& object);
// Returns the storage type for a long dtype name of 0.1 and 1.0 ("float32"); the name itself if it is not one.
std::string_view short_dtype(std::string_view long_name);

void write(const Model& model, Sink& sink, const WriteOptions& options);

// The place of a component in the file, as the manifest states it.
struct StoredComponent {
  std::uint64_t offset = 0, length = 0;
  std::optional<std::uint64_t> uncompressed;  // set if compressed with zstd
  std::string digest;
};
struct StoredTensor {
  const Tensor* tensor = nullptr;
  std::vector<StoredComponent> components;  // in the order of tensor->components
};
// Returns the canonical bytes of the manifest. Throws Error limit `zt.manifest.size` above 1 GiB.
Bytes build_manifest(const Model& model, std::vector<StoredTensor> tensors);
// Writes the blobs of these tensors, in order, and returns their places.
std::vector<StoredTensor> put_blobs(std::span<const Tensor> tensors, Sink& sink, const WriteOptions& options);
// Returns the last bytes of a file: the manifest's length and the magic.
std::array<std::byte, kFooterBytes> make_footer(std::uint64_t manifest_bytes);
// Writes the manifest and the footer.
void put_footer(Sink& sink, std::span<const std::byte> manifest);
// Returns the order in which a tensor's components are stored.
std::vector<std::size_t> write_order(const Tensor& tensor);
bool recognize(const Source& source);

// See tare/append.hpp. `reach`: the largest distance of a footer from its manifest (smaller in tests).
void append(const std::string& path, const Model& extra, const WriteOptions& options,
            std::uint64_t reach = kMaxManifest);
// See Format::amend.
bool amend(const std::string& path, const Model& before, const Model& after, bool dry_run);
// Throws unless the reader would accept this model: unique UTF-8 names, valid layouts and sizes, metadata that is not
// too deep.
void check_writable(const Model& model);

}  // namespace tare::zt
