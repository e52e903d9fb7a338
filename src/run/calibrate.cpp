// Sums the squares of what each matrix is multiplied with, in one pass: layers outside, tokens inside.
#include "tare/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "base/stopping.hpp"
#include "base/text.hpp"
#include "run/executor.hpp"
#include "run/matrix_names.hpp"
#include "run/room.hpp"
#include "run/texts.hpp"
#include "run/words.hpp"
#include "tare/progress.hpp"

namespace tare::run {
namespace {

using arch::Role;

// See Calibration::enough.
constexpr std::uint64_t kEnoughTokens = 4096;

class SquareSums final : public InputWatch {
 public:
  SquareSums(const Plan& plan, unsigned threads) : threads_(threads) {
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
      const LayerPlan& layer = plan.layers[i];
      for (const Projection* const one :
           {&layer.q_compress, &layer.q, &layer.k, &layer.v, &layer.kv_compress, &layer.kv_expand, &layer.o,
            &layer.router, &layer.attention_gate, &layer.state.q, &layer.state.k, &layer.state.v, &layer.state.gate,
            &layer.state.step, &layer.state.share, &layer.state.out})
        add(plan, one->weight);
      for (const FeedForward* const ffn : {&layer.ffn, &layer.shared})
        for (const Projection* const one : {&ffn->gate, &ffn->up, &ffn->down}) add(plan, one->weight);
      add(plan, layer.shared_router);
      const auto add_stack = [&](Role role, Projection FeedForward::*part) {
        for (std::size_t e = 0; e < layer.experts.size(); ++e) {
          const Weight& weight = (layer.experts[e].*part).weight;
          add_as(stack_name(plan, role, i, weight), weight, e, layer.experts.size());
        }
      };
      add_stack(Role::stacked_gate, &FeedForward::gate);
      add_stack(Role::stacked_up, &FeedForward::up);
      add_stack(Role::stacked_down, &FeedForward::down);
    }
    add(plan, plan.head_weight);
  }

  void see(const Weight& weight, const Floats& x, std::span<const std::uint8_t> used) override {
    const auto found = places_.find(&weight);
    if (found == places_.end()) return;
    Entry& entry = *found->second.entry;
    const auto columns = static_cast<std::size_t>(weight.columns);
    if (entry.sums.empty()) entry.sums.resize(columns * entry.counts.size());
    for (const std::uint8_t tokens : used) entry.counts[found->second.expert] += tokens;
    double* const sums = entry.sums.data() + found->second.expert * columns;
    constexpr std::size_t kPart = 64;
    parallel_for((columns + kPart - 1) / kPart, threads_, [&](std::size_t part) {
      const std::size_t first = part * kPart, last = std::min(columns, first + kPart);
      // Panels in their order, so that the sums do not depend on the threads.
      for (std::size_t panel = 0; panel < used.size(); ++panel)
        for (std::size_t c = first; c < last; ++c) {
          const float* const values = x.data() + (panel * columns + c) * kPanel;
          double sum = 0;
          for (std::size_t t = 0; t < used[panel]; ++t)
            sum += static_cast<double>(values[t]) * static_cast<double>(values[t]);
          sums[c] += sum;
        }
    });
  }

  // Rounds what has been summed. The layer before is complete, so that only one has sums in double.
  void finish_layer() {
    for (Entry& entry : entries_)
      if (!entry.sums.empty()) {
        entry.squares.assign(entry.sums.begin(), entry.sums.end());
        entry.sums = {};
      }
  }

  std::vector<MatrixInputs> take() {
    finish_layer();
    std::vector<MatrixInputs> all;
    for (Entry& entry : entries_)
      if (!entry.squares.empty())
        all.push_back({std::move(entry.name), entry.columns, std::move(entry.squares), std::move(entry.counts)});
    std::ranges::sort(all, {}, &MatrixInputs::name);
    return all;
  }

 private:
  struct Entry {
    std::string name;
    std::uint64_t columns = 0;
    std::vector<double> sums = {};
    std::vector<float> squares = {};
    std::vector<std::uint64_t> counts = {};
  };
  struct Place {
    Entry* entry;
    std::size_t expert;
  };

  void add(const Plan& plan, const Weight& weight) {
    if (weight) add_as(matrix_name(plan, weight), weight, 0, 1);
  }
  // Several parts of one matrix have the same input: the first counts.
  void add_as(std::string name, const Weight& weight, std::size_t expert, std::size_t experts) {
    if (!weight || !taken_.insert({name, expert}).second) return;
    const auto [found, is_new] = numbers_.emplace(name, nullptr);
    if (is_new) {
      Entry made;
      made.name = std::move(name), made.columns = weight.columns;
      made.counts.resize(experts);
      found->second = &entries_.emplace_back(std::move(made));
    }
    places_.emplace(&weight, Place{found->second, expert});
  }

  unsigned threads_;
  std::deque<Entry> entries_;
  std::map<std::string, Entry*> numbers_;
  std::set<std::pair<std::string, std::size_t>> taken_;
  std::unordered_map<const Weight*, Place> places_;
};

// The experts that no token reached, matrix by matrix.
void remark_on_experts(const Calibration& found, std::vector<Change>& remarks) {
  for (const MatrixInputs& matrix : found.matrices) {
    std::vector<std::string> none;
    for (std::size_t e = 0; e < matrix.counts.size(); ++e)
      if (matrix.counts[e] == 0) none.push_back(fmt::format("{}", e));
    if (none.empty()) continue;
    const std::size_t count = none.size();
    remarks.push_back({.detail = fmt::format("{}: no token reached {} of its {} experts: {}", quote(matrix.name), count,
                                             matrix.counts.size(), listed_names(std::move(none), 16))});
  }
}

void remark_on_length(const Plan& plan, Calibration& found) {
  found.enough = kEnoughTokens;
  if (plan.routing.used != 0) found.enough *= (plan.routing.experts + plan.routing.used - 1) / plan.routing.used;
  if (found.tokens < found.enough)
    found.remarks.push_back({.detail = fmt::format("{} tokens are few to calibrate with; {} are enough",
                                                   count_text(found.tokens), count_text(found.enough))});
}

}  // namespace

Calibration calibrate(const Scorer& scorer, std::span<const std::int32_t> tokens, const Options& options) {
  const StopScope stop(options.work);
  const Plan& plan = scorer.inner().plan;
  std::uint64_t context = context_of(plan, options);
  if (context == 0 || tokens.size() < context) context = tokens.size();
  check_tokens(plan, tokens, context, options);
  const Executor executor(plan, options.work.threads);
  Pieces pieces;
  const Room room = room_of(options, plan);
  cut(tokens, context, true, options, room.batch, bytes_per_token(plan), pieces);
  HiddenStates states(pieces, plan.hidden, room.states);
  const std::size_t batches = pieces.batches.size();
  if (options.work.progress != nullptr) options.work.progress->expect(plan.layers.size() * batches);
  for (std::size_t batch = 0; batch < batches; ++batch) {
    Floats hidden;
    executor.embed(pieces.batches[batch], hidden);
    states.put(batch, std::move(hidden));
  }
  states.turn();
  SquareSums sums(plan, options.work.threads);
  for (std::size_t layer = 0; layer < plan.layers.size(); ++layer) {
    for (std::size_t batch = 0; batch < batches; ++batch) {
      check_stop();
      Floats hidden = states.take(batch);
      executor.run_layer(layer, pieces.batches[batch], hidden, {.watch = &sums});
      states.put(batch, std::move(hidden));
      if (options.work.progress != nullptr) options.work.progress->advance(1);
    }
    states.turn();
    sums.finish_layer();
  }
  for (std::size_t batch = 0; batch < batches; ++batch) {
    check_stop();
    executor.watch_head(pieces.batches[batch], states.take(batch), sums);
  }
  scorer.inner().check_sources();
  Calibration found{.matrices = sums.take(), .pieces = pieces.first.size(), .context = context};
  found.tokens = found.pieces * context;
  found.source = digest_of_tokens(tokens);
  remark_on_length(plan, found);
  remark_on_experts(found, found.remarks);
  return found;
}

Calibration calibrate(const Scorer& scorer, std::string_view text, const Options& options) {
  const Tokenizer& tokenizer = scorer.tokenizer();
  Calibration found = calibrate(scorer, tokens_of_text(tokenizer, text), options_for(tokenizer, options));
  found.source = digest_of_text(text);
  return found;
}

Model importance_model(const Calibration& calibration, std::string_view dataset) {
  Model model;
  model.metadata.set("general.type", "imatrix");
  model.metadata.set(
      "imatrix.datasets",
      List{Value(dataset.empty() ? calibration.source : fmt::format("{} ({})", dataset, calibration.source))});
  model.metadata.set("imatrix.chunk_count", calibration.pieces);
  model.metadata.set("imatrix.chunk_size", calibration.context);
  for (const MatrixInputs& matrix : calibration.matrices) {
    const std::uint64_t experts = matrix.counts.size();
    // A dimension of 1 before the others does not exist in GGUF.
    const bool stacked = experts > 1;
    std::vector<float> counts(matrix.counts.begin(), matrix.counts.end());
    model.tensors.push_back(dense<float>(
        matrix.name + ".in_sum2", stacked ? Shape{experts, matrix.columns} : Shape{matrix.columns}, matrix.squares));
    model.tensors.push_back(dense<float>(matrix.name + ".counts", stacked ? Shape{experts, 1} : Shape{1}, counts));
  }
  return model;
}

}  // namespace tare::run
