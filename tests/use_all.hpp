// Does everything that is possible with an open model from an untrusted file: each decoder, encoder, statistic and
// writer. Whatever the bytes are, each ends in a result or in an Error; sanitizers detect anything else.
#pragma once

#include "conformance/memory.hpp"
#include "conformance/models.hpp"
#include "convert/adapt.hpp"
#include "inspect/data_check.hpp"
#include "tare/elements.hpp"
#include "tare/rows.hpp"
#include "tare/slice.hpp"

namespace tare::testing {

// Ignores all findings and continues, as verify does.
class IgnoreFindings final : public Diagnostics {
 public:
  void error(const Error&) override {}
  void warning(const Error&) override {}
  void note(const Error&) override {}
  bool thorough() const override { return true; }
};

// A sink that can only be written from front to back.
class PipeSink final : public Sink {
 public:
  const std::string& name() const override { return name_; }
  void commit() override {}

 protected:
  void do_write(std::uint64_t, std::span<const std::byte>) override {}

 private:
  std::string name_ = "pipe";
};

inline void use_rows(const Tensor& tensor) {
  const auto rows = open_rows(tensor);
  std::vector<float> values(rows->columns(), 0.5F), out(std::max<std::size_t>(values.size(), 4));
  for (std::uint64_t row = 0; row < std::min<std::uint64_t>(rows->rows(), 4); ++row) {
    rows->decode(row, 1, std::span(out).first(values.size()));
    rows->dot(row, 1, values, std::span(out).first(1));
    rows->dot(row, 1, QuantizedVector(values), std::span(out).first(1));
  }
}

// Uses every method; with sanitizers, which are too slow for that, a quarter of them, selected by `turn`.
inline void use_encoders(const Tensor& dense_tensor, std::size_t turn) {
  constexpr std::size_t kTurns = kCountsMemory ? 1 : 4;
  for (const Codec& codec : codecs())
    for (const std::string_view method : codec.methods)
      for (const bool ranged : {false, true}) {
        if (turn++ % kTurns != 0 || (ranged && !codec.ranged)) continue;
        error_of([&] {
          const Tensor coded = codec.encode(dense_tensor, {.method = std::string(method), .range = ranged});
          for (const Component& component : coded.components) component.blob.bytes();
          coded.complete_attributes();
        });
      }
}

inline void use_tensor(const Tensor& tensor, std::size_t turn) {
  // A few bytes may claim any shape; another test covers that.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 16;
  error_of([&] {
    for (const Component& component : tensor.components) {
      component.blob.verify();
      component.blob.bytes(kMost * 16);
    }
  });
  if (tensor.shape.elements().value_or(kMost + 1) > kMost) return;
  error_of([&] { statistics(tensor, 8, 4, {.threads = 1}); });
  error_of([&] { use_rows(tensor); });
  error_of([&] {
    const Tensor dense_tensor = to_dense(tensor);
    dense_tensor.components[0].blob.bytes();
    dense_tensor.components[0].blob.verify();
    if (tensor.shape.rank() > 0) slice(dense_tensor, parse_slice("::-2")).components[0].blob.bytes();
    for (const DType dtype : {DType::f32, DType::i8, DType::f16})
      error_of([&] { cast(dense_tensor, dtype).components[0].blob.bytes(); });
    use_encoders(dense_tensor, turn);
  });
}

// `other`: a model to compare with.
inline void use_model(const Model& model, const Model& other, std::size_t turn) {
  for (const Tensor& tensor : model.tensors) use_tensor(tensor, ++turn);
  for (const Attachment& attachment : model.attachments)
    error_of([&] { attachment.blob.bytes(std::uint64_t{1} << 24); });
  error_of([&] { content_digest(model, {.threads = 1}); });
  error_of([&] { diff(model, other, {.threads = 1}); });
  error_of([&] { inspect::check_data(model, 1, nullptr); });
  for (const std::string_view name : {"zt", "mcf", "npz", "safetensors", "alt"}) {
    const Format& target = *find_format(name);
    error_of([&] {
      const AdaptOptions options{.drop = {std::begin(kModelParts), std::end(kModelParts)}};
      const Adapted adapted = adapt(model, target, options);
      MemorySink memory;
      target.write(adapted.model, memory, {.work = {.threads = 1}});
      PipeSink pipe;
      if (target.holds.forward_only) target.write(adapted.model, pipe, {.work = {.threads = 1}});
      if (target.holds.zstd) target.write(adapted.model, pipe, {.zstd_level = 1, .work = {.threads = 1}});
    });
  }
}

}  // namespace tare::testing
