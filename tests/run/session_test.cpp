// Generating: the logits of a text that grows are those of the scorer, and tokens are chosen as they should be.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <map>

#include "run/tiny_models.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

using testing::golden_models;
using testing::tiny_model;
using testing::tiny_tokens;
using testing::TinyShape;

std::string rule_of_session(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.rule();
  }
  return {};
}

// The largest difference of logits, relative to the largest logit: the beginning at once, then token by token.
double off_from_scorer(const Model& model, std::span<const std::int32_t> tokens, std::size_t beginning,
                       run::SessionOptions options = {}) {
  const run::Scorer scorer(model);
  const std::vector<float> expected = scorer.logits(tokens);
  options.positions = tokens.size();
  run::Session session(scorer, options);
  const auto vocabulary = static_cast<std::size_t>(scorer.vocab_size());
  double largest = 0, off = 0;
  for (std::size_t at = beginning; at <= tokens.size(); ++at) {
    const std::span<const float> found =
        session.feed(at == beginning ? tokens.first(beginning) : tokens.subspan(at - 1, 1));
    EXPECT_EQ(found.size(), vocabulary);
    for (std::size_t i = 0; i < vocabulary; ++i) {
      const auto right = static_cast<double>(expected[(at - 1) * vocabulary + i]);
      largest = std::max(largest, std::fabs(right));
      off = std::max(off, std::fabs(static_cast<double>(found[i]) - right));
    }
  }
  EXPECT_EQ(session.room(), 0u);
  return off / largest;
}

TEST(RunSession, EqualsTheScorerForEveryFamily) {
  for (const auto& [name, model, facts] : golden_models())
    for (const std::size_t beginning : {1, 33})
      EXPECT_LT(off_from_scorer(model, tiny_tokens(45, 31), beginning), 3e-5) << name;
}

// Tokens that follow others run together, and see those: of every family, with windows, scaled positions and latent
// attention. 33 and more tokens before fill a panel and a part of the next.
TEST(RunSession, SeveralTokensAtOnceEqualTheScorer) {
  for (const auto& [name, model, facts] : golden_models()) {
    const std::vector<std::int32_t> tokens = tiny_tokens(120, 31);
    const run::Scorer scorer(model);
    const auto size =
        static_cast<std::size_t>(scorer.context() == 0 ? 120 : std::min<std::uint64_t>(120, scorer.context()));
    const std::span<const std::int32_t> text = std::span(tokens).first(size);
    const std::vector<float> expected = scorer.logits(text);
    const auto vocabulary = static_cast<std::size_t>(scorer.vocab_size());
    const auto off = [&](std::span<const float> found, std::size_t position) {
      double most = 0, largest = 0;
      for (std::size_t i = 0; i < vocabulary; ++i) {
        const auto right = static_cast<double>(expected[(position - 1) * vocabulary + i]);
        largest = std::max(largest, std::fabs(right));
        most = std::max(most, std::fabs(static_cast<double>(found[i]) - right));
      }
      return most / largest;
    };
    for (const std::size_t before : {1, 7, 33, 64}) {
      if (before + 8 > size) continue;
      run::Session session(scorer, {.positions = size});
      session.feed(text.first(before));
      const std::size_t middle = before + (size - before) / 2;
      EXPECT_LT(off(session.feed(text.subspan(before, middle - before)), middle), 3e-5) << name << " " << before;
      EXPECT_LT(off(session.feed(text.subspan(middle)), size), 3e-5) << name << " " << before;
      // What was there before is kept, and what was forgotten is not seen.
      session.rewind(before);
      session.feed(tiny_tokens(11, 29));
      session.rewind(before);
      EXPECT_LT(off(session.feed(text.subspan(before)), size), 3e-5) << name << " " << before;
    }
  }
}

TEST(RunSession, EqualsTheScorerForEveryType) {
  const TinyShape shape{
      .vocabulary = 53, .hidden = 256, .intermediate = 512, .layers = 2, .heads = 4, .kv_heads = 2, .head = 64};
  const Model plain = tiny_model("llama", shape);
  for (const DType type : {DType::bf16, DType::f16, DType::f64}) {
    Model model = plain;
    for (Tensor& tensor : model.tensors) tensor = cast(tensor, type);
    EXPECT_LT(off_from_scorer(model, tiny_tokens(40, 53), 10), 1e-5) << name_of(type);
    EXPECT_LT(off_from_scorer(model, tiny_tokens(40, 53), 10, {.memory = 1}), 1e-5) << name_of(type);
  }
  for (const std::string_view layout :
       {"ggml.q8_0", "ggml.q4_0", "ggml.q4_k", "ggml.q6_k", "mcf.k4", "quantized_group"}) {
    const Codec* const codec = find_codec(layout);
    if (codec == nullptr || codec->encode == nullptr) continue;
    Model model = plain;
    for (Tensor& tensor : model.tensors)
      if (tensor.shape.size() == 2) tensor = codec->encode(tensor, {.method = std::string(codec->methods.front())});
    EXPECT_LT(off_from_scorer(model, tiny_tokens(40, 53), 10), 1e-5) << layout;
    const double rounded = off_from_scorer(model, tiny_tokens(40, 53), 10, {.quantized = true});
    EXPECT_LT(rounded, 0.1) << layout << " " << rounded;
    EXPECT_GT(rounded, 1e-5) << layout;
  }
}

TEST(RunSession, ThreadsAndRewindingChangeNothing) {
  const run::Scorer scorer(tiny_model("mistral", TinyShape(), R"(, "sliding_window": 7)"));
  const std::vector<std::int32_t> tokens = tiny_tokens(60, 53);
  const auto last = [&](unsigned threads) {
    run::Session session(scorer, {.work = {.threads = threads}});
    session.feed(std::span(tokens).first(20));
    const auto logits = session.feed(std::span(tokens).subspan(20));
    return std::vector<float>(logits.begin(), logits.end());
  };
  const std::vector<float> one = last(1);
  EXPECT_EQ(last(3), one);
  run::Session session(scorer);
  session.feed(tokens);
  session.rewind(20);
  EXPECT_EQ(session.position(), 20u);
  const auto again = session.feed(std::span(tokens).subspan(20));
  for (std::size_t i = 0; i < again.size(); ++i) EXPECT_NEAR(again[i], one[i], 1e-4);
}

// States cannot go back, so what stays is read again.
TEST(RunSession, RewindingChangesNothingForEveryFamily) {
  const std::vector<std::int32_t> tokens = tiny_tokens(45, 31);
  for (const auto& [name, model, facts] : golden_models()) {
    const run::Scorer scorer(model);
    const std::vector<float> expected = scorer.logits(tokens);
    const float largest = std::fabs(*std::ranges::max_element(expected, {}, [](float x) { return std::fabs(x); }));
    run::Session session(scorer, {.positions = 45});
    session.feed(std::span(tokens).first(40));
    for (const std::size_t back : {38, 20, 19, 0}) {
      session.feed(tiny_tokens(3, 29));
      session.rewind(back);
      session.rewind(back + 7);
      EXPECT_EQ(session.position(), back) << name;
      const auto again = session.feed(std::span(tokens).first(40).subspan(back));
      for (std::size_t i = 0; i < again.size(); ++i)
        EXPECT_NEAR(again[i], expected[39 * 31 + i], 1e-4f * largest) << name;
    }
    EXPECT_EQ(session.room(), 5u) << name;
  }
}

class Switch : public Stop {
 public:
  std::atomic<bool> on = false;

 private:
  bool look() const noexcept override { return on; }
};

// An interrupted call leaves the text as it was, also after rewinding.
TEST(RunSession, AnErrorLeavesTheStatesAsTheyWere) {
  const std::vector<std::int32_t> tokens = tiny_tokens(20, 31);
  const std::span<const std::int32_t> start = std::span(tokens).first(10), rest = std::span(tokens).subspan(10);
  for (const auto& [name, model, facts] : golden_models()) {
    if (!name.starts_with("qwen3_next") && !name.starts_with("lfm2")) continue;
    const run::Scorer scorer(model);
    const std::vector<float> expected = scorer.logits(tokens);
    const float largest = std::fabs(*std::ranges::max_element(expected, {}, [](float x) { return std::fabs(x); }));
    for (const bool rewinds : {false, true}) {
      Switch stop;
      run::Session session(scorer, {.work = {.stop = &stop}});
      session.feed(start);
      if (rewinds) session.feed(rest), session.rewind(10);
      stop.on = true;
      EXPECT_EQ(rule_of_session([&] { session.feed(rest); }), "work.stopped") << name;
      EXPECT_EQ(session.position(), 10u) << name;
      stop.on = false;
      const auto found = session.feed(rest);
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[19 * 31 + i], 1e-4f * largest) << name;
    }
  }
}

TEST(RunSession, Refuses) {
  const run::Scorer scorer(tiny_model("llama", TinyShape()));
  run::Session session(scorer, {.positions = 10});
  EXPECT_EQ(rule_of_session([&] { session.feed({}); }), "run.tokens");
  EXPECT_EQ(rule_of_session([&] { session.feed(std::vector<std::int32_t>{53}); }), "run.tokens");
  EXPECT_EQ(rule_of_session([&] { session.feed(tiny_tokens(11, 53)); }), "run.context");
  session.feed(tiny_tokens(9, 53));
  EXPECT_EQ(rule_of_session([&] { session.feed(tiny_tokens(2, 53)); }), "run.context");
  EXPECT_EQ(session.feed(tiny_tokens(1, 53)).size(), 53u);
  EXPECT_EQ(session.room(), 0u);
  for (const run::Sampling& wrong :
       {run::Sampling{.temperature = -1}, run::Sampling{.temperature = NAN}, run::Sampling{.top_p = 0},
        run::Sampling{.top_p = 1.1f}, run::Sampling{.min_p = 2}})
    EXPECT_EQ(rule_of_session([&] { const run::Sampler sampler(wrong); }), "run.sampling");
}

TEST(RunGenerate, TheMostLikelyToken) {
  const run::Scorer scorer(tiny_model("llama", TinyShape()));
  std::vector<std::int32_t> tokens = tiny_tokens(5, 53);
  run::Session session(scorer);
  std::vector<std::int32_t> seen;
  const run::Generated made = generate(session, tokens, {.count = 12, .on_token = [&](std::int32_t token) {
                                                           seen.push_back(token);
                                                           return true;
                                                         }});
  EXPECT_EQ(made.end, run::End::count);
  EXPECT_EQ(made.tokens, seen);
  for (const std::int32_t token : made.tokens) {
    const std::vector<float> logits = scorer.logits(tokens);
    const auto best = std::max_element(logits.end() - 53, logits.end());
    ASSERT_EQ(token, best - (logits.end() - 53));
    tokens.push_back(token);
  }
  run::Session other(scorer);
  const run::Generated stopped = generate(other, tiny_tokens(5, 53), {.count = 12, .stops = {made.tokens[3]}});
  EXPECT_EQ(stopped.end, run::End::stop);
  EXPECT_LE(stopped.tokens.size(), 3u);
  run::Session small(scorer, {.positions = 8});
  EXPECT_EQ(generate(small, tiny_tokens(5, 53), {.count = 12}).end, run::End::positions);
  run::Session asked(scorer);
  EXPECT_EQ(generate(asked, tiny_tokens(5, 53), {.on_token = [](std::int32_t) { return false; }}).tokens.size(), 1u);
}

std::map<std::int32_t, int> drawn(run::Sampling sampling, std::span<const float> logits) {
  run::Sampler sampler(sampling);
  std::map<std::int32_t, int> counts;
  for (int i = 0; i < 4000; ++i) ++counts[sampler.next(logits)];
  return counts;
}

TEST(RunSampler, DrawsByTheProbabilities) {
  const std::vector<float> logits = {std::log(0.1f), std::log(0.4f), std::log(0.05f), std::log(0.3f), std::log(0.15f)};
  auto counts = drawn({.temperature = 1}, logits);
  EXPECT_NEAR(counts[1], 1600, 150);
  EXPECT_NEAR(counts[2], 200, 80);
  counts = drawn({.temperature = 1, .top_k = 2}, logits);
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_NEAR(counts[1], 4000 * 4 / 7, 150);
  EXPECT_EQ(drawn({.temperature = 1, .top_p = 0.69f}, logits).size(), 2u);
  EXPECT_EQ(drawn({.temperature = 1, .top_p = 0.71f}, logits).size(), 3u);
  EXPECT_EQ(drawn({.temperature = 1, .min_p = 0.3f}, logits).size(), 3u);
  EXPECT_EQ(drawn({.temperature = 1, .min_p = 1}, logits).size(), 1u);
  counts = drawn({.temperature = 0.5f}, logits);  // squares of the probabilities
  EXPECT_NEAR(counts[1], 4000 * 0.16 / 0.285, 150);
  EXPECT_EQ(drawn({}, logits).size(), 1u);
  EXPECT_EQ(drawn({.temperature = 1, .seed = 5}, logits), drawn({.temperature = 1, .seed = 5}, logits));
  const std::vector<float> none = {NAN, -INFINITY};
  EXPECT_EQ(rule_of_session([&] { run::Sampler({}).next(none); }), "run.overflow");
}

TEST(RunSession, StopTokens) {
  Model model = tiny_model("llama", TinyShape());
  model.vocabulary.kind = "bpe";
  for (int i = 0; i < 53; ++i) model.vocabulary.tokens.push_back({fmt::format("t{}", i)});
  model.vocabulary.tokens[40] = {"<|im_end|>", 0, TokenType::control};
  model.vocabulary.tokens[41] = {"<|end|>", 0, TokenType::normal};
  model.vocabulary.eos = 7;
  const std::string text = R"({"eos_token_id": [9, 3, 99, "x", [[1]]]})";
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  model.attachments.push_back({"generation_config.json", Blob::memory(Bytes(bytes, bytes + text.size()))});
  EXPECT_EQ(run::Scorer(model).stop_tokens(), (std::vector<std::int32_t>{3, 7, 9, 40}));
}

}  // namespace
}  // namespace tare
