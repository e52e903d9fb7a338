// What a model computes: its numbers, its layers and their weights, from the tables of arch and config.json.
//
// A plan is made from any container's model, in the form of a Hugging Face directory: its names, its order of rows, its
// convention for norms. Everything that a plan needs is checked when it is made; no tensor's data is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/families.hpp"
#include "run/kernels.hpp"
#include "run/rope.hpp"
#include "run/routing.hpp"
#include "tare/change.hpp"
#include "tare/model.hpp"

namespace tare::run {

// A matrix, or some of the rows of one, of any layout; a vector is a matrix with one row. As a bool: whether it exists.
struct Weight {
  Tensor tensor;        // as the model has it
  Tensor numbers = {};  // the same as f32, decoded when it is read
  std::uint64_t first_row = 0, rows = 0, columns = 0;
  float added = 0;  // to each weight of a norm
  // Names the elements of the tensor that `numbers` has, if these are not all of them in their order. Other parts of the
  // tensor have other names.
  std::string part = {};
  std::string stored_name = {};  // the file's own name of the tensor, if `tensor` has another one
  // Noise of this squared size, relative to the mean square of each run of kNoiseBlock weights of a row, is added to what
  // is read. The same for each run of the same weight.
  float noise = 0;

  // Identifies the weight; parts of one tensor have different keys.
  std::string key() const { return (stored_name.empty() ? tensor.name : stored_name) + part; }

  explicit operator bool() const { return rows != 0; }
  // Decodes rows [first, first + count) of these rows. `place`: where the weight is used ("layer 3"), for errors. Throws
  // corrupt `run.not_finite` for NaN and infinite weights.
  void read(std::uint64_t first, std::uint64_t count, float* out, const std::string& place) const;
  // A vector.
  std::vector<float> values(const std::string& place) const;
};

inline constexpr std::size_t kNoiseBlock = 32;

struct Projection {
  Weight weight, bias;
};
// Without a gate, the activation is that of `up`.
struct FeedForward {
  Projection gate, up, down;
};

// A layer without attention. A text passes through a short convolution, and, unless that is all (LFM 2), each head has a
// matrix that every token changes a little: the gated delta rule.
struct StateWeights {
  Projection q, k, v, gate;  // a convolution alone: q * v passes through it, and the result is multiplied with k
  Projection step, share;    // how far a token changes the state, and how much of it counts; false: there is no state
  Weight step_bias, rate, norm;
  Weight convolution;  // [channels of q, k and v][tokens], or of q times v
  Projection out;

  explicit operator bool() const { return static_cast<bool>(out.weight); }
};

// What a layer computes, apart from its weights.
struct LayerSettings {
  std::uint64_t window = 0;  // 0: all previous tokens
  bool rotates = true;
  bool local_rope = false;  // Plan::local_rope
};

struct LayerPlan : LayerSettings {
  std::string place;  // "layer 3", for errors
  Weight attention_norm, ffn_norm, post_attention_norm, post_ffn_norm, q_norm, k_norm;
  Weight attention_norm_bias, ffn_norm_bias;
  Projection q, k, v, o;
  Projection attention_gate;  // the results of the heads are multiplied with its sigmoid
  StateWeights state;         // in place of attention
  // Latent attention has no k and v: its keys and values are made of a short vector, and queries may be, too, by q.
  Projection q_compress, kv_compress, kv_expand;
  Weight q_compress_norm, kv_compress_norm;
  Weight sinks;     // for each head, the score of looking at nothing
  FeedForward ffn;  // unused if the layer has experts
  Projection router;
  Weight choice_bias;    // is added to the router's scores for the choice alone
  Weight shared_router;  // if there is none, the shared expert counts in full
  std::vector<FeedForward> experts;
  FeedForward shared;
};

// Sizes of layers without attention. Heads of values share a head of keys, as many for each. `key` 0: a
// convolution alone, whose features are divided into heads only to be computed side by side.
struct StateSizes {
  std::uint64_t key_heads = 0, value_heads = 0, key = 0, value = 0, kernel = 0;

  std::uint64_t shared() const { return key_heads == 0 ? 0 : value_heads / key_heads; }
  std::uint64_t keys() const { return key_heads * key; }
  std::uint64_t values() const { return value_heads * value; }
  std::uint64_t matrices() const { return value_heads * key * value; }  // elements, in one layer
  // What passes through the convolution.
  std::uint64_t channels() const { return 2 * keys() + values(); }
};

struct Plan {
  const arch::Family* family = nullptr;
  std::uint64_t vocabulary = 0, hidden = 0, intermediate = 0, heads = 0, kv_heads = 0;
  std::uint64_t head = 0, value_head = 0;  // elements of a head of queries and keys, of values
  std::uint64_t unrotated = 0;             // the first elements of a head of queries and keys, which have no position
  std::uint64_t latent = 0, query_latent = 0;  // the short vectors of latent attention; 0: there is none
  std::uint64_t context = 0;                   // the most tokens of a text; 0: not stated
  std::string file = {};                       // one of the model's, for errors
  std::uint64_t file_bytes = 0;                // sum over all files; without one, over the tensors
  std::vector<Change> doubts = {};
  Norm norm = Norm::rms;
  bool norms_first = true;     // there is a norm before attention and feed-forward network
  bool norms_after = false;    // and one after them
  bool parallel = false;       // attention and feed-forward network both get what the layer gets
  bool wide_qk_norms = false;  // over all heads together
  bool norms_after_rotation = false, clamps_after_norm = false;  // for queries and keys
  float epsilon = 0, latent_epsilon = 0;
  float embedding_scale = 1, attention_scale = 1, residual_scale = 1, output_divisor = 1;
  float attention_cap = 0, output_cap = 0;  // 0: none
  float most = 0;                           // q, k and v are clamped to this; 0: not
  // Queries are scaled by 1 + this * log(1 + floor(position / rope.original)); 0: not.
  float position_scale = 0;
  Gate activation = Gate::silu;
  bool squares = false;                      // an activation without a gate is multiplied with its argument
  float gate_sharpness = 0, gate_limit = 0;  // if experts clamp their gate; 0: they do not
  std::uint64_t expert_rows = 0, shared_rows = 0;
  Routing routing;  // no experts: there is no mixture
  Rope rope, local_rope;
  bool rotates_neighbours = false;
  StateSizes state;
  Weight embeddings, head_weight, final_norm;
  Weight positions, final_norm_bias, head_bias;  // positions: a vector for each, added to the embeddings
  bool tied = false;                             // the head is the token table
  std::vector<LayerPlan> layers;

  std::uint64_t queries() const { return heads * head; }
  std::uint64_t keys() const { return kv_heads * head; }
  std::uint64_t values() const { return kv_heads * value_head; }
  std::uint64_t answers() const { return heads * value_head; }  // what the heads give to `o`
  bool layers_have_gates() const;                               // any of them
  // The rows of kv_compress, and those of kv_expand.
  std::uint64_t compressed() const { return latent + head - unrotated; }
  std::uint64_t expanded() const { return heads * (unrotated + value_head); }

  // The names and values of everything above that is not a weight.
  std::vector<std::pair<std::string, std::string>> settings() const;
  // The weights of a layer, with what they are for ("q", "ffn.up", "experts.3.down").
  static std::vector<std::pair<std::string, const Weight*>> weights_of(const LayerPlan& layer);
};

// `settings` with the weights of `weights`, which has as many layers. A layer whose weights have other shapes cannot run.
Plan with_weights_of(const Plan& settings, const Plan& weights);

// Throws unsupported `run.family` for a model without config.json or of a family that is not run here, `run.setting` for
// settings that are not, `run.config` for numbers that are missing or contradict each other, and corrupt `run.tensors`,
// which names all tensors that are missing or have another shape.
Plan plan_of(Model model);

}  // namespace tare::run
