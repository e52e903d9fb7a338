// Measures how much each matrix matters: adds noise to a group of matrices, and compares the predictions with those of the
// model without noise.
//
// The divergence grows in proportion to the squared error of a matrix as long as that is small, and the divergences of
// several matrices add up. So a run with noise of known size gives a rate for each matrix, and a knapsack over the errors
// of all types does the rest. A group is the matrices of a kind (queries and keys; values; ...) in a range of
// neighbouring layers; its run begins at the first of them.
#include "tare/damage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "arch/names.hpp"
#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "base/stopping.hpp"
#include "convert/directory_form.hpp"
#include "convert/recipe.hpp"
#include "run/executor.hpp"
#include "run/matrix_names.hpp"
#include "run/room.hpp"
#include "run/texts.hpp"
#include "run/words.hpp"
#include "tare/elements.hpp"
#include "tare/open.hpp"
#include "tare/progress.hpp"

namespace tare::run {
namespace {

// Squared, relative to the weights around it: about what a type of four bits costs.
constexpr float kNoise = 0.005f;
constexpr std::uint64_t kPieceOfDamage = 256;  // tokens
constexpr std::string_view kDamageEnd = ".damage";

// One matrix of a group, with its name in a calibration and its place there.
struct Noisy {
  Weight* weight;
  std::string name;
  std::size_t expert;
};

// What a group of matrices has in common with those of other layers.
using Kind = std::vector<Noisy> (*)(const Plan& plan, std::size_t number, LayerPlan& layer);

template <Projection LayerPlan::*... parts>
std::vector<Noisy> of_attention(const Plan& plan, std::size_t, LayerPlan& layer) {
  std::vector<Noisy> all;
  for (Weight* const weight : {&(layer.*parts).weight...})
    if (*weight) all.push_back({weight, matrix_name(plan, *weight), 0});
  return all;
}

// The matrices that decide which tokens a layer attends to: queries, keys and gates, or all inputs of a state.
std::vector<Noisy> of_choice(const Plan& plan, std::size_t number, LayerPlan& layer) {
  std::vector<Noisy> all = of_attention<&LayerPlan::q, &LayerPlan::k, &LayerPlan::q_compress, &LayerPlan::kv_compress,
                                        &LayerPlan::kv_expand, &LayerPlan::attention_gate>(plan, number, layer);
  StateWeights& state = layer.state;
  for (Projection* const one : {&state.q, &state.k, &state.v, &state.gate, &state.step, &state.share})
    if (one->weight) all.push_back({&one->weight, matrix_name(plan, one->weight), 0});
  return all;
}
std::vector<Noisy> of_answer(const Plan& plan, std::size_t number, LayerPlan& layer) {
  std::vector<Noisy> all = of_attention<&LayerPlan::o>(plan, number, layer);
  if (Weight& weight = layer.state.out.weight) all.push_back({&weight, matrix_name(plan, weight), 0});
  return all;
}

template <Projection FeedForward::*part, arch::Role stack>
void add_part(const Plan& plan, std::size_t number, LayerPlan& layer, std::vector<Noisy>& all) {
  for (FeedForward* const one : {&layer.ffn, &layer.shared})
    if (Weight& weight = (one->*part).weight) all.push_back({&weight, matrix_name(plan, weight), 0});
  for (std::size_t e = 0; e < layer.experts.size(); ++e) {
    Weight& weight = (layer.experts[e].*part).weight;
    all.push_back({&weight, stack_name(plan, stack, number, weight), e});
  }
}

std::vector<Noisy> of_entry(const Plan& plan, std::size_t number, LayerPlan& layer) {
  std::vector<Noisy> all;
  add_part<&FeedForward::gate, arch::Role::stacked_gate>(plan, number, layer, all);
  add_part<&FeedForward::up, arch::Role::stacked_up>(plan, number, layer, all);
  return all;
}
std::vector<Noisy> of_exit(const Plan& plan, std::size_t number, LayerPlan& layer) {
  std::vector<Noisy> all;
  add_part<&FeedForward::down, arch::Role::stacked_down>(plan, number, layer, all);
  return all;
}

constexpr Kind kKinds[] = {&of_choice, &of_attention<&LayerPlan::v>, &of_answer, &of_entry, &of_exit};

// The weights of the columns of a matrix: all equal without a calibration of it.
std::vector<float> column_weights(const Calibration& calibration, const std::string& name, std::size_t expert,
                                  std::uint64_t columns) {
  const auto found = std::ranges::lower_bound(calibration.matrices, name, {}, &MatrixInputs::name);
  std::vector<float> weights(static_cast<std::size_t>(columns), 1);
  if (found == calibration.matrices.end() || found->name != name || found->columns != columns ||
      expert >= found->counts.size() || found->counts[expert] == 0)
    return weights;
  std::copy_n(found->squares.begin() + static_cast<std::ptrdiff_t>(expert * columns), weights.size(), weights.begin());
  return weights;
}

struct Squares {
  double noise = 0, all = 0;
};

// The squared noise that add_noise() adds to a matrix, and its squared weights, both weighted by column.
Squares squares_of(const Weight& weight, const std::vector<float>& columns, const std::string& place,
                   unsigned threads) {
  const std::uint64_t step = std::max<std::uint64_t>(1, (std::uint64_t{1} << 16) / weight.columns);
  const auto count = static_cast<std::size_t>((weight.rows + step - 1) / step), width = columns.size();
  std::vector<Squares> parts(count);
  parallel_for(count, threads, [&](std::size_t part) {
    const std::uint64_t first = part * step, rows = std::min(step, weight.rows - first);
    std::vector<float> values(static_cast<std::size_t>(rows) * width);
    weight.read(first, rows, values.data(), place);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t b = 0; b < width; b += kNoiseBlock) {
        const std::size_t end = std::min(width, b + kNoiseBlock);
        double sum = 0, weighted = 0, factors = 0;
        for (std::size_t c = b; c < end; ++c) {
          const double value = static_cast<double>(values[r * width + c]), factor = static_cast<double>(columns[c]);
          sum += value * value, weighted += factor * value * value, factors += factor;
        }
        parts[part].all += weighted;
        parts[part].noise += static_cast<double>(kNoise) * sum / static_cast<double>(end - b) * factors;
      }
  });
  Squares all;
  for (const Squares& part : parts) all.noise += part.noise, all.all += part.all;
  return all;
}

class DamageMeter {
 public:
  DamageMeter(const Scorer& scorer, const Calibration& calibration, const DamageOptions& options)
      : plan_(scorer.inner().plan),
        calibration_(calibration),
        options_(options),
        room_(room_of(options.run, plan_)),
        noisy_(plan_),
        executor_(noisy_, options.run.work.threads) {}

  Damage run(std::span<const std::int32_t> tokens) {
    const std::uint64_t context = plan_.context == 0 ? kPieceOfDamage : std::min(kPieceOfDamage, plan_.context);
    const std::uint64_t fitting = std::max(context, room_.batch / std::max<std::uint64_t>(1, bytes_per_token(plan_)));
    tokens = tokens.first(static_cast<std::size_t>(
        std::min<std::uint64_t>({tokens.size(), std::max(context, options_.tokens), fitting / context * context})));
    check_tokens(plan_, tokens, context, options_.run);
    cut(tokens, context, false, options_.run, UINT64_MAX, 1, pieces_);
    const std::size_t layers = plan_.layers.size(), kinds = std::size(kKinds);
    const std::size_t ranges = std::clamp<std::size_t>(static_cast<std::size_t>(options_.runs) / kinds, 1, layers);
    if (options_.run.work.progress != nullptr) options_.run.work.progress->expect(ranges * kinds + 2);
    std::vector<std::size_t> begins;
    for (std::size_t r = 0; r <= ranges; ++r) begins.push_back(r * layers / ranges);
    const Batch& batch = pieces_.batches.front();
    Floats hidden;
    executor_.embed(batch, hidden);
    std::vector<Floats> before;  // the hidden states at the beginning of each range
    for (std::size_t layer = 0; layer < layers; ++layer) {
      check_stop();
      if (layer == begins[before.size()]) before.push_back(hidden);
      executor_.run_layer(layer, batch, hidden);
    }
    usual_ = std::move(hidden);
    for (std::size_t r = 0; r < ranges; ++r)
      for (const Kind kind : kKinds) {
        std::vector<Noisy> group;
        for (std::size_t layer = begins[r]; layer < begins[r + 1]; ++layer)
          for (Noisy& one : kind(plan_, layer, noisy_.layers[layer])) group.push_back(std::move(one));
        measure(group, begins[r], before[r]);
      }
    measure_ends();
    return std::move(found_);
  }

 private:
  void advance() const {
    if (options_.run.work.progress != nullptr) options_.run.work.progress->advance(1);
  }

  void set_noise(std::vector<Noisy>& group) {
    for (Noisy& one : group) one.weight->noise = kNoise;
  }

  // Runs the layers from `first` on with noise in a group, beginning with the hidden states `before`.
  void measure(std::vector<Noisy>& group, std::size_t first, const Floats& before) {
    if (!group.empty()) {
      set_noise(group);
      Floats hidden = before;
      for (std::size_t layer = first; layer < plan_.layers.size(); ++layer) {
        check_stop();
        executor_.run_layer(layer, pieces_.batches.front(), hidden);
      }
      const double kl = divergence_from_usual(hidden);
      for (Noisy& one : group) one.weight->noise = 0;
      note(group, kl);
    }
    advance();
  }

  // The token table and the head, which may be one matrix.
  void measure_ends() {
    std::vector<Noisy> table = {{&noisy_.embeddings, matrix_name(plan_, plan_.embeddings), 0}},
                       head = {{&noisy_.head_weight, matrix_name(plan_, plan_.head_weight), 0}};
    if (plan_.tied) table.push_back(head.front());
    set_noise(table);
    Floats hidden;
    executor_.embed(pieces_.batches.front(), hidden);
    for (std::size_t layer = 0; layer < plan_.layers.size(); ++layer) {
      check_stop();
      executor_.run_layer(layer, pieces_.batches.front(), hidden);
    }
    double kl = divergence_from_usual(hidden);
    for (Noisy& one : table) one.weight->noise = 0;
    table.resize(1);
    note(table, kl);
    advance();
    if (!plan_.tied) {
      set_noise(head);
      kl = divergence_from_usual(usual_);
      head.front().weight->noise = 0;
      note(head, kl);
    }
    advance();
  }

  // Returns the mean KL divergence of the noisy model after these hidden states.
  double divergence_from_usual(const Floats& hidden) {
    const auto vocabulary = static_cast<std::size_t>(plan_.vocabulary);
    const std::size_t most = panels_at_once(room_, vocabulary, 2);
    const Executor plain(plan_, options_.run.work.threads);
    double sum = 0;
    std::size_t tokens = 0;
    Floats x, y;
    for (const Text& text : pieces_.batches.front().texts)
      for (std::size_t first = 0; first < text.panels; first += most) {
        check_stop();
        const std::size_t count = std::min(most, text.panels - first);
        plain.logits(usual_, text.first_panel + first, count, x);
        executor_.logits(hidden, text.first_panel + first, count, y);
        std::vector<Divergence> found(count);
        parallel_for(count, options_.run.work.threads, [&](std::size_t panel) {
          const float *const a = x.data() + panel * vocabulary * kPanel, *const b =
                                                                             y.data() + panel * vocabulary * kPanel;
          float largest[kPanel];
          double sums_a[kPanel], sums_b[kPanel];
          log_sums(a, vocabulary, largest, sums_a), log_sums(b, vocabulary, largest, sums_b);
          diverge(a, b, sums_a, sums_b, vocabulary, found[panel]);
        });
        for (std::size_t i = 0; i < count * kPanel && first * kPanel + i < text.tokens.size(); ++i, ++tokens)
          sum += std::max(0.0, found[i / kPanel].kl[i % kPanel]);
      }
    return tokens == 0 ? 0 : sum / static_cast<double>(tokens);
  }

  // Gives each matrix of the group the same divergence per relative squared error: their errors were measured together.
  void note(const std::vector<Noisy>& group, double kl) {
    std::map<std::string, Squares> squares;  // summed over the experts and the parts of a matrix
    for (const Noisy& one : group) {
      const Squares more =
          squares_of(*one.weight, column_weights(calibration_, one.name, one.expert, one.weight->columns), "a matrix",
                     options_.run.work.threads);
      squares[one.name].noise += more.noise, squares[one.name].all += more.all;
    }
    double relative = 0;
    for (const auto& [name, sum] : squares) relative += sum.all == 0 ? 0 : sum.noise / sum.all;
    for (const auto& [name, sum] : squares) found_[name] = relative == 0 ? 0 : kl / relative;
  }

  const Plan& plan_;
  const Calibration& calibration_;
  const DamageOptions& options_;
  const Room room_;
  Plan noisy_;
  Executor executor_;
  Pieces pieces_;
  Floats usual_;  // hidden states after the last layer
  Damage found_;
};

}  // namespace

Damage measure_damage(const Scorer& scorer, std::span<const std::int32_t> tokens, const Calibration& calibration,
                      const DamageOptions& options) {
  const StopScope stop(options.run.work);
  if (tokens.size() < 2)
    throw Error(ErrorKind::usage, "run.tokens", fmt::format("expected at least 2 tokens, found {}", tokens.size()));
  Damage found = DamageMeter(scorer, calibration, options).run(tokens);
  scorer.inner().check_sources();
  return found;
}

Damage measure_damage(const Scorer& scorer, std::string_view text, const Calibration& calibration,
                      const DamageOptions& options) {
  const Tokenizer& tokenizer = scorer.tokenizer();
  DamageOptions with = options;
  with.run = options_for(tokenizer, options.run);
  return measure_damage(scorer, tokens_of_text(tokenizer, text), calibration, with);
}

void add_damage(Model& importance, const Damage& damage) {
  for (const auto& [name, value] : damage) {
    const float number = static_cast<float>(value);
    importance.tensors.push_back(dense<float>(name + std::string(kDamageEnd), {1}, std::vector<float>{number}));
  }
}

Damage read_damage(const std::string& path, const ReadOptions& options) {
  Damage found;
  const SourcePtr source = open_file(path, options.access);
  // The older form has no magic number, and nothing but importance.
  if (std::ranges::none_of(formats(),
                           [&](const Format& one) { return one.recognize != nullptr && one.recognize(*source); }))
    return found;
  const Model model = open(path, options);
  for (const Tensor& tensor : model.tensors) {
    if (!tensor.name.ends_with(kDamageEnd)) continue;
    const auto bad = [&](std::string_view rule, std::string_view sentence) {
      return Error(ErrorKind::corrupt, rule, sentence).in(path).about("tensor " + quote(tensor.name));
    };
    if (tensor.shape.elements() != 1)
      throw bad("importance.shape", fmt::format("expected one number, found the shape {}", tensor.shape.text()));
    const double value = tensor.values<double>().front();
    if (!std::isfinite(value) || value < 0)
      throw bad("importance.value", fmt::format("the damage is {}, expected a finite number of at least 0", value));
    found[tensor.name.substr(0, tensor.name.size() - kDamageEnd.size())] = value;
  }
  return found;
}

// ---- choosing

std::vector<ChosenMethod> choose_by_damage(const Model& model, std::string_view target, const Quantization& how,
                                           const Damage& damage, const Work& work) {
  const StopScope stop(work);
  const Format* const format = find_format(target);
  if (format == nullptr)
    throw Error(ErrorKind::usage, "convert.format", fmt::format("there is no format \"{}\"", quote(target)));
  if (!how.bits) throw Error(ErrorKind::usage, "quantize.bits", "a choice by damage needs a budget of bits");
  const arch::Family* const family = recipe::family_of(model);
  std::vector<double> rates;
  for (const auto& [name, rate] : damage) rates.push_back(rate);
  std::ranges::sort(rates);
  const double usual = rates.empty() ? 0 : rates[rates.size() / 2];
  std::size_t known = 0;
  std::mutex mutex;
  const recipe::Objective objective{.rate =
                                        [&](const Tensor& tensor) {
                                          for (const std::string& name : calibrated_names(family, tensor.name))
                                            if (const auto found = damage.find(name); found != damage.end()) {
                                              const std::scoped_lock lock(mutex);
                                              ++known;
                                              return found->second;
                                            }
                                          return usual;
                                        },
                                    .report = {}};
  std::vector<ChosenMethod> chosen;
  recipe::Objective reporting = objective;
  reporting.report = [&](recipe::Bargain bargain) {
    const auto neighbour = [&](std::size_t i) -> std::optional<ChosenMethod::Neighbour> {
      if (i >= bargain.offers.size()) return std::nullopt;
      return ChosenMethod::Neighbour{bargain.offers[i].method, bargain.offers[i].bytes, bargain.offers[i].cost};
    };
    const recipe::Offer& it = bargain.offers[bargain.chosen];
    chosen.push_back({.tensor = bargain.tensor,
                      .method = it.method,
                      .elements = bargain.elements,
                      .bytes = it.bytes,
                      .relative_error = it.relative_error,
                      .damage = it.cost,
                      .smaller = bargain.chosen == 0 ? std::nullopt : neighbour(bargain.chosen - 1),
                      .larger = neighbour(bargain.chosen + 1)});
  };
  AdaptOptions options;
  options.quant = how;
  static_cast<void>(adapt_as(model, *format, options, work, Completeness::open, &reporting));
  if (known == 0)
    throw Error(ErrorKind::usage, "quantize.damage",
                fmt::format("none of the {} matrices whose damage was measured is one of the model", damage.size()));
  return chosen;
}

Quantization with_choice(Quantization how, std::span<const ChosenMethod> chosen) {
  how.bits.reset();
  for (const ChosenMethod& one : chosen) {
    std::string glob;
    for (const char c : one.tensor)
      glob += c == '*' || c == '?' || c == '[' ? fmt::format("[{}]", c) : std::string(1, c);
    how.rules.emplace_back(glob, one.method.empty() ? std::string(kKeep) : one.method);
  }
  return how;
}

}  // namespace tare::run
