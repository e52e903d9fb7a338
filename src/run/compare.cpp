// Two models on the same tokens: what they predict, and where they part.
//
// Both run layer by layer. As long as their hidden states are the same, a layer that parts is the first that is not the
// same after it. From then on, and always for two models of different types, B also runs each layer on A's hidden states:
// what differs then is this layer's own. In a mixture of experts, it runs A's choice of experts there: of two with nearly
// the same score, the smallest rounding makes a router choose the other, and the results have nothing in common.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "base/parallel.hpp"
#include "base/stopping.hpp"
#include "run/estimates.hpp"
#include "run/room.hpp"
#include "run/texts.hpp"
#include "run/weight_difference.hpp"
#include "tare/codec.hpp"
#include "tare/progress.hpp"

namespace tare::run {
namespace {

// The same computation on the same weights gives the same numbers; settings that went through another container may have
// lost a last bit.
constexpr double kSame = 1e-5;

// Sums of squares; from panels in their order, so that they do not depend on the threads.
struct Sums {
  double distance = 0, size = 0;

  double ratio() const {
    if (distance == 0) return 0;
    return size == 0 ? INFINITY : std::sqrt(distance / size);
  }
};

// Adds |b - a|^2 and |a - base|^2 (base null: |a|^2) over the tokens of a batch.
void add_distance(const Batch& batch, std::size_t features, const Floats& a, const Floats& b, const Floats* base,
                  unsigned threads, Sums& sums) {
  std::vector<Sums> parts(batch.panels);
  std::vector<std::size_t> used(batch.panels);
  for (const Text& text : batch.texts)
    for (std::size_t panel = 0; panel < text.panels; ++panel)
      used[text.first_panel + panel] = std::min(kPanel, text.tokens.size() - panel * kPanel);
  parallel_for(batch.panels, threads, [&](std::size_t panel) {
    const std::size_t begin = panel * features * kPanel;
    for (std::size_t f = 0; f < features; ++f)
      for (std::size_t t = 0; t < used[panel]; ++t) {
        const std::size_t i = begin + f * kPanel + t;
        const double off = static_cast<double>(b[i]) - static_cast<double>(a[i]),
                     own = static_cast<double>(a[i]) - (base == nullptr ? 0 : static_cast<double>((*base)[i]));
        parts[panel].distance += off * off;
        parts[panel].size += own * own;
      }
  });
  for (const Sums& part : parts) sums.distance += part.distance, sums.size += part.size;
}

bool are_same(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

using Named = std::pair<std::string, const Weight*>;

class Comparer {
 public:
  Comparer(const Scorer& a, const Scorer& b, const Options& options)
      : a_(a.inner().plan),
        b_(b.inner().plan),
        options_(options),
        room_(room_of(options, a_, &b_)),
        run_a_(a_, options.work.threads),
        run_b_(b_, options.work.threads),
        run_mixed_(mixed_, options.work.threads) {}

  Comparison run(std::span<const std::int32_t> tokens) {
    if (a_.vocabulary != b_.vocabulary)
      throw Error(ErrorKind::usage, "run.vocabularies",
                  fmt::format("A has {} tokens and B {}; the two do not speak the same language", a_.vocabulary,
                              b_.vocabulary));
    const std::uint64_t context = std::min(context_of(a_, options_), context_of(b_, options_));
    context_ = context;
    check_tokens(a_, tokens, context, options_);
    check_tokens(b_, tokens, context, options_);
    if (tokens.size() < 2) throw Error(ErrorKind::usage, "run.tokens", "expected at least 2 tokens, found 1");
    cut(tokens, context, false, options_, room_.batch,
        std::max(bytes_per_compared_token(a_), bytes_per_compared_token(b_)), pieces_);
    alike_ = a_.layers.size() == b_.layers.size() && a_.hidden == b_.hidden;
    for (const auto& [name, value] : a_.settings()) settings_a_[name] = value;
    for (const auto& [name, value] : b_.settings()) settings_b_[name] = value;
    compare_settings();
    mix();
    if (options_.work.progress != nullptr)
      options_.work.progress->expect((std::max(a_.layers.size(), b_.layers.size()) + 1) * pieces_.batches.size());
    run_layers();
    compare_outputs();
    find_parting();
    return std::move(result_);
  }

 private:
  void compare_settings() {
    std::map<std::string, std::pair<std::string, std::string>> both;
    for (const auto& [name, value] : settings_a_) both[name].first = value;
    for (const auto& [name, value] : settings_b_) both[name].second = value;
    for (const auto& [name, values] : both)
      if (values.first != values.second)
        result_.settings.emplace_back(name, fmt::format("{} -> {}", values.first.empty() ? "none" : values.first,
                                                        values.second.empty() ? "none" : values.second));
  }

  // A's weights with B's settings: what differs between A and this is the settings' part alone, whatever B's types round.
  void mix() {
    if (!alike_ || result_.settings.empty()) return;
    mixed_ = with_weights_of(b_, a_);
    is_mixed_ = true;
  }
  // Whether A's weights of a place can be computed with B's settings.
  static bool have_same_shapes(const std::vector<Named>& a, const std::vector<Named>& b) {
    return std::ranges::equal(a, b, [](const Named& x, const Named& y) {
      return x.first == y.first && x.second->rows == y.second->rows && x.second->columns == y.second->columns;
    });
  }
  bool mixes_layer(std::size_t layer) const {
    return is_mixed_ && have_same_shapes(Plan::weights_of(a_.layers[layer]), Plan::weights_of(b_.layers[layer]));
  }

  void note(std::string name, const Sums& difference, const Sums& own, const Sums& by_settings) {
    if (!alike_) return;
    result_.places.push_back({std::move(name), difference.ratio(), own.ratio()});
    by_settings_.push_back(by_settings.ratio());
  }

  void advance() const {
    if (options_.work.progress != nullptr) options_.work.progress->advance(1);
  }

  void run_layers() {
    states_a_.emplace(pieces_, a_.hidden, room_.states / 2);
    states_b_.emplace(pieces_, b_.hidden, room_.states / 2);
    const auto features = static_cast<std::size_t>(a_.hidden);
    const std::size_t batches = pieces_.batches.size();
    Sums sums, settings_alone;
    for (std::size_t batch = 0; batch < batches; ++batch) {
      Floats x, y, mixed;
      run_a_.embed(pieces_.batches[batch], x);
      run_b_.embed(pieces_.batches[batch], y);
      if (alike_) add_distance(pieces_.batches[batch], features, x, y, nullptr, options_.work.threads, sums);
      if (is_mixed_) {
        run_mixed_.embed(pieces_.batches[batch], mixed);
        add_distance(pieces_.batches[batch], features, x, mixed, nullptr, options_.work.threads, settings_alone);
      }
      states_a_->put(batch, std::move(x)), states_b_->put(batch, std::move(y));
    }
    note("embeddings", sums, sums, settings_alone);
    for (std::size_t layer = 0; layer < std::max(a_.layers.size(), b_.layers.size()); ++layer) {
      states_a_->turn(), states_b_->turn();
      Sums difference, own, by_settings;
      for (std::size_t batch = 0; batch < batches; ++batch) run_layer(layer, batch, difference, own, by_settings);
      note(fmt::format("layer {}", layer), difference, own, by_settings);
    }
    states_a_->turn(), states_b_->turn();
  }

  void run_layer(std::size_t layer, std::size_t number, Sums& difference, Sums& own, Sums& by_settings) {
    check_stop();
    const Batch& batch = pieces_.batches[number];
    const auto features = static_cast<std::size_t>(a_.hidden);
    Floats x = states_a_->take(number), y = states_b_->take(number);
    const bool same = alike_ && are_same(x, y);
    Floats before;
    if (alike_) before = x;
    Choices chosen_a, chosen_b;
    if (layer < a_.layers.size()) run_a_.run_layer(layer, batch, x, {.chosen = &chosen_a});
    if (layer < b_.layers.size()) run_b_.run_layer(layer, batch, y, {.chosen = &chosen_b});
    if (alike_) {
      add_distance(batch, features, x, y, nullptr, options_.work.threads, difference);
      Floats given;
      if (!same || chosen_a != chosen_b) {
        given = before;
        run_b_.run_layer(layer, batch, given, {.given = &chosen_a});
      }
      add_distance(batch, features, x, given.empty() ? y : given, &before, options_.work.threads, own);
      if (mixes_layer(layer)) {
        given = before;
        run_mixed_.run_layer(layer, batch, given);
        add_distance(batch, features, x, given, &before, options_.work.threads, by_settings);
      }
    }
    states_a_->put(number, std::move(x)), states_b_->put(number, std::move(y));
    advance();
  }

  void compare_outputs() {
    const auto vocabulary = static_cast<std::size_t>(a_.vocabulary);
    const std::size_t most = panels_at_once(room_, vocabulary, 3);
    Floats x, y, given;
    Sums difference, own, by_settings;
    const bool mixes = is_mixed_ && have_same_shapes(ends_of(a_), ends_of(b_));
    std::size_t piece = 0;
    for (std::size_t batch = 0; batch < pieces_.batches.size(); ++batch) {
      const Floats hidden_a = states_a_->take(batch), hidden_b = states_b_->take(batch);
      const bool same = alike_ && are_same(hidden_a, hidden_b);
      for (const Text& text : pieces_.batches[batch].texts) {
        for (std::size_t first = 0; first < text.panels; first += most) {
          check_stop();
          const std::size_t count = std::min(most, text.panels - first);
          run_a_.logits(hidden_a, text.first_panel + first, count, x);
          run_b_.logits(hidden_b, text.first_panel + first, count, y);
          if (alike_ && !same) run_b_.logits(hidden_a, text.first_panel + first, count, given);
          take_panels(text, pieces_.first[piece], first, count, x, y);
          if (!alike_) continue;
          Batch part;
          part.add(text.tokens.subspan(first * kPanel, std::min(count * kPanel, text.tokens.size() - first * kPanel)));
          add_distance(part, vocabulary, x, y, nullptr, options_.work.threads, difference);
          add_distance(part, vocabulary, x, same ? y : given, nullptr, options_.work.threads, own);
          if (!mixes) continue;
          run_mixed_.logits(hidden_a, text.first_panel + first, count, given);
          add_distance(part, vocabulary, x, given, nullptr, options_.work.threads, by_settings);
        }
        ++piece;
      }
      advance();
    }
    note("output", difference, own, by_settings);
    finish();
  }

  void take_panels(const Text& text, std::uint64_t begin, std::size_t first, std::size_t count, const Floats& x,
                   const Floats& y) {
    const auto vocabulary = static_cast<std::size_t>(a_.vocabulary);
    std::vector<Divergence> found(count);
    std::vector<double> sums_a(count * kPanel), sums_b(count * kPanel);
    parallel_for(count, options_.work.threads, [&](std::size_t panel) {
      const float *const a = x.data() + panel * vocabulary * kPanel, *const b = y.data() + panel * vocabulary * kPanel;
      float largest[kPanel];
      log_sums(a, vocabulary, largest, sums_a.data() + panel * kPanel);
      log_sums(b, vocabulary, largest, sums_b.data() + panel * kPanel);
      diverge(a, b, sums_a.data() + panel * kPanel, sums_b.data() + panel * kPanel, vocabulary, found[panel]);
    });
    for (std::size_t i = 0; i < count * kPanel; ++i) {
      const std::size_t token = first * kPanel + i, lane = i % kPanel;
      if (token >= text.tokens.size()) break;
      const Divergence& one = found[i / kPanel];
      kl_.push_back(std::max(0.0, one.kl[lane]));
      places_.push_back(begin + token);
      best_.emplace_back(one.top_a[lane][0], one.top_b[lane][0]);
      result_.largest_change = std::max(result_.largest_change, static_cast<double>(one.change[lane]));
      std::size_t held = 0, both = 0;
      for (std::size_t j = 0; j < 5; ++j) {
        if (one.top_a[lane][j] < 0) continue;
        ++held;
        both += std::find(one.top_b[lane], one.top_b[lane] + 5, one.top_a[lane][j]) != one.top_b[lane] + 5 ? 1 : 0;
      }
      top_1_.push_back(one.top_a[lane][0] == one.top_b[lane][0] ? 1 : 0);
      top_5_.push_back(static_cast<double>(both) / static_cast<double>(std::max<std::size_t>(1, held)));
      if (token < text.tokens.size() / 2 || token + 1 >= text.tokens.size()) continue;
      const std::size_t next =
          (i / kPanel * vocabulary + static_cast<std::size_t>(text.tokens[token + 1])) * kPanel + lane;
      losses_a_.push_back(sums_a[i] - static_cast<double>(x[next]));
      losses_b_.push_back(sums_b[i] - static_cast<double>(y[next]));
    }
  }

  void finish() {
    Comparison& out = result_;
    out.tokens = kl_.size();
    out.predicted = losses_a_.size();
    out.kl = mean_of(kl_), out.kl_median = quantile_of(kl_, 0.5), out.kl_99 = quantile_of(kl_, 0.99);
    out.top_1 = mean_of(top_1_), out.top_5 = mean_of(top_5_);
    out.a = perplexity_of(losses_a_, pieces_.first.size());
    out.b = perplexity_of(losses_b_, pieces_.first.size());
    out.a.context = out.b.context = context_;
    std::vector<double> more(losses_a_.size());
    for (std::size_t i = 0; i < more.size(); ++i) more[i] = losses_b_[i] - losses_a_[i];
    const Estimate log_ratio = mean_of(more);
    out.ratio = {std::exp(log_ratio.value), std::exp(log_ratio.value) * log_ratio.error};
    std::vector<std::size_t> order(kl_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const std::size_t listed = std::min<std::size_t>(10, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(listed), order.end(),
                      [&](std::size_t i, std::size_t j) { return kl_[i] != kl_[j] ? kl_[i] > kl_[j] : i < j; });
    for (std::size_t i = 0; i < listed; ++i)
      if (const std::size_t at = order[i]; kl_[at] > 0)
        out.worst.push_back(
            {.token = places_[at], .kl = kl_[at], .best_a = best_[at].first, .best_b = best_[at].second});
    out.kl_largest = listed == 0 ? 0 : kl_[order[0]];
  }

  // Compares the weights of a place. The place parts with its first weight that differs by more than its types, or, if
  // there is none, if the settings alone change what it adds.
  bool parts(const std::string& place, std::optional<std::uint64_t> layer, const std::vector<Named>& a,
             const std::vector<Named>& b, double by_settings) {
    std::map<std::string, const Weight*> others(b.begin(), b.end());
    std::optional<Parting> found;
    const auto part_with = [&](const std::string& role, const Weight& weight, const WeightDifference& by) {
      if (!found)
        found = {.place = place,
                 .layer = layer,
                 .tensor = weight.tensor.name,
                 .role = role,
                 .relative_rms = by.relative,
                 .row = by.row ? std::optional(weight.first_row + *by.row) : std::nullopt};
    };
    const WeightDifference missing{.relative = INFINITY, .beyond = true};
    for (const auto& [role, weight] : a) {
      const auto other = others.extract(role);
      if (other.empty()) {
        part_with(role, *weight, missing);
        continue;
      }
      const Weight& second = *other.mapped();
      count_cast(*weight, second);
      const WeightDifference difference = weight_difference(*weight, second, place, options_.work.threads);
      if (difference.beyond) part_with(role, *weight, difference);
    }
    for (const auto& [role, weight] : others) part_with(role, *weight, missing);
    if (!found && !(by_settings <= kSame)) found = {.place = place, .layer = layer};
    if (found && !result_.parting) result_.parting = found;
    return result_.parting.has_value();
  }

  void count_cast(const Weight& a, const Weight& b) {
    const std::string from = dtype_name(a.tensor), to = dtype_name(b.tensor);
    if (from != to && counted_.insert(a.tensor.name).second) ++casts_[fmt::format("{} -> {}", from, to)];
  }

  static std::vector<Named> beginnings_of(const Plan& plan) {
    std::vector<Named> all = {{"embeddings", &plan.embeddings}};
    if (plan.positions) all.emplace_back("positions", &plan.positions);
    return all;
  }
  static std::vector<Named> ends_of(const Plan& plan) {
    std::vector<Named> all;
    if (plan.final_norm) all.emplace_back("final_norm", &plan.final_norm);
    if (plan.final_norm_bias) all.emplace_back("final_norm.bias", &plan.final_norm_bias);
    all.emplace_back("head", &plan.head_weight);
    if (plan.head_bias) all.emplace_back("head.bias", &plan.head_bias);
    return all;
  }

  void find_parting() {
    if (!alike_) return;
    parts("embeddings", {}, beginnings_of(a_), beginnings_of(b_), by_settings_.front());
    for (std::size_t layer = 0; layer < a_.layers.size(); ++layer)
      parts(a_.layers[layer].place, layer, Plan::weights_of(a_.layers[layer]), Plan::weights_of(b_.layers[layer]),
            by_settings_[layer + 1]);
    parts("output", {}, ends_of(a_), ends_of(b_), by_settings_.back());
    result_.casts.assign(casts_.begin(), casts_.end());
  }

  const Plan& a_;
  const Plan& b_;
  const Options& options_;
  const Room room_;
  Plan mixed_;
  bool is_mixed_ = false;
  Executor run_a_, run_b_, run_mixed_;
  Pieces pieces_;
  std::optional<HiddenStates> states_a_, states_b_;
  bool alike_ = false;
  std::map<std::string, std::string> settings_a_, settings_b_;
  std::map<std::string, std::uint64_t> casts_;
  std::set<std::string> counted_;
  std::vector<double> kl_, top_1_, top_5_, losses_a_, losses_b_;
  std::vector<std::uint64_t> places_;
  std::vector<std::pair<std::int32_t, std::int32_t>> best_;
  std::uint64_t context_ = 0;
  std::vector<double> by_settings_;  // at each place
  Comparison result_;
};

}  // namespace

Comparison compare(const Scorer& a, const Scorer& b, std::span<const std::int32_t> tokens, const Options& options) {
  const StopScope stop(options.work);
  Comparison made = Comparer(a, b, options).run(tokens);
  a.inner().check_sources();
  b.inner().check_sources();
  return made;
}

}  // namespace tare::run
