// Runs the layers of a plan on panels of tokens.
//
// Layers are outside, tokens inside: run_layer() reads and decodes each weight once, a tile of rows at a time, for all
// tokens that it is given. The memory that it takes is a few values for each token and a tile for each thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

#include "base/aligned.hpp"
#include "run/plan.hpp"
#include "run/state.hpp"
#include "run/watch.hpp"

namespace tare::run {

using Floats = AlignedVector<float>;

// Texts that run side by side: each begins a panel of its own.
struct Text {
  std::span<const std::int32_t> tokens;
  std::size_t first_panel = 0, panels = 0;
  // How many tokens it will have, for positions that are scaled by the length of a text; 0: as many as it has.
  std::size_t stated = 0;
  // How many tokens come before these, whose keys and values Extras::past has. Only the one text of a batch has any.
  std::size_t before = 0;
};
struct Batch {
  std::vector<Text> texts;
  std::size_t panels = 0;

  void add(std::span<const std::int32_t> tokens);
  std::size_t longest() const;  // tokens
  // For each panel, how many of its places are tokens.
  std::vector<std::uint8_t> used() const;
};

// Which experts the router of a layer has chosen: for each place of a panel, as many as are in use, best first.
struct Choices {
  std::size_t used = 0, experts = 0;
  std::vector<std::uint32_t> all;  // [panels][kPanel][used]

  friend bool operator==(const Choices&, const Choices&) = default;
};

// The keys and values of the tokens before a text: [position][kv_heads * head], [position][kv_heads * value_head].
struct Past {
  const float *keys = nullptr, *values = nullptr;
};

// Optional inputs and outputs of a layer.
struct Extras {
  Choices* chosen = nullptr;       // receives the choice of experts, if the layer has any
  const Choices* given = nullptr;  // runs these instead of those that the router would choose, if there are as many
  Floats *keys = nullptr, *values = nullptr;  // receive what the tokens that follow will look at
  Past past = {};                             // for a text with tokens before it
  // The state of a single text, in a layer without attention: for each head of keys. If there are no heads, the text begins
  // here, and they are made. They refer to `parts`.
  std::vector<StateHead>* states = nullptr;
  const StateParts* parts = nullptr;
  InputWatch* watch = nullptr;  // sees what the layer's matrices are multiplied with
};

class Executor {
 public:
  // The plan must outlive the executor. `threads`: 0 means all cores.
  Executor(const Plan& plan, unsigned threads) : plan_(plan), threads_(threads) {}

  const Plan& plan() const { return plan_; }

  // Fills hidden states: [batch.panels][hidden][kPanel], as everywhere. The tokens have been checked.
  void embed(const Batch& batch, Floats& hidden) const;
  void run_layer(std::size_t layer, const Batch& batch, Floats& hidden, const Extras& extras) const;
  void run_layer(std::size_t layer, const Batch& batch, Floats& hidden) const { run_layer(layer, batch, hidden, {}); }
  // The logits of panels [first, first + count) of hidden states: [count][vocabulary][kPanel].
  void logits(const Floats& hidden, std::size_t first, std::size_t count, Floats& out) const;
  // Shows what the head is multiplied with, for a whole batch, without the product.
  void watch_head(const Batch& batch, const Floats& hidden, InputWatch& watch) const;

 private:
  // The observer of the inputs of matrices (may be null), and how many places of each panel are tokens.
  struct Watched {
    InputWatch* watch = nullptr;
    std::span<const std::uint8_t> used = {};
  };
  struct Angles {
    std::size_t pairs = 0;
    Floats cosines, sines;  // [panels][pairs][kPanel]
  };
  using AnglesPtr = std::shared_ptr<const Angles>;

  // For the positions [before, before + count) of a text that has `length` tokens.
  AnglesPtr angles(bool local, std::size_t length, std::size_t before, std::size_t count) const;
  void multiply(const Projection& by, const std::string& place, const Floats& x, std::size_t panels, Floats& y) const;
  void multiply(const Projection& by, const std::string& place, const Floats& x, std::size_t panels, Floats& y,
                const Watched& watched) const;
  void normalize_all(const Weight& weight, const Weight& bias, const std::string& place, const Floats& x,
                     std::size_t panels, Floats& out) const;
  // The norm of a short vector, in place.
  void normalize_latent(const Weight& weight, const std::string& place, std::size_t panels, Floats& x) const;
  // The queries, keys and values of all heads.
  struct Heads {
    Floats q, k, v;
  };
  // The part of Extras::past that a layer looks at, as panels.
  struct PastPanels {
    std::size_t first = 0;  // panel
    Floats k, v;
  };
  PastPanels past_of(const LayerPlan& layer, const Batch& batch, const Past& past) const;
  void make_heads(const LayerPlan& layer, std::size_t panels, const Floats& x, Heads& out,
                  const Watched& watched) const;
  void make_latent_heads(const LayerPlan& layer, std::size_t panels, const Floats& x, Heads& out,
                         const Watched& watched) const;
  void attend(const LayerPlan& layer, const Batch& batch, const Floats& x, Floats& out, const Extras& extras,
              const Watched& watched) const;
  void prepare_heads(const Weight& norm, const LayerPlan& layer, const Batch& batch, std::size_t heads, bool queries,
                     Floats& x) const;
  void attend_head(const LayerPlan& layer, const Text& text, std::size_t panel, std::size_t head, const Heads& heads,
                   const PastPanels& past, float sink, Floats& answers) const;
  // Multiplies the results of the heads with the sigmoid of the layer's gate.
  void gate_answers(const LayerPlan& layer, std::size_t panels, const Floats& x, Floats& answers,
                    const Watched& watched) const;
  // A layer without attention.
  void run_state(const LayerPlan& layer, const Batch& batch, const Floats& x, Floats& out, const Extras& extras,
                 const Watched& watched) const;
  void run_state_head(StateHead& head, const Text& text, std::size_t number, const std::vector<Floats>& inputs,
                      Floats& answers) const;
  // Experts, or the feed-forward network.
  void run_networks(const LayerPlan& layer, const Batch& batch, const Floats& x, Floats& out, const Extras& extras,
                    const Watched& watched) const;
  // `clamps`: with the gate of experts that clamp it.
  void feed_forward(const FeedForward& by, bool clamps, const std::string& place, const Floats& x, std::size_t panels,
                    Floats& out, const Watched& watched) const;
  // The tokens that each expert of the layer gets.
  struct Routed {
    std::size_t panel, lane;
    float share;
  };
  std::vector<std::vector<Routed>> route(const LayerPlan& layer, const Batch& batch, const Floats& x,
                                         const Extras& extras, const Watched& watched) const;
  void run_experts(const LayerPlan& layer, const Batch& batch, const Floats& x, Floats& out, const Extras& extras,
                   const Watched& watched) const;
  void add_to_hidden(Floats& out, const Weight& norm, const LayerPlan& layer, std::size_t panels, Floats& hidden) const;
  // Whether the results of the heads need a buffer of their own, because they have another size than the queries.
  bool has_own_answers() const { return plan_.head != plan_.value_head; }
  Floats take_buffer(std::size_t size) const;
  void give_buffer(Floats buffer) const;

  const Plan& plan_;
  unsigned threads_;
  mutable std::mutex mutex_;  // protects what follows
  mutable std::vector<Floats> buffers_;
  mutable std::map<std::tuple<bool, std::size_t, std::size_t, std::size_t>, AnglesPtr> angles_;
};

}  // namespace tare::run
