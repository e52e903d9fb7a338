// The model: the five things every container lays out in its own way.
//
// Readers make one, writers consume one, nothing else crosses the boundary. Opening a file fills it with names and
// references only; tensor bytes are pulled from the blobs. A Model is a plain value: copy it, edit it, write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tare/blob.hpp"
#include "tare/config.hpp"
#include "tare/dtype.hpp"
#include "tare/error.hpp"
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

struct Tensor {
  std::string name;
  Shape shape;
  std::string layout = "dense";  // a row of the table of codecs, or a name only the source knows
  InlineVector<Component, 1> components;
  Map attributes;

  // Null when there is no such component.
  const Component* component(std::string_view role) const;
  bool is_dense() const { return layout == "dense"; }
  // `attributes` and what its blobs learned from the data while they were made (BlobProducer::learned). What a writer
  // stores: ask after the bytes have been written, when it costs nothing.
  Map complete_attributes() const;
  // Decoded bytes of all components.
  std::uint64_t bytes() const;
  std::uint64_t stored_bytes() const;
};

// A dense tensor over a blob.
Tensor dense(std::string name, Shape shape, DType dtype, Blob blob, std::string type = {});

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

struct Model {
  std::vector<Tensor> tensors;  // in file order
  // Those that cannot be among `tensors`. A reader fills this only when asked to go on without them
  // (ReadOptions::keep_broken, or a Diagnostics that collects, as `verify` has); `open` throws the first one otherwise.
  // So a program that never asks never meets a model with a hole in it. Writers, `adapt` and `content_digest` refuse a
  // model with broken tensors; erase those that may be missing first, as `convert` does for --skip.
  std::vector<BrokenTensor> broken;
  Map metadata;
  Config config;
  Vocabulary vocabulary;
  std::vector<Attachment> attachments;

  // Where it came from; for people and for `ls`, never written.
  std::string format, version;
  std::uint64_t file_bytes = 0;
  std::vector<SourcePtr> sources;  // the files it was read from

  // Throws `io.source.shrank` or `io.source.changed` when one of `sources` is not what it was when it was opened. Whoever
  // has read from the blobs asks this last, before the result is called one.
  void check_sources() const;
  // Null when there is no such tensor; throws its error when it is broken. Linear.
  const Tensor* tensor(std::string_view name) const;
  // Throws the error of the first broken tensor, naming the others and the option that leaves them out.
  void refuse_broken() const;
  const Attachment* attachment(std::string_view name) const;
};

}  // namespace tare
