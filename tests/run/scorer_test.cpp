// Logits against a reference that computes one number after another in double, and every way in which a model cannot be
// run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "conformance/scratch.hpp"
#include "resources/json_file.hpp"
#include "run/tiny_models.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

using testing::rule_of;
using testing::set_config;
using testing::tiny_config;
using testing::tiny_model;
using testing::tiny_tokens;
using testing::TinyShape;
using Tokens = std::vector<std::int32_t>;
using Row = std::vector<double>;

std::vector<double> weights(const Model& model, const std::string& name) {
  const Tensor* const tensor = model.tensor(name);
  return tensor == nullptr ? std::vector<double>() : tensor->values<double>();
}

Row product(const std::vector<double>& matrix, const Row& x, const std::vector<double>& bias = {}) {
  Row y(matrix.size() / x.size());
  for (std::size_t r = 0; r < y.size(); ++r) {
    y[r] = bias.empty() ? 0 : bias[r];
    for (std::size_t c = 0; c < x.size(); ++c) y[r] += matrix[r * x.size() + c] * x[c];
  }
  return y;
}

Row normalized(const Row& x, const std::vector<double>& weight) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double factor = 1 / std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
  Row y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * factor * weight[i];
  return y;
}

// A Llama with a window for all layers (0: none).
std::vector<double> reference(const Model& model, const TinyShape& shape, const Tokens& tokens, std::size_t window) {
  const auto head = static_cast<std::size_t>(shape.head), heads = static_cast<std::size_t>(shape.heads),
             group = heads / static_cast<std::size_t>(shape.kv_heads), hidden = static_cast<std::size_t>(shape.hidden);
  const std::vector<double> table = weights(model, "model.embed_tokens.weight");
  std::vector<Row> states;
  for (const std::int32_t token : tokens) {
    const auto begin = table.begin() + token * static_cast<std::ptrdiff_t>(hidden);
    states.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(hidden));
  }
  const auto rotate = [&](Row& x, std::size_t position) {
    for (std::size_t h = 0; h < x.size(); h += head)
      for (std::size_t i = 0; i < head / 2; ++i) {
        const double angle =
            static_cast<double>(position) * std::pow(10000.0, -2 * static_cast<double>(i) / static_cast<double>(head));
        const double a = x[h + i], b = x[h + head / 2 + i];
        x[h + i] = a * std::cos(angle) - b * std::sin(angle);
        x[h + head / 2 + i] = b * std::cos(angle) + a * std::sin(angle);
      }
  };
  for (std::uint64_t layer = 0; layer < shape.layers; ++layer) {
    const auto of = [&](std::string_view name) {
      return weights(model, fmt::format("model.layers.{}.{}", layer, name));
    };
    std::vector<Row> q, k, v;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      const Row x = normalized(states[t], of("input_layernorm.weight"));
      q.push_back(product(of("self_attn.q_proj.weight"), x, of("self_attn.q_proj.bias")));
      k.push_back(product(of("self_attn.k_proj.weight"), x, of("self_attn.k_proj.bias")));
      v.push_back(product(of("self_attn.v_proj.weight"), x, of("self_attn.v_proj.bias")));
      rotate(q[t], t), rotate(k[t], t);
    }
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      Row seen(heads * head);
      for (std::size_t h = 0; h < heads; ++h) {
        const std::size_t first = window == 0 || t + 1 <= window ? 0 : t + 1 - window;
        std::vector<double> shares;
        double total = 0;
        for (std::size_t u = first; u <= t; ++u) {
          double score = 0;
          for (std::size_t i = 0; i < head; ++i) score += q[t][h * head + i] * k[u][h / group * head + i];
          shares.push_back(std::exp(score / std::sqrt(static_cast<double>(head))));
          total += shares.back();
        }
        for (std::size_t u = first; u <= t; ++u)
          for (std::size_t i = 0; i < head; ++i)
            seen[h * head + i] += shares[u - first] / total * v[u][h / group * head + i];
      }
      const Row added = product(of("self_attn.o_proj.weight"), seen);
      for (std::size_t i = 0; i < hidden; ++i) states[t][i] += added[i];
      const Row x = normalized(states[t], of("post_attention_layernorm.weight"));
      Row gate = product(of("mlp.gate_proj.weight"), x);
      const Row up = product(of("mlp.up_proj.weight"), x);
      for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
      const Row more = product(of("mlp.down_proj.weight"), gate);
      for (std::size_t i = 0; i < hidden; ++i) states[t][i] += more[i];
    }
  }
  std::vector<double> logits;
  for (const Row& state : states) {
    const Row row = product(weights(model, shape.tied ? "model.embed_tokens.weight" : "lm_head.weight"),
                            normalized(state, weights(model, "model.norm.weight")));
    logits.insert(logits.end(), row.begin(), row.end());
  }
  return logits;
}

void expect_near(const std::vector<float>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  double most = 0, off = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    most = std::max(most, std::fabs(expected[i]));
    off = std::max(off, std::fabs(static_cast<double>(found[i]) - expected[i]));
  }
  EXPECT_LT(off, 1e-5 * most) << "the largest logit is " << most;
}

std::string sentence_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RunScorer, EqualsTheReference) {
  for (const std::size_t count : {1, 31, 32, 33, 100}) {
    for (const bool tied : {false, true}) {
      const TinyShape shape{.tied = tied};
      const Model model = tiny_model("llama", shape);
      const Tokens tokens = tiny_tokens(count, shape.vocabulary);
      expect_near(run::Scorer(model).logits(tokens), reference(model, shape, tokens, 0));
    }
  }
}

TEST(RunScorer, BiasesAndOneHeadOfKeys) {
  const TinyShape shape{.vocabulary = 7,
                        .hidden = 9,
                        .intermediate = 5,
                        .layers = 2,
                        .heads = 3,
                        .kv_heads = 1,
                        .head = 4,
                        .biases = true};
  const Model model = tiny_model("qwen2", shape);
  const Tokens tokens = tiny_tokens(50, shape.vocabulary);
  expect_near(run::Scorer(model).logits(tokens), reference(model, shape, tokens, 0));
}

TEST(RunScorer, Windows) {
  for (const std::size_t window : {1, 5, 32, 33, 60}) {
    const TinyShape shape;
    const Model model = tiny_model("mistral", shape, fmt::format(R"(, "sliding_window": {})", window));
    const Tokens tokens = tiny_tokens(110, shape.vocabulary);
    expect_near(run::Scorer(model).logits(tokens), reference(model, shape, tokens, window));
  }
}

TEST(RunScorer, WideMatrices) {
  // More columns than are multiplied at a time, and more rows than a tile has.
  const TinyShape shape{
      .vocabulary = 301, .hidden = 300, .intermediate = 530, .layers = 1, .heads = 5, .kv_heads = 5, .head = 60};
  const Model model = tiny_model("llama", shape);
  const Tokens tokens = tiny_tokens(40, shape.vocabulary);
  expect_near(run::Scorer(model).logits(tokens), reference(model, shape, tokens, 0));
}

TEST(RunScorer, PiecesKnowNothingOfEachOther) {
  const TinyShape shape;
  const Model model = tiny_model("llama", shape);
  const run::Scorer scorer(model);
  const Tokens tokens = tiny_tokens(100, shape.vocabulary);
  const std::vector<float> cut = scorer.logits(tokens, {.context = 40});
  std::vector<float> alone;
  for (std::size_t first = 0; first < 100; first += 40) {
    const std::vector<float> one =
        scorer.logits(std::span(tokens).subspan(first, std::min<std::size_t>(40, 100 - first)));
    alone.insert(alone.end(), one.begin(), one.end());
  }
  EXPECT_EQ(cut, alone);
  const std::vector<float> begun = scorer.logits(tokens, {.context = 50, .begin = 3});
  Tokens changed(tokens.begin() + 50, tokens.end());
  changed[0] = 3;
  const std::vector<float> second = scorer.logits(changed);
  EXPECT_TRUE(std::equal(second.begin(), second.end(), begun.begin() + 50 * 53));
}

TEST(RunScorer, NeitherThreadsNorMemoryChangeTheResult) {
  const TinyShape shape;
  const Model model = tiny_model("llama", shape);
  const run::Scorer scorer(model);
  const Tokens tokens = tiny_tokens(200, shape.vocabulary);
  const std::vector<float> expected = scorer.logits(tokens, {.context = 30, .work = {.threads = 1}});
  EXPECT_EQ(scorer.logits(tokens, {.context = 30, .work = {.threads = 3}}), expected);
  // Every piece is a batch of its own, and the hidden states are in a file.
  EXPECT_EQ(scorer.logits(tokens, {.memory = 1, .context = 30}), expected);
}

TEST(RunScorer, AnyType) {
  TinyShape shape{.tied = true};
  Model model = tiny_model("llama", shape);
  for (Tensor& tensor : model.tensors) tensor = cast(tensor, DType::bf16);
  const Tokens tokens = tiny_tokens(40, shape.vocabulary);
  expect_near(run::Scorer(model).logits(tokens), reference(model, shape, tokens, 0));
}

// What transformers computes, for every family (tests/real/run.py recorded it).
TEST(RunScorer, EqualsTransformers) {
  const std::vector<testing::GoldenModel> golden = testing::golden_models();
  EXPECT_GE(golden.size(), 20u);
  for (const auto& [name, model, facts] : golden) {
    const std::vector<float> logits = run::Scorer(model).logits(tiny_tokens(45, 31));
    const List& expected = *facts.find("logits")->get<List>();
    const double largest = *resources::number_of(*facts.find("largest"));
    constexpr std::pair<std::size_t, std::size_t> kShown[] = {{5, 0}, {33, 3}, {44, 8}, {44, 20}};  // token, logit
    ASSERT_EQ(expected.size(), std::size(kShown));
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(static_cast<double>(logits[kShown[i].first * 31 + kShown[i].second]),
                  *resources::number_of(expected[i]), 1e-4 * largest)
          << name;
  }
}

TEST(RunScorer, RefusesTokens) {
  const run::Scorer scorer(tiny_model("llama", {}));
  EXPECT_EQ(rule_of([&] { (void)scorer.logits({}); }), "run.tokens");
  for (const std::int32_t token : {-1, 53, std::numeric_limits<std::int32_t>::max()})
    EXPECT_EQ(rule_of([&] { (void)scorer.logits(Tokens{1, token}); }), "run.tokens") << token;
  EXPECT_EQ(rule_of([&] { (void)scorer.logits(Tokens{1}, {.begin = 53}); }), "run.tokens");
  EXPECT_EQ(rule_of([&] { (void)scorer.logits(tiny_tokens(257, 53)); }), "run.context");
  EXPECT_EQ(scorer.logits(tiny_tokens(257, 53), {.context = 256}).size(), 257u * 53);
  EXPECT_EQ(rule_of([&] { (void)perplexity(scorer, tiny_tokens(20, 53), {.context = 21}); }), "run.tokens");
}

TEST(RunScorer, NamesAllTensorsThatDoNotFit) {
  Model model = tiny_model("llama", {});
  std::erase_if(model.tensors, [](const Tensor& tensor) {
    return tensor.name == "model.layers.1.mlp.up_proj.weight" || tensor.name == "model.norm.weight";
  });
  *model.tensor("model.layers.2.self_attn.k_proj.weight") =
      dense<float>("model.layers.2.self_attn.k_proj.weight", {12, 19}, std::vector<float>(228));
  const std::string said = sentence_of([&] { const run::Scorer scorer(model); });
  for (const std::string_view part :
       {"run.tensors", "model.layers.1.mlp.up_proj.weight (37x20)", "model.norm.weight (20)",
        "model.layers.2.self_attn.k_proj.weight: expected 12x20, found 12x19"})
    EXPECT_NE(said.find(part), said.npos) << part << " in " << said;
}

TEST(RunScorer, RefusesConfigs) {
  const auto rule = [](std::string_view type, std::string_view more, const TinyShape& shape = {}) {
    Model model = tiny_model("llama", {});
    set_config(model, tiny_config(type, shape, more));
    return rule_of([&] { const run::Scorer scorer(model); });
  };
  EXPECT_EQ(rule("llama", ""), "");
  EXPECT_EQ(rule("no_such_type", ""), "run.family");
  EXPECT_EQ(rule("tiny_llama", ""), "run.family");
  // Its names and sizes are known, but not what it computes: positions by slopes.
  EXPECT_EQ(rule("bloom", ""), "run.family");
  EXPECT_EQ(rule("llama", R"(, "hidden_act": "no_such")"), "run.setting");
  EXPECT_EQ(rule("llama", R"(, "rope_scaling": {"rope_type": "no_such"})"), "run.setting");
  EXPECT_EQ(rule("llama", R"(, "rope_scaling": {"rope_type": "linear"})"), "run.setting");
  EXPECT_EQ(rule("llama", R"(, "rope_theta": -3)"), "run.setting");
  EXPECT_EQ(rule("llama", "", {.kv_heads = 3}), "run.config");
  EXPECT_EQ(rule("llama", "", {.heads = 0}), "run.config");
  EXPECT_EQ(rule("llama", "", {.layers = 1 << 20}), "open.count");
  EXPECT_EQ(rule("llama", "", {.hidden = std::uint64_t{1} << 62}), "run.config");
  EXPECT_EQ(rule("llama", "", {.heads = 1 << 20, .kv_heads = 1 << 20, .head = 1}), "open.count");
  EXPECT_EQ(rule_of([] {
              const run::Scorer scorer(tiny_model("llama", {.vocabulary = 2'000'000, .hidden = 2, .tied = true}));
            }),
            "run.memory")
      << "few bytes of a file can state many tokens";
  Model model = tiny_model("llama", {});
  model.attachments.clear();
  EXPECT_EQ(rule_of([&] { const run::Scorer scorer(model); }), "run.family");
}

// Zeros that only a few bytes vouch for: what a text takes is limited, whichever of the sizes is large.
TEST(RunScorer, RefusesSizesThatTheFileDoesNotPayFor) {
  const auto rule = [](const TinyShape& shape) {
    Model model = tiny_model("llama", shape);
    model.sources = {memory_source(Bytes(10'000))};
    return rule_of([&] { const run::Scorer scorer(model); });
  };
  EXPECT_EQ(rule({}), "");
  EXPECT_EQ(rule({.hidden = 2000, .layers = 1}), "");
  EXPECT_EQ(rule({.hidden = 4000, .layers = 1}), "run.memory");
  EXPECT_EQ(rule({.intermediate = 4000, .layers = 1}), "");
  EXPECT_EQ(rule({.intermediate = 5000, .layers = 1}), "run.memory");
  EXPECT_EQ(rule({.vocabulary = 30000, .hidden = 2, .layers = 1}), "");
  EXPECT_EQ(rule({.vocabulary = 40000, .hidden = 2, .layers = 1}), "run.memory");
  EXPECT_EQ(rule({.layers = 10, .heads = 20, .kv_heads = 20, .head = 2}), "");
  EXPECT_EQ(rule({.layers = 20, .heads = 20, .kv_heads = 20, .head = 2}), "run.memory") << "heads of all layers";
  EXPECT_EQ(rule({.layers = 20, .heads = 4, .kv_heads = 4, .head = 100}), "run.memory") << "their keys and values";
}

// A config asks for millions of tensors: the names of those that it lacks end at some point.
TEST(RunScorer, NamesFewOfManyMissingTensors) {
  Model model = tiny_model("llama", {});
  set_config(model, tiny_config("llama", {.layers = 16000}));
  const std::string said = sentence_of([&] { const run::Scorer scorer(model); });
  EXPECT_NE(said.find("run.tensors"), said.npos) << said;
  EXPECT_LT(said.size(), 4096u);
}

// config.json can tie the head to the token table although the file has a head.
TEST(RunScorer, AStoredHeadCounts) {
  Model stated = tiny_model("llama", {}), other = stated;
  set_config(other, tiny_config("llama", {.tied = true}));
  const Tokens tokens = {1, 2, 3};
  EXPECT_EQ(run::Scorer(stated).logits(tokens), run::Scorer(other).logits(tokens));
}

TEST(RunScorer, NamesWhereNaNAppears) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Model model = tiny_model("llama", {});
    Tensor& tensor = model.at("model.layers.1.mlp.gate_proj.weight");
    std::vector<float> values = tensor.values<float>();
    values[77] = bad;
    tensor = dense<float>(tensor.name, tensor.shape, values);
    const run::Scorer scorer(model);
    const std::string said = sentence_of([&] { (void)scorer.logits(Tokens{1, 2}); });
    for (const std::string_view part :
         {"run.not_finite", "model.layers.1.mlp.gate_proj.weight", "layer 1", "element 77"})
      EXPECT_NE(said.find(part), said.npos) << part << " in " << said;
  }
}

TEST(RunScorer, Stops) {
  const run::Scorer scorer(tiny_model("llama", {}));
  Stop stop;
  stop.ask();
  EXPECT_EQ(rule_of([&] { (void)scorer.logits(Tokens{1, 2}, {.work = {.stop = &stop}}); }), "work.stopped");
}

TEST(RunPerplexity, CountsTheSecondHalfOfEachPiece) {
  const TinyShape shape;
  const run::Scorer scorer(tiny_model("llama", shape));
  const Tokens tokens = tiny_tokens(75, shape.vocabulary);
  const run::Perplexity found = perplexity(scorer, tokens, {.context = 20});
  double sum = 0;
  std::uint64_t count = 0;
  for (std::size_t first = 0; first + 20 <= 75; first += 20) {
    const std::vector<float> logits = scorer.logits(std::span(tokens).subspan(first, 20));
    for (std::size_t t = 10; t + 1 < 20; ++t, ++count) {
      double total = 0;
      for (std::size_t v = 0; v < 53; ++v) total += std::exp(static_cast<double>(logits[t * 53 + v]));
      sum += std::log(total) - static_cast<double>(logits[t * 53 + static_cast<std::size_t>(tokens[first + t + 1])]);
    }
  }
  EXPECT_EQ(found.tokens, count);
  EXPECT_EQ(found.pieces, 3u);
  EXPECT_NEAR(found.loss.value, sum / static_cast<double>(count), 1e-5);
  EXPECT_NEAR(found.perplexity.value, std::exp(sum / static_cast<double>(count)), 1e-3);
  EXPECT_GT(found.perplexity.error, 0);
}

}  // namespace
}  // namespace tare
