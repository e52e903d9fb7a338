#include "run/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "base/parallel.hpp"

namespace tare::run {
namespace {

// The floats in a tile of rows of a weight (1 MiB). With very long rows, kFewRows of them take more.
constexpr std::size_t kTileFloats = std::size_t{1} << 18;
constexpr std::size_t kFewRows = 12, kMostRows = 96;
// How many columns are multiplied at a time: so many features of a panel take 32 KiB, which stays in a fast cache.
constexpr std::size_t kDepth = 256;
// Floats between the rows of a tile: without them, rows with a power of two of columns would compete for the same lines
// of a cache.
constexpr std::size_t kPadding = 16;

std::size_t tile_rows(std::size_t rows, std::size_t columns, unsigned threads) {
  const std::size_t fitting = std::clamp(kTileFloats / std::max<std::size_t>(1, columns), kFewRows, kMostRows);
  // A small matrix is divided into smaller tiles, so that every thread gets some.
  const std::size_t share = (rows + threads - 1) / threads;
  const std::size_t wanted = std::min(fitting, std::max(share, kFewRows));
  return wanted / kFewRows * kFewRows;
}

std::size_t panels_for(std::size_t tokens) { return (tokens + kPanel - 1) / kPanel; }

const float* panel_of(const Floats& all, std::size_t panel, std::size_t features) {
  return all.data() + panel * features * kPanel;
}
float* panel_of(Floats& all, std::size_t panel, std::size_t features) { return all.data() + panel * features * kPanel; }

}  // namespace

void Batch::add(std::span<const std::int32_t> tokens) {
  const std::size_t count = panels_for(tokens.size());
  texts.push_back({tokens, panels, count});
  panels += count;
}

std::size_t Batch::longest() const {
  std::size_t most = 0;
  for (const Text& text : texts) most = std::max(most, text.tokens.size());
  return most;
}

std::vector<std::uint8_t> Batch::used() const {
  std::vector<std::uint8_t> all(panels);
  for (const Text& text : texts)
    for (std::size_t panel = 0; panel < text.panels; ++panel)
      all[text.first_panel + panel] = static_cast<std::uint8_t>(std::min(kPanel, text.tokens.size() - panel * kPanel));
  return all;
}

Floats Executor::take_buffer(std::size_t size) const {
  Floats buffer;
  {
    const std::scoped_lock lock(mutex_);
    if (!buffers_.empty()) {
      buffer = std::move(buffers_.back());
      buffers_.pop_back();
    }
  }
  if (buffer.size() < size) buffer.resize(size);
  return buffer;
}

void Executor::give_buffer(Floats buffer) const {
  const std::scoped_lock lock(mutex_);
  buffers_.push_back(std::move(buffer));
}

// y = by.weight * x + by.bias. Each item decodes a tile of rows and multiplies it with all panels.
void Executor::multiply(const Projection& by, const std::string& place, const Floats& x, std::size_t panels,
                        Floats& y) const {
  const Weight& weight = by.weight;
  const auto rows = static_cast<std::size_t>(weight.rows), columns = static_cast<std::size_t>(weight.columns);
  const std::size_t tile = tile_rows(rows, columns, thread_count(threads_)), stride = columns + kPadding;
  const std::vector<float> bias = by.bias.values(place);
  y.resize(panels * rows * kPanel);
  parallel_for((rows + tile - 1) / tile, threads_, [&](std::size_t item) {
    const std::size_t first = item * tile, count = std::min(tile, rows - first);
    Floats buffer = take_buffer(count * stride);
    // The rows are read without padding to the end of the buffer, then moved apart: no second buffer is needed.
    float *const padded = buffer.data(), *const read = padded + count * (stride - columns);
    weight.read(first, count, read, place);
    for (std::size_t r = 0; r < count; ++r)
      std::memmove(padded + r * stride, read + r * columns, columns * sizeof(float));
    for (std::size_t k = 0; k < columns; k += kDepth)
      for (std::size_t panel = 0; panel < panels; ++panel)
        (k == 0 ? set_product : add_product)(padded + k, stride, count, std::min(kDepth, columns - k),
                                             panel_of(x, panel, columns) + k * kPanel,
                                             panel_of(y, panel, rows) + first * kPanel);
    if (!bias.empty())
      for (std::size_t panel = 0; panel < panels; ++panel)
        add_bias(panel_of(y, panel, rows) + first * kPanel, bias.data() + first, count);
    give_buffer(std::move(buffer));
  });
}

void Executor::multiply(const Projection& by, const std::string& place, const Floats& x, std::size_t panels, Floats& y,
                        const Watched& watched) const {
  if (watched.watch != nullptr) watched.watch->see(by.weight, x, watched.used);
  multiply(by, place, x, panels, y);
}

void Executor::normalize_all(const Weight& weight, const Weight& bias, const std::string& place, const Floats& x,
                             std::size_t panels, Floats& out) const {
  const auto hidden = static_cast<std::size_t>(plan_.hidden);
  const std::vector<float> values = weight.values(place), added = bias.values(place);
  out.resize(panels * hidden * kPanel);
  parallel_for(panels, threads_, [&](std::size_t panel) {
    float* const to = panel_of(out, panel, hidden);
    normalize(plan_.norm, panel_of(x, panel, hidden), values.empty() ? nullptr : values.data(), hidden, plan_.epsilon,
              to);
    if (!added.empty()) add_bias(to, added.data(), hidden);
  });
}

void Executor::normalize_latent(const Weight& weight, const std::string& place, std::size_t panels, Floats& x) const {
  const std::vector<float> values = weight.values(place);
  parallel_for(panels, threads_, [&](std::size_t panel) {
    float* const one = panel_of(x, panel, values.size());
    normalize(Norm::rms, one, values.data(), values.size(), plan_.latent_epsilon, one);
  });
}

void Executor::embed(const Batch& batch, Floats& hidden) const {
  const auto features = static_cast<std::size_t>(plan_.hidden);
  hidden.assign(batch.panels * features * kPanel, 0.0f);
  std::vector<std::pair<const Text*, std::size_t>> panels;
  for (const Text& text : batch.texts)
    for (std::size_t panel = 0; panel < text.panels; ++panel) panels.emplace_back(&text, panel);
  parallel_for(panels.size(), threads_, [&](std::size_t item) {
    const auto [text, panel] = panels[item];
    std::vector<float> row(features);
    float* const out = panel_of(hidden, text->first_panel + panel, features);
    const std::size_t begin = panel * kPanel, count = std::min(kPanel, text->tokens.size() - begin);
    for (std::size_t t = 0; t < count; ++t) {
      plan_.embeddings.read(static_cast<std::uint64_t>(text->tokens[begin + t]), 1, row.data(), "the embeddings");
      for (std::size_t f = 0; f < features; ++f) out[f * kPanel + t] = row[f] * plan_.embedding_scale;
      if (!plan_.positions) continue;
      plan_.positions.read(text->before + begin + t, 1, row.data(), "the table of positions");
      for (std::size_t f = 0; f < features; ++f) out[f * kPanel + t] += row[f];
    }
  });
}

Executor::AnglesPtr Executor::angles(bool local, std::size_t length, std::size_t before, std::size_t count) const {
  constexpr std::size_t kMostKept = 16;  // a text that grows asks for other positions each time
  const Rope& rope = local ? plan_.local_rope : plan_.rope;
  // Only these depend on the length of the text.
  if (rope.kind != "dynamic" && rope.kind != "longrope") length = before + count;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = angles_.find({local, length, before, count}); found != angles_.end()) return found->second;
  }
  const Rotation rotation = rotation_of(rope, length);
  auto made = std::make_shared<Angles>();
  made->pairs = rotation.frequencies.size();
  const std::size_t panels = panels_for(count);
  made->cosines.resize(panels * made->pairs * kPanel);
  made->sines.resize(made->cosines.size());
  parallel_for(panels, threads_, [&](std::size_t panel) {
    for (std::size_t pair = 0; pair < made->pairs; ++pair)
      for (std::size_t t = 0; t < kPanel; ++t) {
        const std::size_t at = (panel * made->pairs + pair) * kPanel + t;
        // The angle in f32, as the libraries compute it.
        const double angle = static_cast<float>(before + panel * kPanel + t) * rotation.frequencies[pair];
        made->cosines[at] = static_cast<float>(std::cos(angle)) * rotation.scale;
        made->sines[at] = static_cast<float>(std::sin(angle)) * rotation.scale;
      }
  });
  const std::scoped_lock lock(mutex_);
  if (angles_.size() >= kMostKept) angles_.clear();
  return angles_[{local, length, before, count}] = made;
}

// Clamps, normalizes and rotates queries or keys.
void Executor::prepare_heads(const Weight& norm, const LayerPlan& layer, const Batch& batch, std::size_t heads,
                             bool queries, Floats& x) const {
  const auto head = static_cast<std::size_t>(plan_.head), unrotated = static_cast<std::size_t>(plan_.unrotated);
  const std::vector<float> weights = norm.values(layer.place);
  const std::size_t longest = batch.longest();
  struct Item {
    std::size_t panel, in_text;  // the numbers of the panel
    std::size_t position;
    AnglesPtr angles;
  };
  std::vector<Item> items;
  for (const Text& text : batch.texts) {
    const std::size_t length = text.stated != 0 ? text.stated : text.before + text.tokens.size();
    const AnglesPtr turns = layer.rotates ? angles(layer.local_rope, length, text.before, longest) : nullptr;
    for (std::size_t panel = 0; panel < text.panels; ++panel)
      items.push_back({text.first_panel + panel, panel, text.before + panel * kPanel, turns});
  }
  parallel_for(items.size(), threads_, [&](std::size_t i) {
    const Item& item = items[i];
    float* const all = panel_of(x, item.panel, heads * head);
    if (plan_.most != 0 && !plan_.clamps_after_norm) clamp(all, plan_.most, heads * head);
    if (!weights.empty() && plan_.wide_qk_norms)
      normalize(Norm::rms, all, weights.data(), heads * head, plan_.epsilon, all);
    if (plan_.most != 0 && plan_.clamps_after_norm) clamp(all, plan_.most, heads * head);
    float factors[kPanel];
    for (std::size_t t = 0; t < kPanel; ++t)
      factors[t] =
          1 + plan_.position_scale * static_cast<float>(std::log(1 + std::floor(static_cast<double>(item.position + t) /
                                                                                std::max(1.0, plan_.rope.original))));
    for (std::size_t h = 0; h < heads; ++h) {
      float* const one = all + h * head * kPanel;
      const auto normalize_one = [&](bool now) {
        if (!weights.empty() && !plan_.wide_qk_norms && now)
          normalize(Norm::rms, one, weights.data(), head, plan_.epsilon, one);
      };
      normalize_one(!plan_.norms_after_rotation);
      if (item.angles != nullptr) {
        const std::size_t at = item.in_text * item.angles->pairs * kPanel;
        const auto turn = plan_.rotates_neighbours ? rotate_neighbours : rotate;
        turn(one + unrotated * kPanel, item.angles->cosines.data() + at, item.angles->sines.data() + at,
             item.angles->pairs);
      }
      normalize_one(plan_.norms_after_rotation);
      if (queries && plan_.position_scale != 0) scale_tokens(one, factors, head);
    }
  });
}

namespace {

// The first position that a query looks at.
std::size_t first_seen(const LayerPlan& layer, std::size_t query) {
  const auto window = static_cast<std::size_t>(layer.window);
  return window == 0 || query + 1 <= window ? 0 : query + 1 - window;
}

}  // namespace

Executor::PastPanels Executor::past_of(const LayerPlan& layer, const Batch& batch, const Past& past) const {
  PastPanels made;
  const std::size_t before = batch.texts.front().before;
  made.first = first_seen(layer, before) / kPanel;
  const std::size_t panels = panels_for(before) - made.first;
  const auto turn = [&](const float* rows, std::uint64_t width, Floats& out) {
    const auto features = static_cast<std::size_t>(width);
    out.resize(panels * features * kPanel);
    parallel_for(panels, threads_, [&](std::size_t panel) {
      const std::size_t begin = (made.first + panel) * kPanel, count = std::min(kPanel, before - begin);
      float* const to = panel_of(out, panel, features);
      for (std::size_t t = 0; t < count; ++t)
        for (std::size_t f = 0; f < features; ++f) to[f * kPanel + t] = rows[(begin + t) * features + f];
    });
  };
  turn(past.keys, plan_.keys(), made.k);
  turn(past.values, plan_.values(), made.v);
  return made;
}

// `answers` may be the buffer of the queries: this call alone reads the queries that it overwrites.
void Executor::attend_head(const LayerPlan& layer, const Text& text, std::size_t panel, std::size_t head,
                           const Heads& from, const PastPanels& past, float sink, Floats& answers) const {
  const auto size = static_cast<std::size_t>(plan_.head), value_size = static_cast<std::size_t>(plan_.value_head),
             heads = static_cast<std::size_t>(plan_.heads), kv_heads = static_cast<std::size_t>(plan_.kv_heads);
  const std::size_t shared = head / (heads / kv_heads);
  // Keys are those of tokens before the text, if the window reaches so far, then those of its own panels.
  const std::size_t first_query = text.before + panel * kPanel, seen = first_seen(layer, first_query),
                    skipped = seen > text.before ? (seen - text.before) / kPanel : 0,
                    first_key = seen < text.before ? seen / kPanel * kPanel : text.before + skipped * kPanel,
                    keys = text.before + (panel + 1) * kPanel - first_key;
  const auto for_each_panel = [&](const Floats& old, const Floats& own, std::size_t features, const auto& visit) {
    const std::size_t width = kv_heads * features, at = shared * features * kPanel;
    std::size_t row = 0;
    const std::size_t old_panels = seen < text.before ? panels_for(text.before) : 0;
    for (std::size_t j = seen / kPanel; j < old_panels; ++j) {
      const std::size_t count = std::min(kPanel, text.before - j * kPanel);
      visit(panel_of(old, j - past.first, width) + at, row, count);
      row += count;
    }
    for (std::size_t j = skipped; j <= panel; ++j, row += kPanel)
      visit(panel_of(own, text.first_panel + j, width) + at, row, kPanel);
  };
  Floats buffer = take_buffer(keys * kPanel + value_size * kPanel);
  float *const scores = buffer.data(), *const sum = scores + keys * kPanel;
  std::fill_n(scores, keys * kPanel + value_size * kPanel, 0.0f);
  const float* const query = panel_of(from.q, text.first_panel + panel, heads * size) + head * size * kPanel;
  for_each_panel(past.k, from.k, size, [&](const float* k, std::size_t row, std::size_t count) {
    add_transposed(k, count, size, query, scores + row * kPanel);
  });
  scale(scores, plan_.attention_scale, keys);
  if (plan_.attention_cap != 0) soft_cap(scores, plan_.attention_cap, keys);
  float sums[kPanel];
  soften(scores, keys, {first_query, first_key, static_cast<std::size_t>(layer.window), sink}, sums);
  for_each_panel(past.v, from.v, value_size, [&](const float* v, std::size_t row, std::size_t count) {
    add_product(v, kPanel, value_size, count, scores + row * kPanel, sum);
  });
  divide_tokens(sum, sums, value_size);
  std::copy_n(sum, value_size * kPanel,
              panel_of(answers, text.first_panel + panel, heads * value_size) + head * value_size * kPanel);
  give_buffer(std::move(buffer));
}

void Executor::make_heads(const LayerPlan& layer, std::size_t panels, const Floats& x, Heads& out,
                          const Watched& watched) const {
  multiply(layer.q, layer.place, x, panels, out.q, watched);
  multiply(layer.k, layer.place, x, panels, out.k, watched);
  multiply(layer.v, layer.place, x, panels, out.v, watched);
}

// The end of the compressed vector is the rotated part of the keys, which all heads share.
void Executor::make_latent_heads(const LayerPlan& layer, std::size_t panels, const Floats& x, Heads& out,
                                 const Watched& watched) const {
  const auto heads = static_cast<std::size_t>(plan_.heads), head = static_cast<std::size_t>(plan_.head),
             value = static_cast<std::size_t>(plan_.value_head), unrotated = static_cast<std::size_t>(plan_.unrotated),
             latent = static_cast<std::size_t>(plan_.latent);
  Floats joined, small, expanded;
  if (plan_.query_latent == 0) {
    multiply(layer.q, layer.place, x, panels, out.q, watched);
  } else {
    multiply(layer.q_compress, layer.place, x, panels, small, watched);
    normalize_latent(layer.q_compress_norm, layer.place, panels, small);
    multiply(layer.q, layer.place, small, panels, out.q, watched);
  }
  multiply(layer.kv_compress, layer.place, x, panels, joined, watched);
  small.resize(panels * latent * kPanel);
  const std::size_t rotated = head - unrotated, both = latent + rotated;
  for (std::size_t panel = 0; panel < panels; ++panel)
    std::copy_n(panel_of(joined, panel, both), latent * kPanel, panel_of(small, panel, latent));
  normalize_latent(layer.kv_compress_norm, layer.place, panels, small);
  multiply(layer.kv_expand, layer.place, small, panels, expanded, watched);
  out.k.resize(panels * heads * head * kPanel), out.v.resize(panels * heads * value * kPanel);
  parallel_for(panels, threads_, [&](std::size_t panel) {
    const float* from = panel_of(expanded, panel, heads * (unrotated + value));
    const float* const turned = panel_of(joined, panel, both) + latent * kPanel;
    float *k = panel_of(out.k, panel, heads * head), *v = panel_of(out.v, panel, heads * value);
    for (std::size_t h = 0; h < heads; ++h) {
      k = std::copy_n(from, unrotated * kPanel, k);
      k = std::copy_n(turned, rotated * kPanel, k);
      v = std::copy_n(from + unrotated * kPanel, value * kPanel, v);
      from += (unrotated + value) * kPanel;
    }
  });
}

void Executor::attend(const LayerPlan& layer, const Batch& batch, const Floats& x, Floats& out, const Extras& extras,
                      const Watched& watched) const {
  const auto heads = static_cast<std::size_t>(plan_.heads), kv_heads = static_cast<std::size_t>(plan_.kv_heads);
  Heads made;
  if (plan_.latent != 0)
    make_latent_heads(layer, batch.panels, x, made, watched);
  else
    make_heads(layer, batch.panels, x, made, watched);
  if (plan_.most != 0) clamp(made.v.data(), plan_.most, made.v.size() / kPanel);
  prepare_heads(layer.q_norm, layer, batch, heads, true, made.q);
  prepare_heads(layer.k_norm, layer, batch, kv_heads, false, made.k);
  std::vector<std::pair<const Text*, std::size_t>> panels;
  for (const Text& text : batch.texts)
    for (std::size_t panel = text.panels; panel-- > 0;) panels.emplace_back(&text, panel);  // the longest first
  const PastPanels past = extras.past.keys != nullptr ? past_of(layer, batch, extras.past) : PastPanels();
  const std::vector<float> sinks = layer.sinks.values(layer.place);
  Floats own;
  if (has_own_answers()) own.resize(batch.panels * static_cast<std::size_t>(plan_.answers()) * kPanel);
  Floats& answers = has_own_answers() ? own : made.q;
  parallel_for(panels.size() * heads, threads_, [&](std::size_t item) {
    const auto& [text, panel] = panels[item / heads];
    const float sink = sinks.empty() ? Mask().sink : sinks[item % heads];
    attend_head(layer, *text, panel, item % heads, made, past, sink, answers);
  });
  if (extras.keys != nullptr) *extras.keys = std::move(made.k);
  if (extras.values != nullptr) *extras.values = std::move(made.v);
  if (layer.attention_gate.weight) gate_answers(layer, batch.panels, x, answers, watched);
  multiply(layer.o, layer.place, answers, batch.panels, out, watched);
}

void Executor::gate_answers(const LayerPlan& layer, std::size_t panels, const Floats& x, Floats& answers,
                            const Watched& watched) const {
  const auto features = static_cast<std::size_t>(plan_.answers());
  Floats gate;
  multiply(layer.attention_gate, layer.place, x, panels, gate, watched);
  parallel_for(panels, threads_, [&](std::size_t panel) {
    float* const to = panel_of(answers, panel, features);
    const float* const from = panel_of(gate, panel, features);
    for (std::size_t i = 0; i < features * kPanel; ++i) to[i] /= 1 + std::exp(-from[i]);
  });
}

// `inputs`: queries, keys, values, gates, steps and shares of all heads; the last three may be empty.
void Executor::run_state_head(StateHead& head, const Text& text, std::size_t number, const std::vector<Floats>& inputs,
                              Floats& answers) const {
  const StateSizes& sizes = plan_.state;
  const auto shared = static_cast<std::size_t>(sizes.shared()), values = shared * static_cast<std::size_t>(sizes.value),
             keys = static_cast<std::size_t>(sizes.key == 0 ? sizes.value : sizes.key);
  const std::size_t widths[] = {keys, keys, values, values, shared, shared};
  std::vector<std::vector<float>> rows;
  for (const std::size_t width : widths) rows.emplace_back(width);
  std::vector<float> made(values);
  const auto all = static_cast<std::size_t>(sizes.values());
  for (std::size_t token = 0; token < text.tokens.size(); ++token) {
    const std::size_t panel = text.first_panel + token / kPanel, lane = token % kPanel;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (inputs[i].empty()) continue;
      const std::size_t width = widths[i];
      const float* const from = panel_of(inputs[i], panel, width * static_cast<std::size_t>(sizes.key_heads)) +
                                number * width * kPanel + lane;
      for (std::size_t f = 0; f < width; ++f) rows[i][f] = from[f * kPanel];
    }
    head.step({.q = rows[0].data(),
               .k = rows[1].data(),
               .v = rows[2].data(),
               .gate = rows[3].data(),
               .step = rows[4].data(),
               .share = rows[5].data()},
              made.data());
    float* const to = panel_of(answers, panel, all) + number * values * kPanel + lane;
    for (std::size_t f = 0; f < values; ++f) to[f * kPanel] = made[f];
  }
}

void Executor::run_state(const LayerPlan& layer, const Batch& batch, const Floats& x, Floats& out, const Extras& extras,
                         const Watched& watched) const {
  const StateWeights& weights = layer.state;
  std::vector<Floats> inputs(6);
  const Projection* const by[] = {&weights.q, &weights.k, &weights.v, &weights.gate, &weights.step, &weights.share};
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (by[i]->weight) multiply(*by[i], layer.place, x, batch.panels, inputs[i], watched);
  StateParts own;
  if (extras.parts == nullptr) own = state_parts(weights, layer.place, plan_.epsilon);
  const StateParts& parts = extras.parts == nullptr ? own : *extras.parts;
  const auto heads = static_cast<std::size_t>(plan_.state.key_heads);
  Floats answers;
  answers.assign(batch.panels * static_cast<std::size_t>(plan_.state.values()) * kPanel, 0.0f);
  if (extras.states != nullptr && extras.states->empty())
    for (std::size_t i = 0; i < heads; ++i) extras.states->emplace_back(plan_.state, parts, i);
  parallel_for(batch.texts.size() * heads, threads_, [&](std::size_t item) {
    const Text& text = batch.texts[item / heads];
    const std::size_t number = item % heads;
    StateHead fresh(plan_.state, parts, number);
    run_state_head(extras.states == nullptr ? fresh : (*extras.states)[number], text, number, inputs, answers);
  });
  multiply(weights.out, layer.place, answers, batch.panels, out, watched);
}

void Executor::feed_forward(const FeedForward& by, bool clamps, const std::string& place, const Floats& x,
                            std::size_t panels, Floats& out, const Watched& watched) const {
  Floats gate, up;
  const auto rows = static_cast<std::size_t>(by.up.weight.rows);
  multiply(by.up, place, x, panels, up, watched);
  if (by.gate.weight) {
    multiply(by.gate, place, x, panels, gate, watched);
  } else {
    gate = up;
    if (!plan_.squares) std::ranges::fill(up, 1.0f);
  }
  parallel_for(panels, threads_, [&](std::size_t panel) {
    float *const to = panel_of(gate, panel, rows), *const from = panel_of(up, panel, rows);
    if (clamps)
      apply_clamped_gate(plan_.gate_sharpness, plan_.gate_limit, to, from, rows);
    else
      apply_gate(plan_.activation, to, from, rows);
  });
  up = {};
  multiply(by.down, place, gate, panels, out, watched);
}

std::vector<std::vector<Executor::Routed>> Executor::route(const LayerPlan& layer, const Batch& batch, const Floats& x,
                                                           const Extras& extras, const Watched& watched) const {
  Floats scores;
  multiply(layer.router, layer.place, x, batch.panels, scores, watched);
  const std::size_t experts = layer.experts.size(), used = plan_.routing.used;
  const std::vector<float> bias = layer.choice_bias.values(layer.place);
  Router router(plan_.routing, bias);
  std::vector<std::vector<Routed>> routed(experts);
  std::vector<std::uint32_t> order(used);
  const bool keeps_choice = extras.given != nullptr && extras.given->used == used && extras.given->experts == experts;
  if (extras.chosen != nullptr)
    *extras.chosen = {used, experts, std::vector<std::uint32_t>(batch.panels * kPanel * used)};
  for (const Text& text : batch.texts)
    for (std::size_t token = 0; token < text.tokens.size(); ++token) {
      const std::size_t panel = text.first_panel + token / kPanel, lane = token % kPanel;
      const float* const logits = panel_of(scores, panel, experts) + lane;
      for (std::size_t e = 0; e < experts; ++e) router.logits()[e] = logits[e * kPanel];
      router.score();
      const std::size_t place = (panel * kPanel + lane) * used;
      if (keeps_choice)
        std::copy_n(extras.given->all.data() + place, used, order.begin());
      else
        router.choose(order);
      if (extras.chosen != nullptr) std::copy_n(order.begin(), used, extras.chosen->all.data() + place);
      const std::span<const float> weights = router.weights(order);
      for (std::size_t i = 0; i < used; ++i) routed[order[i]].push_back({panel, lane, weights[i]});
    }
  return routed;
}

void Executor::run_experts(const LayerPlan& layer, const Batch& batch, const Floats& x, Floats& out,
                           const Extras& extras, const Watched& watched) const {
  const auto hidden = static_cast<std::size_t>(plan_.hidden);
  const std::size_t experts = layer.experts.size();
  const bool clamps = plan_.gate_sharpness != 0;
  const std::vector<std::vector<Routed>> routed = route(layer, batch, x, extras, watched);
  out.assign(batch.panels * hidden * kPanel, 0.0f);
  Floats gathered, made;
  for (std::size_t expert = 0; expert < experts; ++expert) {
    const std::vector<Routed>& tokens = routed[expert];
    if (tokens.empty()) continue;
    const std::size_t panels = panels_for(tokens.size());
    gathered.assign(panels * hidden * kPanel, 0.0f);
    parallel_for(panels, threads_, [&](std::size_t panel) {
      for (std::size_t i = panel * kPanel; i < std::min((panel + 1) * kPanel, tokens.size()); ++i)
        for (std::size_t f = 0; f < hidden; ++f)
          panel_of(gathered, panel, hidden)[f * kPanel + i % kPanel] =
              panel_of(x, tokens[i].panel, hidden)[f * kPanel + tokens[i].lane];
    });
    std::vector<std::uint8_t> used(panels, static_cast<std::uint8_t>(kPanel));
    if (tokens.size() % kPanel != 0) used.back() = static_cast<std::uint8_t>(tokens.size() % kPanel);
    feed_forward(layer.experts[expert], clamps, layer.place, gathered, panels, made, {watched.watch, used});
    parallel_for(panels, threads_, [&](std::size_t panel) {
      for (std::size_t i = panel * kPanel; i < std::min((panel + 1) * kPanel, tokens.size()); ++i)
        for (std::size_t f = 0; f < hidden; ++f)
          panel_of(out, tokens[i].panel, hidden)[f * kPanel + tokens[i].lane] +=
              panel_of(made, panel, hidden)[f * kPanel + i % kPanel] * tokens[i].share;
    });
  }
  if (!layer.shared.gate.weight) return;
  Floats share;
  if (layer.shared_router) {
    if (watched.watch != nullptr) watched.watch->see(layer.shared_router, x, watched.used);
    multiply({layer.shared_router, {}}, layer.place, x, batch.panels, share);
  }
  feed_forward(layer.shared, clamps, layer.place, x, batch.panels, made, watched);
  parallel_for(batch.panels, threads_, [&](std::size_t panel) {
    float* const one = panel_of(made, panel, hidden);
    if (layer.shared_router) scale_by_sigmoid(one, panel_of(share, panel, 1), hidden);
    add_scaled(one, 1, hidden, panel_of(out, panel, hidden));
  });
}

void Executor::add_to_hidden(Floats& out, const Weight& norm, const LayerPlan& layer, std::size_t panels,
                             Floats& hidden) const {
  const auto features = static_cast<std::size_t>(plan_.hidden);
  const std::vector<float> weights = norm.values(layer.place);
  parallel_for(panels, threads_, [&](std::size_t panel) {
    float *const from = panel_of(out, panel, features), *const to = panel_of(hidden, panel, features);
    if (plan_.norms_after)
      normalize(plan_.norm, from, weights.empty() ? nullptr : weights.data(), features, plan_.epsilon, from);
    add_scaled(from, plan_.residual_scale, features, to);
    if (!all_finite(to, features * kPanel))
      throw Error(ErrorKind::corrupt, "run.overflow",
                  fmt::format("the hidden states after {} are not finite, though its weights are", layer.place))
          .in(plan_.file)
          .blame(Subject::input);
  });
}

void Executor::run_layer(std::size_t number, const Batch& batch, Floats& hidden, const Extras& extras) const {
  const LayerPlan& layer = plan_.layers.at(number);
  const std::vector<std::uint8_t> used = extras.watch == nullptr ? std::vector<std::uint8_t>() : batch.used();
  const Watched watched{extras.watch, used};
  Floats x, out;
  const auto enter = [&](const Weight& norm, const Weight& bias) -> const Floats& {
    if (!plan_.norms_first) return hidden;
    normalize_all(norm, bias, layer.place, hidden, batch.panels, x);
    return x;
  };
  const Floats& before = enter(layer.attention_norm, layer.attention_norm_bias);
  if (layer.state)
    run_state(layer, batch, before, out, extras, watched);
  else
    attend(layer, batch, before, out, extras, watched);
  Floats more;
  // A network without a norm of its own gets what attention got.
  if (plan_.parallel)
    run_networks(layer, batch, layer.ffn_norm ? enter(layer.ffn_norm, layer.ffn_norm_bias) : before, more, extras,
                 watched);
  add_to_hidden(out, layer.post_attention_norm, layer, batch.panels, hidden);
  if (!plan_.parallel) run_networks(layer, batch, enter(layer.ffn_norm, layer.ffn_norm_bias), more, extras, watched);
  add_to_hidden(more, layer.post_ffn_norm, layer, batch.panels, hidden);
}

void Executor::run_networks(const LayerPlan& layer, const Batch& batch, const Floats& x, Floats& out,
                            const Extras& extras, const Watched& watched) const {
  if (layer.router.weight)
    run_experts(layer, batch, x, out, extras, watched);
  else
    feed_forward(layer.ffn, false, layer.place, x, batch.panels, out, watched);
}

void Executor::watch_head(const Batch& batch, const Floats& hidden, InputWatch& watch) const {
  Floats x;
  normalize_all(plan_.final_norm, plan_.final_norm_bias, "the final norm", hidden, batch.panels, x);
  watch.see(plan_.head_weight, x, batch.used());
}

void Executor::logits(const Floats& hidden, std::size_t first, std::size_t count, Floats& out) const {
  const auto features = static_cast<std::size_t>(plan_.hidden);
  const auto begin = hidden.begin() + static_cast<std::ptrdiff_t>(first * features * kPanel);
  const Floats part(begin, begin + static_cast<std::ptrdiff_t>(count * features * kPanel));
  Floats x;
  normalize_all(plan_.final_norm, plan_.final_norm_bias, "the final norm", part, count, x);
  multiply({plan_.head_weight, plan_.head_bias}, "the output head", x, count, out);
  const std::size_t rows = static_cast<std::size_t>(plan_.vocabulary);
  parallel_for(count, threads_, [&](std::size_t panel) {
    float* const logits = panel_of(out, panel, rows);
    // What is measured with them would be NaN, or nothing at all.
    if (!all_finite(logits, rows * kPanel))
      throw Error(ErrorKind::corrupt, "run.overflow", "the logits are not finite, though the weights are")
          .in(plan_.file)
          .blame(Subject::input);
    if (plan_.output_divisor != 1) scale(logits, 1 / plan_.output_divisor, rows);
    if (plan_.output_cap != 0) soft_cap(logits, plan_.output_cap, rows);
  });
}

}  // namespace tare::run
