#include "tiny_llama/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/aligned.hpp"
#include "base/parallel.hpp"
#include "base/spin_pool.hpp"
#include "tiny_llama/kernels.hpp"
#include "tiny_llama/weights.hpp"

namespace tiny_llama {
namespace {

using tare::Error;
using tare::ErrorKind;

// Tokens that pass through the layers together. More would not be faster, and would take more memory.
constexpr std::size_t kBatch = 128;

std::size_t size(std::int32_t number) { return static_cast<std::size_t>(number); }

}  // namespace

class Session::Run {
 public:
  Run(const TinyLlamaModel& model, const SessionOptions& options)
      : model_(model),
        weights_(*model.weights_),
        config_(model.config()),
        pool_(tare::thread_count(options.threads)),
        capacity_(size(options.max_positions <= 0 ? config_.max_seq_length
                                                  : std::min(options.max_positions, config_.max_seq_length))),
        dim_(size(config_.model_dim)) {
    for (std::int32_t i = 0; i < config_.num_layers; ++i) layers_.push_back({model.layer(i), nullptr, nullptr});
  }

  std::size_t position() const { return position_; }
  std::size_t room() const { return capacity_ - position_; }
  void rewind(std::size_t position) { position_ = std::min(position, position_); }

  // Runs the tokens; `take` gets the final states of each batch: the index of its first token, the number of rows, the
  // rows.
  template <typename Take>
  void feed(std::span<const std::int32_t> tokens, const Take& take) {
    check(tokens);
    for (std::size_t first = 0; first < tokens.size(); first += kBatch) {
      const auto batch = tokens.subspan(first, std::min(kBatch, tokens.size() - first));
      begin(batch);
      for (const Layer& layer : layers_) pass(layer, batch.size());
      take(first, batch.size(), std::as_const(x_).data());
      position_ += batch.size();
    }
    try {
      weights_.check_sources();
    } catch (const Error& error) {
      throw FileIOException(error);
    }
  }

  std::span<const float> last(std::span<const std::int32_t> tokens) {
    logits_.resize(size(config_.vocab_size));
    feed(tokens, [&](std::size_t first, std::size_t rows, const float* states) {
      if (first + rows == tokens.size()) project(states + (rows - 1) * dim_, 1, logits_.data());
    });
    return logits_;
  }

  std::vector<float> all(std::span<const std::int32_t> tokens) {
    check(tokens);
    std::vector<float> logits(tokens.size() * size(config_.vocab_size));
    feed(tokens, [&](std::size_t first, std::size_t rows, const float* states) {
      project(states, rows, logits.data() + first * size(config_.vocab_size));
    });
    return logits;
  }

 private:
  struct Layer {
    LayerWeights weights;
    std::unique_ptr<float[]> keys, values;  // [position][dim], allocated for held_ positions
  };

  // Allocates the caches for this many positions. They grow with the tokens, because a file's header may state more
  // positions than fit into memory.
  void reserve(std::size_t positions) {
    if (positions <= held_) return;
    const std::size_t more = std::min(capacity_, std::max({positions, 2 * held_, kBatch}));
    for (Layer& layer : layers_)
      for (auto* const cache : {&layer.keys, &layer.values}) {
        std::unique_ptr<float[]> grown(new float[more * dim_]);
        std::copy_n(cache->get(), position_ * dim_, grown.get());
        *cache = std::move(grown);
      }
    held_ = more;
    scratch_.resize((kMultiplyScratch + (held_ + 15) / 16 * 16) * pool_.threads());
  }

  void check(std::span<const std::int32_t> tokens) const {
    if (tokens.empty()) throw Error(ErrorKind::usage, "tllm.run.empty", "there are no tokens to run");
    if (tokens.size() > room())
      throw Error(ErrorKind::usage, "tllm.run.length",
                  position_ == 0 ? fmt::format("{} tokens; the model has {} positions", tokens.size(), capacity_)
                                 : fmt::format("{} tokens after {}; the model has {} positions", tokens.size(),
                                               position_, capacity_));
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i] < 0 || tokens[i] >= config_.vocab_size)
        throw Error(ErrorKind::usage, "tllm.run.token",
                    fmt::format("token {} is {}; the vocabulary has 0 to {}", i, tokens[i], config_.vocab_size - 1));
  }

  // x = embedding + position.
  void begin(std::span<const std::int32_t> tokens) {
    const std::size_t rows = tokens.size();
    reserve(position_ + rows);
    for (auto* const buffer : {&x_, &normed_, &queries_, &mixed_})
      if (buffer->size() < rows * dim_) buffer->resize(rows * dim_);
    if (hidden_.size() < rows * size(config_.ffn_hidden_dim)) hidden_.resize(rows * size(config_.ffn_hidden_dim));
    for (std::size_t r = 0; r < rows; ++r)
      add(model_.embedding().data() + size(tokens[r]) * dim_,
          model_.position_embedding().data() + (position_ + r) * dim_, dim_, &x_[r * dim_]);
  }

  void pass(const Layer& of, std::size_t rows) {
    const LayerWeights& layer = of.weights;
    float* const keys = of.keys.get();
    float* const values = of.values.get();
    norm(layer.norm1_weight, layer.norm1_bias, rows);
    const Product projections[] = {{normed_.data(), rows, dim_, layer.query.data(), dim_, queries_.data()},
                                   {normed_.data(), rows, dim_, layer.key.data(), dim_, keys + position_ * dim_},
                                   {normed_.data(), rows, dim_, layer.value.data(), dim_, values + position_ * dim_}};
    multiply_all(projections);
    attend_all(keys, values, rows);
    const Product output[] = {{mixed_.data(), rows, dim_, layer.output.data(), dim_, x_.data(), nullptr, true}};
    multiply_all(output);

    norm(layer.norm2_weight, layer.norm2_bias, rows);
    const std::size_t ffn = size(config_.ffn_hidden_dim);
    const Product first[] = {{normed_.data(), rows, dim_, layer.linear1_weight.data(), ffn, hidden_.data(),
                              layer.linear1_bias.data(), false, true}};
    multiply_all(first);
    const Product second[] = {
        {hidden_.data(), rows, ffn, layer.linear2_weight.data(), dim_, x_.data(), layer.linear2_bias.data(), true}};
    multiply_all(second);
  }

  void project(const float* states, std::size_t rows, float* logits) {
    const Product product[] = {{states, rows, dim_, model_.output().data(), size(config_.vocab_size), logits}};
    multiply_all(product);
  }

  void norm(std::span<const float> weight, std::span<const float> bias, std::size_t rows) {
    const auto one = [&](std::size_t r, unsigned) {
      layer_norm(&x_[r * dim_], weight.data(), bias.data(), dim_, &normed_[r * dim_]);
    };
    // A norm takes less time than handing it to another thread.
    if (rows >= 16) return pool_.run(rows, one);
    for (std::size_t r = 0; r < rows; ++r) one(r, 0);
  }

  void attend_all(const float* keys, const float* values, std::size_t rows) {
    const std::size_t heads = size(config_.num_heads), head = dim_ / heads;
    pool_.run(rows * heads, [&](std::size_t i, unsigned thread) {
      const std::size_t row = i / heads, at = i % heads * head;
      attend({&queries_[row * dim_ + at], keys + at, values + at, head, dim_, position_ + row + 1,
              &mixed_[row * dim_ + at]},
             scratch(thread) + kMultiplyScratch);
    });
  }

  // Divides the columns of all products into pieces of whole cache lines.
  void multiply_all(std::span<const Product> products) {
    constexpr std::size_t kLeast = 64, kMost = 4096, kPiecesPerThread = 4;
    std::size_t columns = 0;
    for (const Product& product : products) columns += product.columns;
    const std::size_t wanted =
        pool_.threads() == 1 ? kMost : columns / (pool_.threads() * kPiecesPerThread) / kLeast * kLeast;
    const std::size_t piece = std::clamp(wanted, kLeast, kMost);
    const auto pieces = [&](const Product& product) { return (product.columns + piece - 1) / piece; };
    std::size_t count = 0;
    for (const Product& product : products) count += pieces(product);
    pool_.run(count, [&](std::size_t i, unsigned thread) {
      const Product* product = products.data();
      for (; i >= pieces(*product); ++product) i -= pieces(*product);
      multiply(*product, i * piece, std::min(product->columns, (i + 1) * piece), scratch(thread));
    });
  }

  float* scratch(unsigned thread) { return scratch_.data() + scratch_.size() / pool_.threads() * thread; }

  const TinyLlamaModel& model_;
  const Weights& weights_;
  const ModelConfig config_;
  tare::SpinPool pool_;
  std::size_t capacity_, dim_, held_ = 0, position_ = 0;
  std::vector<Layer> layers_;
  tare::AlignedVector<float> x_, normed_, queries_, mixed_, hidden_, scratch_;
  std::vector<float> logits_;
};

Session::Session(const TinyLlamaModel& model, const SessionOptions& options)
    : run_(std::make_unique<Run>(model, options)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

std::span<const float> Session::feed(std::span<const std::int32_t> tokens) { return run_->last(tokens); }
std::vector<float> Session::feed_all(std::span<const std::int32_t> tokens) { return run_->all(tokens); }
std::int32_t Session::position() const { return static_cast<std::int32_t>(run_->position()); }
std::int32_t Session::room() const { return static_cast<std::int32_t>(run_->room()); }
void Session::rewind(std::int32_t position) { run_->rewind(static_cast<std::size_t>(std::max(position, 0))); }

}  // namespace tiny_llama
