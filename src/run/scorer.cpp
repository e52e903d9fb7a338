// Scorer and perplexity: all layers, then the logits of a few panels at a time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/parallel.hpp"
#include "base/stopping.hpp"
#include "run/estimates.hpp"
#include "run/room.hpp"
#include "run/texts.hpp"
#include "tare/progress.hpp"

namespace tare::run {

Scorer::Scorer(Model model) {
  auto inner = std::make_unique<Inner>();
  inner->sources = model.sources;
  std::vector<Tensor> tensors = std::exchange(model.tensors, {});
  inner->words = model;
  model.tensors = std::move(tensors);
  inner->plan = plan_of(std::move(model));
  inner_ = std::move(inner);
}
Scorer::~Scorer() = default;
Scorer::Scorer(Scorer&&) noexcept = default;
Scorer& Scorer::operator=(Scorer&&) noexcept = default;

std::uint64_t Scorer::vocab_size() const { return inner_->plan.vocabulary; }
std::uint64_t Scorer::hidden_size() const { return inner_->plan.hidden; }
std::uint64_t Scorer::layers() const { return inner_->plan.layers.size(); }
std::uint64_t Scorer::context() const { return inner_->plan.context; }
const std::vector<Change>& Scorer::doubts() const { return inner_->plan.doubts; }

const Tokenizer& Scorer::tokenizer() const {
  const std::scoped_lock lock(inner_->mutex);
  if (!inner_->tokenizer) inner_->tokenizer.emplace(inner_->words);
  return *inner_->tokenizer;
}

namespace {

// Receives the logits of `count` panels of a text: [count][vocabulary][kPanel], from panel `first` of the text on.
using Visit = std::function<void(const Text& text, std::size_t piece, std::size_t first, std::size_t count,
                                 const Floats& logits)>;

void run_pieces(const Executor& executor, const Pieces& pieces, const Room& room, const Options& options,
                const Visit& visit) {
  const Plan& plan = executor.plan();
  HiddenStates states(pieces, plan.hidden, room.states);
  const std::size_t batches = pieces.batches.size();
  if (options.work.progress != nullptr) options.work.progress->expect((plan.layers.size() + 1) * batches);
  const auto advance = [&] {
    if (options.work.progress != nullptr) options.work.progress->advance(1);
  };
  for (std::size_t batch = 0; batch < batches; ++batch) {
    Floats hidden;
    executor.embed(pieces.batches[batch], hidden);
    states.put(batch, std::move(hidden));
  }
  states.turn();
  for (std::size_t layer = 0; layer < plan.layers.size(); ++layer) {
    for (std::size_t batch = 0; batch < batches; ++batch) {
      check_stop();
      Floats hidden = states.take(batch);
      executor.run_layer(layer, pieces.batches[batch], hidden);
      states.put(batch, std::move(hidden));
      advance();
    }
    states.turn();
  }
  const std::size_t most = panels_at_once(room, plan.vocabulary, 1);
  std::size_t piece = 0;
  Floats logits;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const Floats hidden = states.take(batch);
    for (const Text& text : pieces.batches[batch].texts) {
      for (std::size_t first = 0; first < text.panels; first += most) {
        check_stop();
        const std::size_t count = std::min(most, text.panels - first);
        executor.logits(hidden, text.first_panel + first, count, logits);
        visit(text, piece, first, count, logits);
      }
      ++piece;
    }
    advance();
  }
}

}  // namespace

std::vector<float> Scorer::logits(std::span<const std::int32_t> tokens, const Options& options) const {
  const StopScope stop(options.work);
  const Plan& plan = inner_->plan;
  check_tokens(plan, tokens, options.context, options);
  const auto vocabulary = static_cast<std::size_t>(plan.vocabulary);
  const Executor executor(plan, options.work.threads);
  Pieces pieces;
  const Room room = room_of(options, plan);
  cut(tokens, options.context, false, options, room.batch, bytes_per_token(plan), pieces);
  std::vector<float> all(tokens.size() * vocabulary);
  run_pieces(executor, pieces, room, options,
             [&](const Text& text, std::size_t piece, std::size_t first, std::size_t count, const Floats& logits) {
               parallel_for(count, options.work.threads, [&](std::size_t panel) {
                 const float* const from = logits.data() + panel * vocabulary * kPanel;
                 const std::size_t begin = (first + panel) * kPanel,
                                   tokens_here = std::min(kPanel, text.tokens.size() - begin);
                 float* const to = all.data() + (pieces.first[piece] + begin) * vocabulary;
                 for (std::size_t v = 0; v < vocabulary; ++v)
                   for (std::size_t t = 0; t < tokens_here; ++t) to[t * vocabulary + v] = from[v * kPanel + t];
               });
             });
  inner_->check_sources();
  return all;
}

Perplexity perplexity(const Scorer& scorer, std::span<const std::int32_t> tokens, const Options& options) {
  const StopScope stop(options.work);
  const Plan& plan = scorer.inner().plan;
  const std::uint64_t context = context_of(plan, options);
  check_tokens(plan, tokens, context, options);
  if (context < 4)
    throw Error(ErrorKind::usage, "run.context",
                fmt::format("expected pieces of at least 4 tokens, found {}", context));
  if (tokens.size() < context)
    throw Error(ErrorKind::usage, "run.tokens",
                fmt::format("expected at least one piece of {} tokens, found {} tokens", context, tokens.size()));
  const Executor executor(plan, options.work.threads);
  Pieces pieces;
  const Room room = room_of(options, plan);
  cut(tokens, context, true, options, room.batch, bytes_per_token(plan), pieces);
  const auto vocabulary = static_cast<std::size_t>(plan.vocabulary);
  std::vector<double> losses;
  run_pieces(executor, pieces, room, options,
             [&](const Text& text, std::size_t, std::size_t first, std::size_t count, const Floats& logits) {
               std::vector<double> sums(count * kPanel);
               parallel_for(count, options.work.threads, [&](std::size_t panel) {
                 float largest[kPanel];
                 log_sums(logits.data() + panel * vocabulary * kPanel, vocabulary, largest,
                          sums.data() + panel * kPanel);
               });
               for (std::size_t i = 0; i < count * kPanel; ++i) {
                 const std::size_t token = first * kPanel + i;
                 if (token < text.tokens.size() / 2 || token + 1 >= text.tokens.size()) continue;
                 const auto next = static_cast<std::size_t>(text.tokens[token + 1]);
                 losses.push_back(sums[i] -
                                  static_cast<double>(logits[(i / kPanel * vocabulary + next) * kPanel + i % kPanel]));
               }
             });
  scorer.inner().check_sources();
  Perplexity found = perplexity_of(losses, pieces.first.size());
  found.context = context;
  return found;
}

}  // namespace tare::run
