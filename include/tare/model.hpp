// The model: the five things that every container stores in its own way.
//
// Readers create a Model and writers consume one; nothing else crosses that boundary. Opening a file fills it with
// names and references only; tensor bytes are read from the blobs. A Model is a plain value: copy it, edit it, write
// it.
//
// Const functions may be called from many threads at once, as long as no thread changes the model during that time.
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

// One run of bytes of a tensor, with its role and type.
struct Component {
  std::string role;  // "data", "values", "scales", ...
  DType dtype = DType::u8;
  std::string type;  // logical type; empty if it is the dtype itself
  Blob blob;

  // The logical type if set, else the dtype's name.
  std::string_view type_name() const { return type.empty() ? name_of(dtype) : std::string_view(type); }
};

// The C++ types that elements can be read as. (std::int64_t and so on: `long`, not `long long`.)
template <typename T>
concept Element = std::same_as<T, float> || std::same_as<T, double> ||  //
    std::same_as<T, std::int8_t> || std::same_as<T, std::uint8_t> ||    //
    std::same_as<T, std::int16_t> || std::same_as<T, std::uint16_t> ||  //
    std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t> ||  //
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t>;

// The most bytes that Tensor::values allocates by default.
inline constexpr std::uint64_t kMaxValuesBytes = std::uint64_t{32} << 30;

struct TARE_API Tensor {
  std::string name;
  Shape shape;
  std::string layout = "dense";  // a row of the table of codecs, or a name that Tare does not know
  InlineVector<Component, 1> components;
  Map attributes;

  // Null if there is no such component.
  [[nodiscard]] const Component* component(std::string_view role) const;
  bool is_dense() const { return layout == "dense"; }
  // `attributes` and those that depend on the data (BlobProducer::learned). Writers store these: call it after the
  // bytes have been written, when it is free.
  [[nodiscard]] Map complete_attributes() const;
  // Decoded bytes of all components.
  std::uint64_t bytes() const;
  std::uint64_t stored_bytes() const;

  // All elements in row-major order, as T. Decodes every layout and type that Tare knows (compressed, sparse,
  // quantized, f16, fp8, ...), on up to `threads` threads (0: all cores). A floating-point T gets the nearest value; a
  // value beyond its largest throws `cast.overflow`. An integer T gets the exact numbers; a fraction, a NaN or a number
  // outside its range throws `values.inexact`. bool is 0 or 1. Throws `values.too_large` for more than `limit` bytes,
  // `codec.unknown` for an unknown layout, `cast.type` for a type without numbers (or complex), and errors in the data.
  template <Element T>
  [[nodiscard]] std::vector<T> values(std::uint64_t limit = kMaxValuesBytes, unsigned threads = 0) const;

  // The elements in place, without a copy. Throws `span.*`, with the reason, unless they are dense, of exactly this
  // type, uncompressed, in the machine's byte order, aligned, and in memory or in a mapped file; values() always
  // copies. A span is valid as long as a copy of this tensor's blobs lives (the Model's, for example), which keeps the
  // file open and mapped. Another process may change a mapped file at any moment: see Source::view;
  // Model::check_sources detects that afterwards. Nothing is read, so a stored digest is not compared: call
  // Blob::verify for that.
  template <Element T>
  [[nodiscard]] std::span<const T> span() const;
};

[[nodiscard]] TARE_API Tensor dense(std::string name, Shape shape, DType dtype, Blob blob, std::string type = {});

// Copies these elements into the bytes of a component.
template <Element T>
[[nodiscard]] TARE_API Blob blob_of(std::span<const T> elements);
template <Element T>
[[nodiscard]] Blob blob_of(const std::vector<T>& elements) {
  return blob_of(std::span<const T>(elements));
}

// A dense tensor of the type that corresponds to T, with a copy of these elements in row-major order. Throws usage
// `values.count` if their number does not match the shape.
template <Element T>
[[nodiscard]] TARE_API Tensor dense(std::string name, Shape shape, std::span<const T> elements);
template <Element T>
[[nodiscard]] Tensor dense(std::string name, Shape shape, const std::vector<T>& elements) {
  return dense(std::move(name), std::move(shape), std::span<const T>(elements));
}

// A file that the model carries byte for byte.
struct Attachment {
  std::string name;
  Blob blob;
  // Generated by Tare from config and vocabulary, which contain all of it. Present in containers whose other readers
  // look for files; a conversion omits it and generates it again if the target needs it.
  bool made = false;
};

// A tensor of a file that breaks a rule of its own, such as a size that does not match its shape.
struct BrokenTensor {
  Tensor tensor;  // as far as it is known, without components
  Error error;    // the broken rule
};

class NameTable;

// Positions of tensors by name, from earlier lookups, so that a lookup need not compare every name. Only a hint: each
// result is compared with the tensors, which may have been edited. A copy starts empty.
class TARE_API NameHints {
 public:
  NameHints() noexcept;
  NameHints(const NameHints& other) noexcept;
  NameHints& operator=(const NameHints& other) noexcept;
  ~NameHints();

 private:
  friend class NameLookup;
  mutable std::mutex mutex_;                        // protects table_
  mutable std::shared_ptr<const NameTable> table_;  // null until it is worth its cost
  mutable std::atomic<unsigned> searches_{0};       // linear searches since the table was built
};

struct TARE_API Model {
  std::vector<Tensor> tensors;  // in file order
  // Tensors that cannot be among `tensors`. A reader fills this only on request (ReadOptions::keep_broken, or a
  // Diagnostics that collects, as in `verify`); otherwise `open` throws the first error. So a program that does not ask
  // never gets a model with missing tensors. Writers, `adapt` and `content_digest` refuse a model with broken tensors;
  // erase those that may be missing first, as `convert` does with skipped tensors.
  std::vector<BrokenTensor> broken;
  Map metadata;
  Config config;
  Vocabulary vocabulary;
  std::vector<Attachment> attachments;

  // Where the model comes from; for people and for `ls`, never written.
  std::string format, version;
  std::uint64_t file_bytes = 0;
  std::vector<SourcePtr> sources;  // the files it was read from

  NameHints hints = {};  // for `tensor`

  // Throws `io.source.shrank` or `io.source.changed` if one of `sources` has changed since it was opened. Call it after
  // the last read from the blobs, before using the result.
  void check_sources() const;
  // The tensor with this name (one of them if there are several); null if there is none. Throws the error of a broken
  // tensor. Takes constant time, except for the first few lookups after `tensors` was edited. A name that does not
  // exist takes linear time, since any tensor may have been renamed in place; use TensorIndex for many such lookups.
  [[nodiscard]] const Tensor* tensor(std::string_view name) const;
  [[nodiscard]] Tensor* tensor(std::string_view name) {
    return const_cast<Tensor*>(static_cast<const Model&>(*this).tensor(name));
  }
  // The same, but throws not_found `lookup.tensor`, with the most similar names, if there is none.
  [[nodiscard]] const Tensor& at(std::string_view name) const;
  [[nodiscard]] Tensor& at(std::string_view name) {
    return const_cast<Tensor&>(static_cast<const Model&>(*this).at(name));
  }
  // Throws the error of the first broken tensor; the message names the others and the option that omits them.
  void refuse_broken() const;
  [[nodiscard]] const Attachment* attachment(std::string_view name) const;
  [[nodiscard]] Attachment* attachment(std::string_view name) {
    return const_cast<Attachment*>(static_cast<const Model&>(*this).attachment(name));
  }
};

// The names of a model's tensors as they are now, for many lookups in constant time, including names that do not exist.
// Refers to the model, whose tensors must not change or be destroyed while the index is used.
class TARE_API TensorIndex {
 public:
  explicit TensorIndex(const Model& model);
  TensorIndex(Model&&) = delete;
  // Like Model::tensor.
  [[nodiscard]] const Tensor* tensor(std::string_view name) const;

 private:
  const Model* model_;
  std::shared_ptr<const NameTable> tensors_, broken_;
};

}  // namespace tare
