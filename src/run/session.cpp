// Generating: one token after the other, with the keys and values of those before.
//
// Several tokens run through the executor, which reads each weight once for all of them. A single token is a product of
// every matrix with a vector. Quantized rows are multiplied as they are stored (tare/rows.hpp), floats of 16 and 32 bits
// in place; any other layout is decoded once if memory allows, else for each token.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <mutex>

#include "base/endian.hpp"
#include "base/parallel.hpp"
#include "base/spin_pool.hpp"
#include "base/stopping.hpp"
#include "run/room.hpp"
#include "run/texts.hpp"
#include "run/vectors.hpp"
#include "tare/codec.hpp"
#include "tare/rows.hpp"

namespace tare::run {
// Not anonymous, because Session::Run has members of these types.
namespace session_parts {

// The bytes of a tensor, however they are multiplied.
struct Storage {
  std::unique_ptr<const Rows> rows;  // coded
  const std::byte* floats = nullptr;
  Stored type = Stored::f32;
  Bytes held;      // what `floats` refers to, if not a file
  Floats decoded;  // likewise
};

struct Matrix {
  const Weight* weight = nullptr;
  const Storage* storage = nullptr;  // null: decoded for each token
  std::size_t rows = 0, columns = 0;
  std::vector<float> bias = {};
};

struct FeedForwardMatrices {
  Matrix gate, up, down;
};

struct StateMatrices {
  Matrix q, k, v, gate, step, share, out;
  std::unique_ptr<const StateParts> parts;  // the heads refer to it
  std::vector<StateHead> heads;
};

struct Layer {
  const LayerPlan* plan = nullptr;
  std::vector<float> attention_norm_bias, ffn_norm_bias;
  std::vector<float> attention_norm, ffn_norm, post_attention_norm, post_ffn_norm, q_norm, k_norm, q_compress_norm,
      kv_compress_norm, sinks, choice_bias;
  Matrix q, k, v, o, q_compress, kv_compress, kv_expand, attention_gate, router, shared_router;
  StateMatrices state;
  FeedForwardMatrices ffn, shared;
  std::vector<FeedForwardMatrices> experts;
  Floats keys, values;  // [position][kv_heads * head], [position][kv_heads * value_head]
};

struct Job {
  const Matrix* matrix = nullptr;
  const float* x = nullptr;
  float* y = nullptr;
  const QuantizedVector* codes = nullptr;  // x in 8 bits; null: x itself
};

}  // namespace session_parts

using namespace session_parts;

namespace {

constexpr std::size_t kFewTokens = 4;

std::size_t whole(std::uint64_t number) { return static_cast<std::size_t>(number); }

// A vector that the kernels of panels can work on: padded to a multiple of their size.
Floats padded_vector(std::uint64_t count) { return Floats((whole(count) + kPanel - 1) / kPanel * kPanel); }

// A copy of a tensor whose bytes are in memory, unless they are in a mapped file as they are.
Tensor in_memory(const Tensor& tensor) {
  Tensor copy = tensor;
  for (Component& component : copy.components)
    if (!component.blob.view()) component.blob = Blob::memory(component.blob.bytes(component.blob.size()));
  return copy;
}

std::optional<Stored> stored_floats(const Tensor& tensor) {
  const Component* const data = tensor.component("data");
  if (!tensor.is_dense() || data == nullptr || !data->type.empty() || !kLittleEndianHost) return std::nullopt;
  switch (data->dtype) {
    case DType::f32: return Stored::f32;
    case DType::bf16: return Stored::bf16;
    case DType::f16: return Stored::f16;
    default: return std::nullopt;
  }
}

bool has_rows(const Tensor& tensor) {
  const Codec* const codec = find_codec(tensor.layout);
  return codec != nullptr && codec->rows != nullptr;
}

const float* data_or_null(const std::vector<float>& values) { return values.empty() ? nullptr : values.data(); }

}  // namespace

class Session::Run {
 public:
  Run(const Scorer& scorer, const SessionOptions& options)
      : scorer_(scorer),
        plan_(scorer.inner().plan),
        options_(options),
        executor_(plan_, options.work.threads),
        pool_(thread_count(options.work.threads)),
        keys_(whole(plan_.keys())),
        values_(whole(plan_.values())) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
    capacity_ = plan_.context == 0 ? kMost : plan_.context;
    if (options.positions != 0) capacity_ = std::min(capacity_, options.positions);
    const StopScope stop(options.work);
    for (const LayerPlan& layer : plan_.layers) take_layer(layer);
    final_norm_ = plan_.final_norm.values("the final norm");
    final_norm_bias_ = plan_.final_norm_bias.values("the final norm");
    head_ = matrix_of(plan_.head_weight);
    head_.bias = plan_.head_bias.values("the output head");
    hidden_ = padded_vector(plan_.hidden), normed_ = hidden_, added_ = hidden_;
    queries_ = padded_vector(plan_.queries()), answers_ = padded_vector(plan_.answers());
    if (plan_.parallel) more_ = hidden_;
    if (plan_.layers_have_gates()) gates_ = answers_;
    take_state_room();
    latent_ = padded_vector(std::max(plan_.compressed(), plan_.query_latent));
    expanded_ = padded_vector(plan_.latent == 0 ? 0 : plan_.expanded());
    logits_ = padded_vector(plan_.vocabulary);
    rotations_[0] = rotation_of(plan_.rope, whole(capacity_));
    rotations_[1] = rotation_of(plan_.local_rope, whole(capacity_));
    constexpr std::uint64_t kStates = std::uint64_t{256} << 20;
    together_ = std::max<std::size_t>(512, whole(kStates / bytes_per_token(plan_)) / kPanel * kPanel);
  }

  std::uint64_t position() const { return position_; }
  std::uint64_t room() const { return capacity_ - position_; }
  // A state cannot go back: what stays is read again, with what follows.
  void rewind(std::uint64_t position) {
    if (position >= position_) return;
    position_ = position;
    if (has_states()) again_ = true, text_.resize(whole(position));
  }

  std::span<const float> feed(std::span<const std::int32_t> tokens) {
    const StopScope stop(options_.work);
    check_tokens(plan_, tokens, 0, {});
    if (tokens.size() > room())
      throw Error(ErrorKind::usage, "run.context",
                  fmt::format("{} tokens after {}; there are {} positions", tokens.size(), position_, capacity_));
    reserve(position_ + tokens.size());
    if (has_states())
      read_with_states(tokens);
    else
      read(tokens);
    finish();
    scorer_.inner().check_sources();
    return std::span<const float>(logits_).first(whole(plan_.vocabulary));
  }

 private:
  bool has_states() const { return plan_.state.kernel != 0; }

  void read(std::span<const std::int32_t> tokens) {
    while (!tokens.empty()) {
      check_stop();
      // A panel costs about as much as a few tokens one by one.
      const std::size_t count = position_ != 0 && tokens.size() < kFewTokens ? 1 : std::min(tokens.size(), together_);
      if (position_ != 0 && count == 1)
        run_token(tokens.front());
      else
        run_together(tokens.first(count));
      tokens = tokens.subspan(count);
    }
  }

  // The states are those of `text_`, unless it was forgotten in part, or an error interrupted what changes them.
  void read_with_states(std::span<const std::int32_t> tokens) {
    std::vector<std::int32_t> all = text_;
    all.insert(all.end(), tokens.begin(), tokens.end());
    try {
      if (again_) {
        position_ = 0;
        read(all);
      } else {
        read(tokens);
      }
    } catch (...) {
      position_ = text_.size(), again_ = true;
      throw;
    }
    text_ = std::move(all), again_ = false;
  }

  // ---- weights ----

  // Null: neither rows nor floats in place, and too large to be decoded.
  const Storage* storage_of(const Weight& weight) {
    const auto [at, is_new] = storages_.try_emplace(weight.key());
    if (!is_new) return at->second.get();
    auto made = std::make_unique<Storage>();
    const bool as_stored = weight.part.empty();
    if (as_stored && has_rows(weight.tensor)) {
      made->rows = open_rows(in_memory(weight.tensor));
    } else if (const auto floats = as_stored ? stored_floats(weight.tensor) : std::nullopt) {
      const Blob& blob = weight.tensor.component("data")->blob;
      const auto view = blob.view();
      made->type = *floats;
      made->floats = view ? view->data() : nullptr;
      if (made->floats == nullptr || reinterpret_cast<std::uintptr_t>(made->floats) % bytes_of(*floats) != 0) {
        made->held = blob.bytes(blob.size());
        made->floats = made->held.data();
      }
    } else {
      Weight all = weight;
      all.first_row = 0;
      all.rows = weight.numbers.shape.elements().value_or(0) / weight.columns;
      const std::uint64_t bytes = all.rows * all.columns * sizeof(float);
      if (bytes > options_.memory - decoded_) return nullptr;
      decoded_ += bytes;
      made->decoded.resize(whole(all.rows * all.columns));
      const std::uint64_t step = std::max<std::uint64_t>(1, (std::uint64_t{1} << 18) / all.columns);
      parallel_for(whole((all.rows + step - 1) / step), options_.work.threads, [&](std::size_t i) {
        const std::uint64_t first = i * step;
        all.read(first, std::min(step, all.rows - first), made->decoded.data() + first * all.columns, "the model");
      });
      made->floats = reinterpret_cast<const std::byte*>(made->decoded.data());
    }
    return (at->second = std::move(made)).get();
  }

  Matrix matrix_of(const Projection& by, const std::string& place) {
    if (!by.weight) return {};
    return {&by.weight, storage_of(by.weight), whole(by.weight.rows), whole(by.weight.columns), by.bias.values(place)};
  }
  // The plan keeps the weight.
  Matrix matrix_of(const Weight& weight) {
    if (!weight) return {};
    return {&weight, storage_of(weight), whole(weight.rows), whole(weight.columns)};
  }
  FeedForwardMatrices matrices_of(const FeedForward& by, const std::string& place) {
    return {matrix_of(by.gate, place), matrix_of(by.up, place), matrix_of(by.down, place)};
  }

  void take_layer(const LayerPlan& plan) {
    check_stop();
    Layer& it = layers_.emplace_back();
    it.plan = &plan;
    it.attention_norm = plan.attention_norm.values(plan.place), it.ffn_norm = plan.ffn_norm.values(plan.place);
    it.post_attention_norm = plan.post_attention_norm.values(plan.place);
    it.post_ffn_norm = plan.post_ffn_norm.values(plan.place);
    it.q_norm = plan.q_norm.values(plan.place), it.k_norm = plan.k_norm.values(plan.place);
    it.q_compress_norm = plan.q_compress_norm.values(plan.place);
    it.kv_compress_norm = plan.kv_compress_norm.values(plan.place);
    it.sinks = plan.sinks.values(plan.place), it.choice_bias = plan.choice_bias.values(plan.place);
    it.q = matrix_of(plan.q, plan.place), it.k = matrix_of(plan.k, plan.place);
    it.v = matrix_of(plan.v, plan.place), it.o = matrix_of(plan.o, plan.place);
    it.q_compress = matrix_of(plan.q_compress, plan.place), it.kv_compress = matrix_of(plan.kv_compress, plan.place);
    it.kv_expand = matrix_of(plan.kv_expand, plan.place);
    it.attention_gate = matrix_of(plan.attention_gate, plan.place);
    it.attention_norm_bias = plan.attention_norm_bias.values(plan.place);
    it.ffn_norm_bias = plan.ffn_norm_bias.values(plan.place);
    if (plan.state) take_state(plan, it.state);
    it.router = matrix_of(plan.router, plan.place), it.shared_router = matrix_of(plan.shared_router);
    if (!plan.router.weight) it.ffn = matrices_of(plan.ffn, plan.place);
    for (const FeedForward& expert : plan.experts) it.experts.push_back(matrices_of(expert, plan.place));
    if (plan.shared.gate.weight) it.shared = matrices_of(plan.shared, plan.place);
  }

  void take_state(const LayerPlan& plan, StateMatrices& it) {
    const StateWeights& from = plan.state;
    it.q = matrix_of(from.q, plan.place), it.k = matrix_of(from.k, plan.place), it.v = matrix_of(from.v, plan.place);
    it.gate = matrix_of(from.gate, plan.place), it.step = matrix_of(from.step, plan.place);
    it.share = matrix_of(from.share, plan.place), it.out = matrix_of(from.out, plan.place);
    it.parts = std::make_unique<const StateParts>(state_parts(from, plan.place, plan_.epsilon));
  }

  void take_state_room() {
    const StateSizes& sizes = plan_.state;
    const std::uint64_t keys = sizes.key == 0 ? sizes.values() : sizes.keys();
    for (const auto& [vector, size] : {std::pair(&state_q_, keys),
                                       {&state_k_, keys},
                                       {&state_v_, sizes.values()},
                                       {&state_gate_, sizes.values()},
                                       {&state_step_, sizes.value_heads},
                                       {&state_share_, sizes.value_heads},
                                       {&state_out_, sizes.values()}})
      *vector = padded_vector(size);
  }

  // The caches grow with the tokens, because a model may state more positions than fit into memory.
  void reserve(std::uint64_t positions) {
    if (positions <= held_) return;
    held_ = std::min(capacity_, std::max({positions, 2 * held_, std::uint64_t{128}}));
    for (Layer& layer : layers_) {
      if (layer.plan->state) continue;
      layer.keys.resize(whole(held_) * keys_);
      layer.values.resize(whole(held_) * values_);
    }
  }

  // ---- products ----

  // Quantizes x if that was asked for and any of the matrices can use it.
  std::optional<QuantizedVector> codes_of(std::span<const float> x,
                                          std::initializer_list<const Matrix*> matrices) const {
    if (!options_.quantized) return std::nullopt;
    const bool any = std::ranges::any_of(
        matrices, [](const Matrix* one) { return one->storage != nullptr && one->storage->rows != nullptr; });
    return any ? std::optional<QuantizedVector>(x) : std::nullopt;
  }

  void multiply_part(const Job& job, std::size_t first, std::size_t count) const {
    const Matrix& m = *job.matrix;
    const std::size_t row = whole(m.weight->first_row) + first;
    const std::span<const float> x(job.x, m.columns);
    const std::span<float> y(job.y + first, count);
    if (m.storage == nullptr) {
      std::vector<float> numbers(count * m.columns);
      m.weight->read(first, count, numbers.data(), "the model");
      multiply_rows(Stored::f32, reinterpret_cast<const std::byte*>(numbers.data()), count, m.columns, job.x, y.data());
    } else if (m.storage->rows == nullptr) {
      multiply_rows(m.storage->type, m.storage->floats + row * m.columns * bytes_of(m.storage->type), count, m.columns,
                    job.x, y.data());
    } else if (job.codes != nullptr) {
      m.storage->rows->dot(row, count, *job.codes, y);
    } else {
      m.storage->rows->dot(row, count, x, y);
    }
    if (!m.bias.empty())
      for (std::size_t i = 0; i < count; ++i) y[i] += m.bias[first + i];
  }

  void multiply_all(std::span<const Job> jobs) {
    std::size_t rows = 0;
    for (const Job& job : jobs) rows += job.matrix->rows;
    const std::size_t piece = std::clamp<std::size_t>(rows / pool_.threads() / 4, 16, 1024);
    const auto pieces = [&](const Job& job) { return (job.matrix->rows + piece - 1) / piece; };
    std::size_t count = 0;
    for (const Job& job : jobs) count += pieces(job);
    std::mutex mutex;
    std::exception_ptr failure;
    pool_.run(count, [&](std::size_t i, unsigned) {
      const Job* job = jobs.data();
      for (; i >= pieces(*job); ++job) i -= pieces(*job);
      try {
        multiply_part(*job, i * piece, std::min(piece, job->matrix->rows - i * piece));
      } catch (...) {
        const std::scoped_lock lock(mutex);
        failure = std::current_exception();
      }
    });
    if (failure) std::rethrow_exception(failure);
  }

  void normalize(const std::vector<float>& weight, const std::vector<float>& bias, const float* x, float* out) const {
    normalize_vector(plan_.norm == Norm::rms, x, data_or_null(weight), whole(plan_.hidden), plan_.epsilon, out);
    for (std::size_t i = 0; i < bias.size(); ++i) out[i] += bias[i];
  }

  // ---- one token ----

  void run_token(std::int32_t token) {
    plan_.embeddings.read(static_cast<std::uint64_t>(token), 1, hidden_.data(), "the embeddings");
    scale(hidden_.data(), plan_.embedding_scale, hidden_.size() / kPanel);
    if (plan_.positions) {
      std::vector<float> place(whole(plan_.hidden));
      plan_.positions.read(position_, 1, place.data(), "the table of positions");
      for (std::size_t i = 0; i < place.size(); ++i) hidden_[i] += place[i];
    }
    for (std::size_t i = 0; i < 2; ++i) turn(rotations_[i], angles_[i]);
    for (Layer& layer : layers_) run_layer(layer);
    ++position_;
  }

  struct Angles {
    std::vector<float> cosines, sines;
  };
  void turn(const Rotation& rotation, Angles& angles) const {
    angles.cosines.resize(rotation.frequencies.size()), angles.sines.resize(rotation.frequencies.size());
    for (std::size_t pair = 0; pair < rotation.frequencies.size(); ++pair) {
      // As the executor computes them.
      const double angle = static_cast<float>(position_) * rotation.frequencies[pair];
      angles.cosines[pair] = static_cast<float>(std::cos(angle)) * rotation.scale;
      angles.sines[pair] = static_cast<float>(std::sin(angle)) * rotation.scale;
    }
  }

  void run_layer(Layer& layer) {
    const LayerPlan& plan = *layer.plan;
    const auto enter = [&](const std::vector<float>& norm, const std::vector<float>& bias) -> const float* {
      if (!plan_.norms_first) return hidden_.data();
      normalize(norm, bias, hidden_.data(), normed_.data());
      return normed_.data();
    };
    const float* const before = enter(layer.attention_norm, layer.attention_norm_bias);
    if (plan.state)
      run_state(layer.state, before);
    else
      attend(layer, before);
    if (plan_.parallel) {
      // A network without a norm of its own gets what attention got.
      const float* const x = plan.ffn_norm ? enter(layer.ffn_norm, layer.ffn_norm_bias) : before;
      std::swap(added_, more_);
      run_networks(layer, x);
      std::swap(added_, more_);
      add_to_hidden(layer.post_attention_norm, plan.place);
      std::swap(added_, more_);
    } else {
      add_to_hidden(layer.post_attention_norm, plan.place);
      run_networks(layer, enter(layer.ffn_norm, layer.ffn_norm_bias));
    }
    add_to_hidden(layer.post_ffn_norm, plan.place);
  }

  // Experts, or the feed-forward network.
  void run_networks(const Layer& layer, const float* x) {
    if (layer.plan->router.weight)
      run_experts(layer, x);
    else
      feed_forward(layer.ffn, false, x, added_.data());
  }

  void run_state(StateMatrices& state, const float* x) {
    std::vector<Job> jobs;
    const auto codes = codes_of({x, whole(plan_.hidden)}, {&state.q, &state.k, &state.v, &state.gate});
    const QuantizedVector* const by = codes ? &*codes : nullptr;
    for (const auto& [matrix, out] : {std::pair(&state.q, &state_q_),
                                      {&state.k, &state_k_},
                                      {&state.v, &state_v_},
                                      {&state.gate, &state_gate_},
                                      {&state.step, &state_step_},
                                      {&state.share, &state_share_}})
      if (matrix->weight != nullptr) jobs.push_back({matrix, x, out->data(), by});
    multiply_all(jobs);
    const StateSizes& sizes = plan_.state;
    const std::size_t shared = whole(sizes.shared()), values = shared * whole(sizes.value),
                      keys = whole(sizes.key == 0 ? sizes.value : sizes.key);
    pool_.run(state.heads.size(), [&](std::size_t i, unsigned) {
      state.heads[i].step({.q = state_q_.data() + i * keys,
                           .k = state_k_.data() + i * keys,
                           .v = state_v_.data() + i * values,
                           .gate = state_gate_.data() + i * values,
                           .step = state_step_.data() + i * shared,
                           .share = state_share_.data() + i * shared},
                          state_out_.data() + i * values);
    });
    multiply_one(state.out, state_out_.data(), added_.data());
  }

  void add_to_hidden(const std::vector<float>& norm, const std::string& place) {
    if (plan_.norms_after) normalize(norm, {}, added_.data(), added_.data());
    add_scaled(added_.data(), plan_.residual_scale, hidden_.size() / kPanel, hidden_.data());
    if (!all_finite(hidden_.data(), whole(plan_.hidden)))
      throw Error(ErrorKind::corrupt, "run.overflow", fmt::format("the hidden states after {} are not finite", place))
          .blame(Subject::input);
  }

  // Clamps, normalizes and rotates queries or keys.
  void prepare_heads(const std::vector<float>& norm, const LayerPlan& layer, std::size_t heads, float* x) const {
    const auto head = whole(plan_.head);
    const auto clamp_all = [&](bool now) {
      if (plan_.most != 0 && now)
        for (std::size_t i = 0; i < heads * head; ++i) x[i] = std::clamp(x[i], -plan_.most, plan_.most);
    };
    clamp_all(!plan_.clamps_after_norm);
    if (!norm.empty() && plan_.wide_qk_norms) normalize_vector(true, x, norm.data(), heads * head, plan_.epsilon, x);
    clamp_all(plan_.clamps_after_norm);
    const Angles& angles = angles_[layer.local_rope ? 1 : 0];
    const std::size_t pairs = angles.cosines.size();
    for (std::size_t h = 0; h < heads; ++h) {
      float* const one = x + h * head;
      const auto normalize_one = [&](bool now) {
        if (!norm.empty() && !plan_.wide_qk_norms && now)
          normalize_vector(true, one, norm.data(), head, plan_.epsilon, one);
      };
      normalize_one(!plan_.norms_after_rotation);
      const std::size_t first = whole(plan_.unrotated);
      for (std::size_t pair = 0; layer.rotates && pair < pairs; ++pair) {
        float& a = one[first + (plan_.rotates_neighbours ? 2 * pair : pair)];
        float& b = one[first + (plan_.rotates_neighbours ? 2 * pair + 1 : pair + pairs)];
        const float low = a, high = b;
        a = low * angles.cosines[pair] - high * angles.sines[pair];
        b = high * angles.cosines[pair] + low * angles.sines[pair];
      }
      normalize_one(plan_.norms_after_rotation);
    }
  }

  // by * x, with x in 8 bits if that was asked for.
  void multiply_one(const Matrix& by, const float* x, float* y) {
    const auto codes = codes_of({x, by.columns}, {&by});
    const Job job[] = {{&by, x, y, codes ? &*codes : nullptr}};
    multiply_all(job);
  }

  void make_heads(Layer& layer, const float* x, float* k, float* v) {
    const auto codes = codes_of({x, whole(plan_.hidden)}, {&layer.q, &layer.k, &layer.v});
    const QuantizedVector* const by = codes ? &*codes : nullptr;
    const Job jobs[] = {{&layer.q, x, queries_.data(), by}, {&layer.k, x, k, by}, {&layer.v, x, v, by}};
    multiply_all(jobs);
  }

  void normalize_latent(const std::vector<float>& norm) {
    normalize_vector(true, latent_.data(), norm.data(), norm.size(), plan_.latent_epsilon, latent_.data());
  }

  // The end of the compressed vector is the rotated part of the keys, which all heads share.
  void make_latent_heads(Layer& layer, const float* x, float* k, float* v) {
    if (plan_.query_latent == 0) {
      multiply_one(layer.q, x, queries_.data());
    } else {
      multiply_one(layer.q_compress, x, latent_.data());
      normalize_latent(layer.q_compress_norm);
      multiply_one(layer.q, latent_.data(), queries_.data());
    }
    multiply_one(layer.kv_compress, x, latent_.data());
    normalize_latent(layer.kv_compress_norm);
    multiply_one(layer.kv_expand, latent_.data(), expanded_.data());
    const std::size_t unrotated = whole(plan_.unrotated), value = whole(plan_.value_head);
    const float *from = expanded_.data(), *const turned = latent_.data() + plan_.latent;
    for (std::uint64_t h = 0; h < plan_.heads; ++h) {
      k = std::copy_n(from, unrotated, k);
      k = std::copy_n(turned, whole(plan_.head) - unrotated, k);
      v = std::copy_n(from + unrotated, value, v);
      from += unrotated + value;
    }
  }

  void attend(Layer& layer, const float* x) {
    const LayerPlan& plan = *layer.plan;
    const auto heads = whole(plan_.heads), kv_heads = whole(plan_.kv_heads);
    float* const k = layer.keys.data() + whole(position_) * keys_;
    float* const v = layer.values.data() + whole(position_) * values_;
    if (plan_.latent != 0)
      make_latent_heads(layer, x, k, v);
    else
      make_heads(layer, x, k, v);
    if (plan_.most != 0)
      for (std::size_t i = 0; i < values_; ++i) v[i] = std::clamp(v[i], -plan_.most, plan_.most);
    prepare_heads(layer.q_norm, plan, heads, queries_.data());
    prepare_heads(layer.k_norm, plan, kv_heads, k);
    if (plan_.position_scale != 0) {
      const double turns = std::floor(static_cast<double>(position_) / std::max(1.0, plan_.rope.original));
      const float factor = 1 + plan_.position_scale * static_cast<float>(std::log(1 + turns));
      for (float& value : queries_) value *= factor;
    }
    attend_heads(layer);
    if (layer.attention_gate.weight != nullptr) {
      multiply_one(layer.attention_gate, x, gates_.data());
      for (std::size_t i = 0; i < whole(plan_.answers()); ++i) answers_[i] /= 1 + std::exp(-gates_[i]);
    }
    multiply_one(layer.o, answers_.data(), added_.data());
  }

  void attend_heads(const Layer& layer) {
    const auto heads = whole(plan_.heads), kv_heads = whole(plan_.kv_heads), head = whole(plan_.head),
               value_head = whole(plan_.value_head);
    const std::size_t seen = whole(position_) + 1, window = whole(layer.plan->window);
    const std::size_t count = window == 0 ? seen : std::min(seen, window), first = seen - count;
    if (scratch_.size() < count * pool_.threads()) scratch_.resize(count * pool_.threads());
    pool_.run(heads, [&](std::size_t h, unsigned thread) {
      const std::size_t shared = h / (heads / kv_heads);
      attend_vector({.q = queries_.data() + h * head,
                     .k = layer.keys.data() + first * keys_ + shared * head,
                     .v = layer.values.data() + first * values_ + shared * value_head,
                     .head = head,
                     .stride = keys_,
                     .value_head = value_head,
                     .value_stride = values_,
                     .positions = count,
                     .scale = plan_.attention_scale,
                     .soft_cap = plan_.attention_cap,
                     .sink = layer.sinks.empty() ? Mask().sink : layer.sinks[h],
                     .out = answers_.data() + h * value_head},
                    scratch_.data() + count * thread);
    });
  }

  // `clamps`: with the gate of experts that clamp it.
  void feed_forward(const FeedForwardMatrices& by, bool clamps, const float* x, float* out) {
    gate_.resize(padded_vector(by.up.rows).size()), up_.resize(gate_.size());
    if (by.gate.weight != nullptr) {
      const auto codes = codes_of({x, by.gate.columns}, {&by.gate, &by.up});
      const QuantizedVector* const with = codes ? &*codes : nullptr;
      const Job jobs[] = {{&by.gate, x, gate_.data(), with}, {&by.up, x, up_.data(), with}};
      multiply_all(jobs);
    } else {
      multiply_one(by.up, x, gate_.data());
      if (plan_.squares)
        std::ranges::copy(gate_, up_.begin());
      else
        std::ranges::fill(up_, 1.0f);
    }
    if (clamps)
      apply_clamped_gate(plan_.gate_sharpness, plan_.gate_limit, gate_.data(), up_.data(), gate_.size() / kPanel);
    else
      apply_gate(plan_.activation, gate_.data(), up_.data(), gate_.size() / kPanel);
    multiply_one(by.down, gate_.data(), out);
  }

  void run_experts(const Layer& layer, const float* x) {
    const bool clamps = plan_.gate_sharpness != 0;
    Router router(plan_.routing, layer.choice_bias);
    const Job job[] = {{&layer.router, x, router.logits().data()}};
    multiply_all(job);
    router.score();
    std::vector<std::uint32_t> chosen(plan_.routing.used);
    router.choose(chosen);
    const std::span<const float> weights = router.weights(chosen);
    Floats one = padded_vector(plan_.hidden);
    std::ranges::fill(added_, 0.0f);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      feed_forward(layer.experts[chosen[i]], clamps, x, one.data());
      add_scaled(one.data(), weights[i], one.size() / kPanel, added_.data());
    }
    if (layer.shared.gate.weight == nullptr) return;
    float share = 1;
    if (layer.plan->shared_router) {
      const Job shared[] = {{&layer.shared_router, x, &share}};
      multiply_all(shared);
      share = 1 / (1 + std::exp(-share));
    }
    feed_forward(layer.shared, clamps, x, one.data());
    add_scaled(one.data(), share, one.size() / kPanel, added_.data());
  }

  // ---- many tokens, and the end of a text ----

  void run_together(std::span<const std::int32_t> tokens) {
    Batch batch;
    batch.add(tokens);
    batch.texts.front().stated = whole(capacity_);
    batch.texts.front().before = whole(position_);
    Floats states;
    executor_.embed(batch, states);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      check_stop();
      Floats keys, values;
      const Past past = position_ == 0 ? Past() : Past{layers_[i].keys.data(), layers_[i].values.data()};
      StateMatrices& state = layers_[i].state;
      if (position_ == 0) state.heads.clear();
      executor_.run_layer(
          i, batch, states,
          {.keys = &keys, .values = &values, .past = past, .states = &state.heads, .parts = state.parts.get()});
      if (layers_[i].plan->state) continue;
      const auto keep = [&](const Floats& all, std::size_t features, Floats& kept) {
        for (std::size_t t = 0; t < tokens.size(); ++t)
          for (std::size_t f = 0; f < features; ++f)
            kept[(whole(position_) + t) * features + f] = all[(t / kPanel * features + f) * kPanel + t % kPanel];
      };
      keep(keys, keys_, layers_[i].keys);
      keep(values, values_, layers_[i].values);
    }
    const std::size_t last = tokens.size() - 1, hidden = whole(plan_.hidden);
    for (std::size_t f = 0; f < hidden; ++f) hidden_[f] = states[(last / kPanel * hidden + f) * kPanel + last % kPanel];
    position_ += tokens.size();
  }

  void finish() {
    normalize(final_norm_, final_norm_bias_, hidden_.data(), normed_.data());
    const auto codes = codes_of({normed_.data(), whole(plan_.hidden)}, {&head_});
    const Job job[] = {{&head_, normed_.data(), logits_.data(), codes ? &*codes : nullptr}};
    multiply_all(job);
    if (plan_.output_divisor != 1) scale(logits_.data(), 1 / plan_.output_divisor, logits_.size() / kPanel);
    if (plan_.output_cap != 0) soft_cap(logits_.data(), plan_.output_cap, logits_.size() / kPanel);
  }

  const Scorer& scorer_;
  const Plan& plan_;
  const SessionOptions options_;
  Executor executor_;
  SpinPool pool_;
  std::size_t keys_, values_;
  std::size_t together_ = 0;  // how many tokens run as one batch, at most
  std::uint64_t capacity_ = 0, held_ = 0, position_ = 0, decoded_ = 0;
  std::map<std::string, std::unique_ptr<Storage>> storages_;
  std::vector<Layer> layers_;
  std::vector<float> final_norm_, final_norm_bias_;
  std::vector<std::int32_t> text_;  // used if the model has states
  bool again_ = false;              // the states are those of a text that has been forgotten in part
  Matrix head_;
  Rotation rotations_[2];
  Angles angles_[2];
  Floats hidden_, normed_, added_, queries_, answers_, latent_, expanded_, gate_, up_, scratch_, logits_, more_, gates_;
  Floats state_q_, state_k_, state_v_, state_gate_, state_step_, state_share_, state_out_;
};

Session::Session(const Scorer& scorer, const SessionOptions& options) : run_(std::make_unique<Run>(scorer, options)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

std::span<const float> Session::feed(std::span<const std::int32_t> tokens) { return run_->feed(tokens); }
std::uint64_t Session::position() const { return run_->position(); }
std::uint64_t Session::room() const { return run_->room(); }
void Session::rewind(std::uint64_t position) { run_->rewind(position); }

}  // namespace tare::run
