// Tiny Llama: a small transformer, its weight file (docs/formats/tllm.md) and its arithmetic (docs/tiny-llama.md).
//
// A TinyLlamaModel is its configuration and its weights, in memory or still in a mapped file. Const member functions may be
// called from many threads at once; runs keep their state in a Session (session.hpp), not in the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/error.hpp"
#include "tare/export.hpp"
#include "tare/model.hpp"
#include "tiny_llama/sampler.hpp"

namespace tiny_llama {

struct ModelConfig {
  std::int32_t model_dim = 512;
  std::int32_t num_layers = 6;
  std::int32_t num_heads = 8;  // divides model_dim
  std::int32_t ffn_hidden_dim = 2048;
  std::int32_t max_seq_length = 1024;
  std::int32_t vocab_size = 32000;
  float dropout_rate = 0.1f;  // of training; a run does not use it
  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

// Whatever goes wrong with a weight file: it is not there, not a weight file, of another version or configuration,
// damaged, cut short, or cannot be read or written. what() has the numbers, rule() the rule that was broken.
class TARE_API FileIOException : public tare::Error {
 public:
  explicit FileIOException(const tare::Error& error) : tare::Error(error) {}
};

// A weight: its name (as docs/formats/tllm.md lists them), its shape and its values. Matrices are row-major with a row
// for each input.
struct Weight {
  std::string_view name;
  std::size_t rows = 0, columns = 0;  // a vector has one row
  bool is_vector = false;
  std::span<const float> values;
};
struct MutableWeight {
  std::string_view name;
  std::size_t rows = 0, columns = 0;
  bool is_vector = false;
  std::span<float> values;
};

// The weights of one layer.
struct LayerWeights {
  std::span<const float> query, key, value, output;  // [model_dim][model_dim]
  std::span<const float> linear1_weight, linear1_bias, linear2_weight,
      linear2_bias;                                                           // [model_dim][ffn], [ffn][model_dim]
  std::span<const float> norm1_weight, norm1_bias, norm2_weight, norm2_bias;  // [model_dim]
};

class Weights;  // how they are kept

class TARE_API TinyLlamaModel {
 public:
  // A new model. The same configuration and seed give the same weights everywhere: matrices around 0 with a standard
  // deviation of 0.02, biases 0, norms 1. Throws tare::Error `tllm.config.*` for a configuration no file could have.
  explicit TinyLlamaModel(const ModelConfig& config = {}, std::uint64_t seed = 0);
  // Copies copy weights that are in memory and share those in a mapped file.
  TinyLlamaModel(const TinyLlamaModel& other);
  TinyLlamaModel& operator=(const TinyLlamaModel& other);
  TinyLlamaModel(TinyLlamaModel&& other) noexcept;
  TinyLlamaModel& operator=(TinyLlamaModel&& other) noexcept;
  ~TinyLlamaModel();

  // The model of a weight file of any configuration. Its weights stay in the mapped file and are read-only.
  // Throws FileIOException.
  static TinyLlamaModel map(const std::string& path);
  // The model in any container that holds one, by the names of its tensors. f32 tensors that lie in memory or in a mapped
  // file stay there; others are read, decoded and widened. Throws tare::Error `tllm.run.model`, which lists all that
  // does not fit.
  static TinyLlamaModel from(const tare::Model& model);

  // Writes every weight; atomic: the old file or the new one, whole. Replaces an existing file. Throws FileIOException.
  void save_model_weights(const std::string& path) const;
  // Replaces every weight by those of a file that has this model's configuration. On any failure the model stays as it
  // was. Throws FileIOException.
  void load_model_weights(const std::string& path);

  // The model as containers see it. Borrows: the result is valid while this model lives and is not changed.
  tare::Model to_model() const;

  const ModelConfig& config() const;
  // Whether the weights may be changed; those in a mapped file may not.
  bool is_writable() const;
  std::size_t parameter_count() const;

  std::span<const float> embedding() const;           // [vocab_size][model_dim]
  std::span<const float> position_embedding() const;  // [max_seq_length][model_dim]
  std::span<const float> output() const;              // [model_dim][vocab_size]
  // Throws `tllm.model.layer` for a layer that is not there.
  LayerWeights layer(std::int32_t number) const;

  // One weight by name. Throws `tllm.model.weight` when there is none of that name, and `tllm.model.read_only` for write
  // access to mapped weights.
  std::span<const float> weight(std::string_view name) const;
  std::span<float> mutable_weight(std::string_view name);
  // Every weight in the order of the file.
  void visit_weights(const std::function<void(const Weight&)>& visit) const;
  void visit_mutable_weights(const std::function<void(const MutableWeight&)>& visit);

  // Runs. Throw `tllm.run.empty` for no tokens, `tllm.run.length` for more than max_seq_length, `tllm.run.token` for one
  // outside the vocabulary. `threads` 0: all cores; the result does not depend on it.

  // The logits behind the last token: vocab_size numbers.
  std::vector<float> forward(std::span<const std::int32_t> tokens, unsigned threads = 0) const;
  // The logits behind every token, one row of vocab_size each.
  std::vector<float> forward_all(std::span<const std::int32_t> tokens, unsigned threads = 0) const;
  // Up to `count` more tokens, fewer when the positions run out or `on_token`, which gets each as it is made, returns
  // false. A step costs one position: keys and values are kept.
  std::vector<std::int32_t> generate(std::span<const std::int32_t> tokens, std::size_t count, Sampler& sampler,
                                     const std::function<bool(std::int32_t)>& on_token = {},
                                     unsigned threads = 0) const;

 private:
  friend class Session;
  explicit TinyLlamaModel(std::unique_ptr<Weights> weights);
  std::unique_ptr<Weights> weights_;
};

}  // namespace tiny_llama

// The format's document writes these two without the namespace.
using tiny_llama::FileIOException;
using tiny_llama::TinyLlamaModel;
