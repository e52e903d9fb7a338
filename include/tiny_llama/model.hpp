// Tiny Llama: a small transformer, its weight file (docs/formats/tllm.md) and its arithmetic (docs/tiny-llama.md).
//
// A TinyLlamaModel has a configuration and weights, which are in memory or in a mapped file. Const member functions may
// be called from many threads at once; a run keeps its state in a Session (session.hpp), not in the model.
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
  std::int32_t num_heads = 8;  // must divide model_dim
  std::int32_t ffn_hidden_dim = 2048;
  std::int32_t max_seq_length = 1024;
  std::int32_t vocab_size = 32000;
  float dropout_rate = 0.1f;  // used in training only
  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

// Any problem with a weight file: it does not exist, is not a weight file, has another version or configuration, is
// damaged or truncated, or cannot be read or written. what() has the numbers, rule() the broken rule.
class TARE_API FileIOException : public tare::Error {
 public:
  explicit FileIOException(const tare::Error& error) : tare::Error(error) {}
};

// A weight: its name (docs/formats/tllm.md lists them), its shape and its values. Matrices are row-major, with one row
// per input.
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

class Weights;  // the storage of the weights

class TARE_API TinyLlamaModel {
 public:
  // Makes a new model. The same configuration and seed give the same weights on every machine: matrices with mean 0 and
  // a standard deviation of 0.02, biases 0, norms 1. Throws tare::Error `tllm.config.*` for a configuration that no
  // file can have.
  explicit TinyLlamaModel(const ModelConfig& config = {}, std::uint64_t seed = 0);
  // Copies duplicate weights in memory and share weights in a mapped file.
  TinyLlamaModel(const TinyLlamaModel& other);
  TinyLlamaModel& operator=(const TinyLlamaModel& other);
  TinyLlamaModel(TinyLlamaModel&& other) noexcept;
  TinyLlamaModel& operator=(TinyLlamaModel&& other) noexcept;
  ~TinyLlamaModel();

  // Opens a weight file with any configuration. The weights stay in the mapped file and are read-only. Throws
  // FileIOException.
  static TinyLlamaModel map(const std::string& path);
  // Makes a model from any container, by the names of its tensors. f32 tensors in memory or in a mapped file stay
  // there; others are read, decoded and widened. Throws tare::Error `tllm.run.model`, which lists everything that does
  // not fit.
  static TinyLlamaModel from(const tare::Model& model);
  // Whether the container holds a Tiny Llama, though perhaps not a complete one, by the names of its tensors.
  static bool is_in(const tare::Model& model);

  // Writes all weights, and replaces an existing file atomically: after a failure the old file is intact. Throws
  // FileIOException.
  void save_model_weights(const std::string& path) const;
  // Replaces all weights by those of a file with this model's configuration. After a failure the model is unchanged.
  // Throws FileIOException.
  void load_model_weights(const std::string& path);

  // Returns the model for a container. It borrows the weights: it is valid as long as this model exists and does not
  // change.
  tare::Model to_model() const;

  const ModelConfig& config() const;
  // Returns whether the weights may be changed; those in a mapped file may not.
  bool is_writable() const;
  std::size_t parameter_count() const;

  std::span<const float> embedding() const;           // [vocab_size][model_dim]
  std::span<const float> position_embedding() const;  // [max_seq_length][model_dim]
  std::span<const float> output() const;              // [model_dim][vocab_size]
  // Throws `tllm.model.layer` if the layer does not exist.
  LayerWeights layer(std::int32_t number) const;

  // Returns one weight by name. Throws `tllm.model.weight` if there is none with that name, and `tllm.model.read_only`
  // for write access to mapped weights.
  std::span<const float> weight(std::string_view name) const;
  std::span<float> mutable_weight(std::string_view name);
  // Visits all weights in the order of the file.
  void visit_weights(const std::function<void(const Weight&)>& visit) const;
  void visit_mutable_weights(const std::function<void(const MutableWeight&)>& visit);

  // Running the model. These throw `tllm.run.empty` for no tokens, `tllm.run.length` for more than max_seq_length, and
  // `tllm.run.token` for a token outside the vocabulary. `threads` 0: all cores; the result does not depend on it.

  // Returns the logits after the last token: vocab_size numbers.
  std::vector<float> forward(std::span<const std::int32_t> tokens, unsigned threads = 0) const;
  // Returns the logits after every token, one row of vocab_size numbers each.
  std::vector<float> forward_all(std::span<const std::int32_t> tokens, unsigned threads = 0) const;
  // Generates up to `count` more tokens; fewer if there are no more positions, or `on_token`, which is called with each
  // token, returns false. A step computes one position, because keys and values are kept.
  std::vector<std::int32_t> generate(std::span<const std::int32_t> tokens, std::size_t count, Sampler& sampler,
                                     const std::function<bool(std::int32_t)>& on_token = {},
                                     unsigned threads = 0) const;

 private:
  friend class Session;
  explicit TinyLlamaModel(std::unique_ptr<Weights> weights);
  std::unique_ptr<Weights> weights_;
};

}  // namespace tiny_llama

// The format's document uses these two without the namespace.
using tiny_llama::FileIOException;
using tiny_llama::TinyLlamaModel;
