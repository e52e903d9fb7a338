// Running the model: compared with plain loops in double precision, with and without a cache, on one thread and many.
#include <algorithm>
#include <limits>

#include "base/endian.hpp"
#include "conformance/scratch.hpp"
#include "simd_targets.hpp"
#include "tiny_llama/reference.hpp"
#include "tiny_llama/session.hpp"

namespace tiny_llama {
namespace {

using tare::testing::error_of;
using tare::testing::for_each_simd_target;
using tare::testing::rule_of;
using tare::testing::Scratch;
using testing::Reference;
using Tokens = std::vector<std::int32_t>;

// Larger weights than a new model has, so that attention and GELU leave their linear parts.
TinyLlamaModel lively_model(const ModelConfig& config, std::uint64_t seed = 7) {
  TinyLlamaModel model(config, seed);
  std::uint64_t state = seed;
  model.visit_mutable_weights([&](const MutableWeight& weight) {
    const float scale = weight.is_vector ? 0.3f : 50.0f / std::sqrt(static_cast<float>(weight.rows + weight.columns));
    for (float& value : weight.values) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const float noise = static_cast<float>(static_cast<std::int32_t>(state >> 40) - (1 << 23)) / (1 << 23);
      value = weight.is_vector ? value + scale * noise : value * scale;
    }
  });
  return model;
}

Tokens some_tokens(std::size_t count, std::int32_t vocab) {
  Tokens tokens;
  for (std::size_t i = 0; i < count; ++i) tokens.push_back(static_cast<std::int32_t>(i * 7919 + i * i) % vocab);
  return tokens;
}

const ModelConfig kShapes[] = {{2, 1, 1, 3, 2, 4},     {6, 2, 2, 5, 12, 11},    {1, 1, 1, 1, 3, 1},
                               {32, 3, 4, 64, 40, 50}, {48, 2, 3, 100, 20, 97}, {20, 1, 20, 33, 70, 131},
                               {65, 2, 5, 257, 33, 70}};

void expect_near(std::span<const float> found, const testing::Row& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], 1e-4 * std::max(1.0, std::abs(expected[i]))) << "logit " << i;
}

void expect_all_near(const TinyLlamaModel& model, unsigned threads) {
  const ModelConfig& config = model.config();
  const Tokens tokens = some_tokens(static_cast<std::size_t>(config.max_seq_length), config.vocab_size);
  const testing::Rows expected = Reference(model).logits(tokens);
  const std::size_t vocab = static_cast<std::size_t>(config.vocab_size);

  const std::vector<float> all = model.forward_all(tokens, threads);
  ASSERT_EQ(all.size(), tokens.size() * vocab);
  for (std::size_t t = 0; t < tokens.size(); ++t) expect_near(std::span(all).subspan(t * vocab, vocab), expected[t]);
  expect_near(model.forward(tokens, threads), expected.back());

  Session one_by_one(model, {.threads = threads});
  for (std::size_t t = 0; t < tokens.size(); ++t)
    expect_near(one_by_one.feed(std::span(tokens).subspan(t, 1)), expected[t]);
}

TEST(TinyLlamaRun, IsThePlainLoops) {
  for (const ModelConfig& config : kShapes)
    for (const unsigned threads : {1u, 2u, 5u}) {
      SCOPED_TRACE(std::to_string(config.model_dim) + " wide, threads " + std::to_string(threads));
      expect_all_near(lively_model(config), threads);
    }
}

TEST(TinyLlamaRun, EverySimdTargetIsThePlainLoops) {
  for_each_simd_target([] {
    for (const ModelConfig& config : kShapes) expect_all_near(lively_model(config), 1);
  });
}

// More tokens than go through the layers at once.
TEST(TinyLlamaRun, LongPromptsAreCutIntoBatches) {
  const TinyLlamaModel model = lively_model({16, 2, 2, 24, 300, 60});
  const Tokens tokens = some_tokens(300, 60);
  const testing::Rows expected = Reference(model).logits(tokens);
  expect_near(model.forward(tokens), expected.back());
  const std::vector<float> all = model.forward_all(tokens);
  for (std::size_t t = 0; t < tokens.size(); ++t) expect_near(std::span(all).subspan(t * 60, 60), expected[t]);
}

// Threads, batches and the cache do not change a single bit.
TEST(TinyLlamaRun, ThreadsAndTheCacheDoNotChangeABit) {
  const TinyLlamaModel model = lively_model({72, 2, 3, 200, 140, 333});
  const Tokens tokens = some_tokens(140, 333);
  const std::vector<float> expected = model.forward(tokens, 1);
  for (const unsigned threads : {2u, 3u, 8u}) EXPECT_EQ(model.forward(tokens, threads), expected) << threads;
  for (const std::size_t step : {1u, 2u, 3u, 5u, 60u, 139u}) {
    Session session(model, {.threads = 2});
    std::vector<float> found;
    for (std::size_t at = 0; at < tokens.size(); at += step) {
      const auto logits = session.feed(std::span(tokens).subspan(at, std::min(step, tokens.size() - at)));
      found.assign(logits.begin(), logits.end());
    }
    EXPECT_EQ(found, expected) << "fed " << step << " at a time";
  }
}

TEST(TinyLlamaRun, WeightsInAMappedFileGiveTheSame) {
  if (!tare::kLittleEndianHost) GTEST_SKIP() << "a file's bytes are in another order and are copied";
  const Scratch scratch;
  const TinyLlamaModel model = lively_model({33, 2, 3, 50, 20, 77});
  model.save_model_weights(scratch / "m.bin");
  const TinyLlamaModel mapped = TinyLlamaModel::map(scratch / "m.bin");
  EXPECT_FALSE(mapped.is_writable());
  const Tokens tokens = some_tokens(20, 77);
  EXPECT_EQ(mapped.forward_all(tokens), model.forward_all(tokens));
}

TEST(TinyLlamaRun, AShrunkenFileIsAnError) {
  if (!tare::kLittleEndianHost) GTEST_SKIP() << "a file's bytes are in another order and are copied";
  const Scratch scratch;
  lively_model({33, 2, 3, 50, 20, 77}).save_model_weights(scratch / "m.bin");
  const TinyLlamaModel mapped = TinyLlamaModel::map(scratch / "m.bin");
  ASSERT_EQ(::truncate((scratch / "m.bin").c_str(), 100), 0);
  EXPECT_EQ(rule_of([&] { mapped.forward(some_tokens(20, 77)); }), "io.source.shrank");
}

TEST(TinyLlamaRun, TokensAreChecked) {
  const TinyLlamaModel model({4, 1, 2, 4, 5, 10});
  const auto sentence = [&](const Tokens& tokens, const std::string& rule) {
    const auto error = error_of([&] { model.forward(tokens); });
    EXPECT_EQ(rule_of([&] { model.forward_all(tokens); }), rule);
    Sampler sampler;
    EXPECT_EQ(rule_of([&] { model.generate(tokens, 1, sampler); }), rule);
    if (!error) return std::string();
    EXPECT_EQ(error->rule(), rule);
    return error->sentence();
  };
  EXPECT_NE(sentence({}, "tllm.run.empty"), "");
  EXPECT_EQ(sentence({1, 2, 10}, "tllm.run.token"), "token 2 is 10; the vocabulary has 0 to 9");
  EXPECT_EQ(sentence({-1}, "tllm.run.token"), "token 0 is -1; the vocabulary has 0 to 9");
  EXPECT_EQ(sentence(Tokens(6, 1), "tllm.run.length"), "6 tokens; the model has 5 positions");
  EXPECT_EQ(sentence(Tokens(5, 1), ""), "");

  Session session(model);
  session.feed(Tokens{1, 2, 3});
  EXPECT_EQ(rule_of([&] { session.feed(Tokens{1, 2, 3}); }), "tllm.run.length");
  EXPECT_EQ(session.position(), 3) << "nothing was appended";
  EXPECT_EQ(session.room(), 2);
  session.feed(Tokens{4, 5});
  EXPECT_EQ(session.room(), 0);
}

// Keys and values take memory for the tokens so far, not for all possible ones.
TEST(TinyLlamaRun, ManyPositionsCostNothingUntilTheyAreUsed) {
  const TinyLlamaModel model({1, 2000, 1, 1, 1 << 20, 2});  // 16 GB if everything were reserved
  Sampler greedy;
  EXPECT_EQ(model.generate(Tokens{1}, 3, greedy).size(), 3U);
}

TEST(TinyLlamaRun, ARewoundSessionGoesOnFromThere) {
  const TinyLlamaModel model = lively_model({12, 2, 2, 20, 10, 30});
  Session session(model);
  session.feed(Tokens{1, 2, 3, 4, 5});
  session.rewind(2);
  EXPECT_EQ(session.position(), 2);
  const auto logits = session.feed(Tokens{9, 8});
  EXPECT_EQ(std::vector<float>(logits.begin(), logits.end()), model.forward(Tokens{1, 2, 9, 8}));
}

TEST(TinyLlamaRun, GreedyTakesTheMostLikelyEachTime) {
  const TinyLlamaModel model = lively_model({12, 2, 2, 20, 16, 30});
  Tokens expected = {3, 1, 4};
  for (int i = 0; i < 10; ++i) {
    const testing::Row last = Reference(model).logits(expected).back();
    expected.push_back(static_cast<std::int32_t>(std::max_element(last.begin(), last.end()) - last.begin()));
  }
  Sampler greedy;
  Tokens streamed;
  const Tokens made = model.generate(Tokens{3, 1, 4}, 10, greedy, [&](std::int32_t token) {
    streamed.push_back(token);
    return true;
  });
  EXPECT_EQ(made, Tokens(expected.begin() + 3, expected.end()));
  EXPECT_EQ(streamed, made);
}

TEST(TinyLlamaRun, GenerationEndsWhereThePositionsDo) {
  const TinyLlamaModel model({4, 1, 2, 4, 6, 10});
  Sampler greedy;
  EXPECT_EQ(model.generate(Tokens{1, 2, 3}, 100, greedy).size(), 4U);
  EXPECT_EQ(model.generate(Tokens{1, 2, 3}, 2, greedy).size(), 2U);
  EXPECT_EQ(model.generate(Tokens{1, 2, 3}, 0, greedy).size(), 0U);
  EXPECT_EQ(model.generate(Tokens{1, 2, 3, 4, 5, 6}, 5, greedy).size(), 1U);
  EXPECT_EQ(model.generate(Tokens{1}, 5, greedy, [](std::int32_t) { return false; }).size(), 1U);
}

TEST(TinyLlamaRun, TheSameSeedGivesTheSameText) {
  const TinyLlamaModel model = lively_model({12, 2, 2, 20, 64, 30});
  const auto text = [&](std::uint64_t seed, unsigned threads) {
    Sampler sampler({.temperature = 1, .seed = seed});
    return model.generate(Tokens{1}, 60, sampler, {}, threads);
  };
  EXPECT_EQ(text(5, 1), text(5, 2));
  EXPECT_NE(text(5, 1), text(6, 1));
}

TEST(Sampler, FollowsTheProbabilities) {
  const std::vector<float> logits = {0, std::log(2.0f), std::log(5.0f), -std::numeric_limits<float>::infinity()};
  const auto counts = [&](const Sampling& sampling) {
    Sampler sampler(sampling);
    std::vector<int> found(4);
    for (int i = 0; i < 8000; ++i) ++found[static_cast<std::size_t>(sampler.next(logits))];
    return found;
  };
  const std::vector<int> plain = counts({.temperature = 1, .seed = 1});
  EXPECT_NEAR(plain[0], 1000, 150);
  EXPECT_NEAR(plain[1], 2000, 200);
  EXPECT_NEAR(plain[2], 5000, 250);
  EXPECT_EQ(plain[3], 0);
  const std::vector<int> cold = counts({.temperature = 0.5, .seed = 1});  // 1 : 4 : 25
  EXPECT_NEAR(cold[2], 8000 * 25 / 30, 250);
  const std::vector<int> two = counts({.temperature = 1, .top_k = 2});
  EXPECT_EQ(two[0], 0);
  EXPECT_NEAR(two[1], 8000 * 2 / 7, 250);
  EXPECT_EQ(counts({.temperature = 1, .top_k = 1})[2], 8000);
  EXPECT_EQ(counts({.temperature = 1, .top_p = 0.62f})[2], 8000) << "5/8 reach it";
  const std::vector<int> most = counts({.temperature = 1, .top_p = 0.64f});
  EXPECT_EQ(most[0], 0);
  EXPECT_NEAR(most[1], 8000 * 2 / 7, 250);
  EXPECT_EQ(counts({})[2], 8000) << "greedy";
}

TEST(Sampler, OddLogits) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  Sampler greedy, warm({.temperature = 1});
  EXPECT_EQ(greedy.next(std::vector<float>{1, 3, 3, 2}), 1) << "the first of equals";
  EXPECT_EQ(greedy.next(std::vector<float>{nan, 1, nan}), 1);
  EXPECT_EQ(warm.next(std::vector<float>{1, inf, 2}), 1);
  EXPECT_EQ(warm.next(std::vector<float>{-inf, -inf}), 0);
  EXPECT_EQ(rule_of([&] { greedy.next(std::vector<float>{nan, nan}); }), "tllm.run.nan");
  EXPECT_EQ(rule_of([&] { greedy.next({}); }), "tllm.run.nan");
  EXPECT_EQ(rule_of([] { Sampler({.temperature = -1}); }), "tllm.sampler.temperature");
  EXPECT_EQ(rule_of([&] { Sampler({.temperature = nan}); }), "tllm.sampler.temperature");
  EXPECT_EQ(rule_of([] { Sampler({.top_p = 0}); }), "tllm.sampler.top_p");
  EXPECT_EQ(rule_of([] { Sampler({.top_p = 1.5}); }), "tllm.sampler.top_p");
}

}  // namespace
}  // namespace tiny_llama
