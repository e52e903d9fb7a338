// The model: the five things every container lays out in its own way.
//
// Readers make one, writers consume one, nothing else crosses the boundary. Opening a file fills it with names and
// references only; tensor bytes are pulled from the blobs. A Model is a plain value: copy it, edit it, write it.
//
// Whatever is const here may be called from many threads at once, as long as nobody changes the model meanwhile.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/blob.hpp"
#include "tare/config.hpp"
#include "tare/dtype.hpp"
#include "tare/error.hpp"
#include "tare/export.hpp"
#include "tare/inline_vector.hpp"
#include "tare/shape.hpp"
#include "tare/value.hpp"
#include "tare/vocabulary.hpp"

namespace tare {

// One run of bytes of a tensor, and what they are.
struct Component {
  std::string role;  // "data", "values", "scales", ...
  DType dtype = DType::u8;
  std::string type;  // logical type; empty when it is the dtype itself
  Blob blob;

  // The logical type if set, else the dtype's name.
  std::string_view type_name() const { return type.empty() ? name_of(dtype) : std::string_view(type); }
};

// The C++ types that a tensor's elements are read as. (std::int64_t and so on: `long`, not `long long`.)
template <typename T>
concept Element = std::same_as<T, float> || std::same_as<T, double> ||  //
    std::same_as<T, std::int8_t> || std::same_as<T, std::uint8_t> ||    //
    std::same_as<T, std::int16_t> || std::same_as<T, std::uint16_t> ||  //
    std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t> ||  //
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t>;

// What Tensor::values allocates at most unless it is told otherwise, in bytes.
inline constexpr std::uint64_t kMaxValuesBytes = std::uint64_t{32} << 30;

struct TARE_API Tensor {
  std::string name;
  Shape shape;
  std::string layout = "dense";  // a row of the table of codecs, or a name only the source knows
  InlineVector<Component, 1> components;
  Map attributes;

  // Null when there is no such component.
  [[nodiscard]] const Component* component(std::string_view role) const;
  bool is_dense() const { return layout == "dense"; }
  // `attributes` and what its blobs learned from the data while they were made (BlobProducer::learned). What a writer
  // stores: ask after the bytes have been written, when it costs nothing.
  [[nodiscard]] Map complete_attributes() const;
  // Decoded bytes of all components.
  std::uint64_t bytes() const;
  std::uint64_t stored_bytes() const;

  // Every element, row after row, as a T. Decodes any layout and type that Tare knows (compressed, sparse, quantized, f16,
  // fp8, ...), on up to `threads` threads (0: all cores). A floating T gets the nearest value; one beyond its largest is
  // `cast.overflow`. An integer T gets exactly the numbers that are there; a fraction, a NaN or a number outside of its
  // range is `values.inexact`. bool is 0 or 1. Throws `values.too_large` for more than `limit` bytes, `codec.unknown` for
  // a layout and `cast.type` for a type without numbers (complex ones included), and whatever is wrong with the data.
  template <Element T>
  [[nodiscard]] std::vector<T> values(std::uint64_t limit = kMaxValuesBytes, unsigned threads = 0) const;

  // The elements where they are, without a copy. Throws `span.*`, which says why, unless they are dense, of exactly this
  // type, uncompressed, in the machine's byte order, aligned, and in memory or in a mapped file; values() always copies.
  // A span lives as long as some copy of this tensor's blobs, which keep the file open and mapped: the Model's, say. A
  // mapped file may be changed by others at any moment: see Source::view; Model::check_sources tells afterwards. Nothing is
  // read, so a stored digest is not compared: Blob::verify does that.
  template <Element T>
  [[nodiscard]] std::span<const T> span() const;
};

// A dense tensor over a blob.
[[nodiscard]] TARE_API Tensor dense(std::string name, Shape shape, DType dtype, Blob blob, std::string type = {});

// A copy of these elements as the bytes of a component.
template <Element T>
[[nodiscard]] TARE_API Blob blob_of(std::span<const T> elements);
template <Element T>
[[nodiscard]] Blob blob_of(const std::vector<T>& elements) {
  return blob_of(std::span<const T>(elements));
}

// A dense tensor of the type that corresponds to T, with a copy of these elements, row after row. Throws usage
// `values.count` unless there are as many as the shape says.
template <Element T>
[[nodiscard]] TARE_API Tensor dense(std::string name, Shape shape, std::span<const T> elements);
template <Element T>
[[nodiscard]] Tensor dense(std::string name, Shape shape, const std::vector<T>& elements) {
  return dense(std::move(name), std::move(shape), std::span<const T>(elements));
}

// A file carried along verbatim.
struct Attachment {
  std::string name;
  Blob blob;
  // Made by Tare from config and vocabulary, which say all that is in it. Containers whose other readers look for files
  // have it; a conversion leaves it behind and makes it anew where it is needed.
  bool made = false;
};

// A tensor of a file that breaks a rule of its own, such as a size that is not its shape's.
struct BrokenTensor {
  Tensor tensor;  // as far as it is known, without components
  Error error;    // the rule
};

class NameTable;

// Where the tensors of a model were when they were last looked for, so that a lookup need not compare every name. Only a
// hint: every answer is compared with the tensors, which anybody may have edited. A copy begins without.
class TARE_API NameHints {
 public:
  NameHints() noexcept;
  NameHints(const NameHints& other) noexcept;
  NameHints& operator=(const NameHints& other) noexcept;
  ~NameHints();

 private:
  friend class NameLookup;
  mutable std::mutex mutex_;                        // of table_
  mutable std::shared_ptr<const NameTable> table_;  // null until it is worth its while
  mutable std::atomic<unsigned> searches_{0};       // through all names, since the table was made
};

struct TARE_API Model {
  std::vector<Tensor> tensors;  // in file order
  // Those that cannot be among `tensors`. A reader fills this only when asked to go on without them
  // (ReadOptions::keep_broken, or a Diagnostics that collects, as `verify` has); `open` throws the first one otherwise.
  // So a program that never asks never meets a model with a hole in it. Writers, `adapt` and `content_digest` refuse a
  // model with broken tensors; erase those that may be missing first, as `convert` does with skipped tensors.
  std::vector<BrokenTensor> broken;
  Map metadata;
  Config config;
  Vocabulary vocabulary;
  std::vector<Attachment> attachments;

  // Where it came from; for people and for `ls`, never written.
  std::string format, version;
  std::uint64_t file_bytes = 0;
  std::vector<SourcePtr> sources;  // the files it was read from

  NameHints hints = {};  // of `tensor`

  // Throws `io.source.shrank` or `io.source.changed` when one of `sources` is not what it was when it was opened. Whoever
  // has read from the blobs asks this last, before the result is called one.
  void check_sources() const;
  // The tensor of this name (of several, one of them); null when there is none. Throws its error when it is broken.
  // Constant time, but for the first few lookups after `tensors` was edited. To say that there is none takes a look at
  // every name, since any of them may have been changed in place; for many such questions there is TensorIndex.
  [[nodiscard]] const Tensor* tensor(std::string_view name) const;
  [[nodiscard]] Tensor* tensor(std::string_view name) {
    return const_cast<Tensor*>(static_cast<const Model&>(*this).tensor(name));
  }
  // Throws the error of the first broken tensor, naming the others and the option that leaves them out.
  void refuse_broken() const;
  [[nodiscard]] const Attachment* attachment(std::string_view name) const;
  [[nodiscard]] Attachment* attachment(std::string_view name) {
    return const_cast<Attachment*>(static_cast<const Model&>(*this).attachment(name));
  }
};

// The names of a model's tensors as they are now, for looking up many, also such as are not there, each in constant time.
// Uses the model, whose tensors must neither change nor go away meanwhile.
class TARE_API TensorIndex {
 public:
  explicit TensorIndex(const Model& model);
  TensorIndex(Model&&) = delete;
  // As Model::tensor.
  [[nodiscard]] const Tensor* tensor(std::string_view name) const;

 private:
  const Model* model_;
  std::shared_ptr<const NameTable> tensors_, broken_;
};

}  // namespace tare
