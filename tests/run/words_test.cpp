// Texts instead of tokens.
#include <gtest/gtest.h>

#include <functional>

#include "base/text.hpp"
#include "run/tiny_models.hpp"

namespace tare {
namespace {

using testing::speaking_model;
using testing::TinyShape;

const std::string kText = "a man of the sea wrote no word. the end is near, is it not? ask the keeper of the house!";

std::string rule_of_text(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.rule();
  }
  return {};
}

TEST(RunWords, TheTokensOfATextBeginWithThatOfTheModel) {
  const run::Scorer scorer(speaking_model());
  std::vector<std::int32_t> tokens = scorer.tokenizer().encode(kText);
  ASSERT_EQ(tokens.front(), 1);
  EXPECT_EQ(scorer.tokenizer().before(), std::vector<std::int32_t>{1});
  EXPECT_TRUE(scorer.tokenizer().behind().empty());
  const run::Perplexity one = perplexity(scorer, kText, {.context = 20}),
                        same = perplexity(scorer, tokens, {.context = 20, .begin = 1}),
                        other = perplexity(scorer, tokens, {.context = 20});
  EXPECT_EQ(one.perplexity.value, same.perplexity.value);
  EXPECT_NE(one.perplexity.value, other.perplexity.value);
  EXPECT_EQ(one.context, 20u);
}

TEST(RunWords, TheUsualPieceIsWhatTheModelHas) {
  const run::Scorer scorer(speaking_model());  // 256 positions
  EXPECT_EQ(perplexity(scorer, run::sample_text()).context, 256u);
}

TEST(RunWords, TheWorstPlacesHaveTheirText) {
  const Model a = speaking_model();
  Model b = a;
  Tensor& tensor = b.at("model.layers.1.mlp.up_proj.weight");
  std::vector<float> values = tensor.values<float>();
  for (float& value : values) value *= 1.5f;
  tensor = dense<float>(tensor.name, tensor.shape, values);
  const run::Comparison found = compare(run::Scorer(a), run::Scorer(b), kText, {.context = 40});
  ASSERT_EQ(found.worst.size(), 10u);
  const Tokenizer tokenizer(a);
  const std::vector<std::int32_t> tokens = tokenizer.encode(kText);
  for (const run::Position& one : found.worst) {
    const auto at = static_cast<std::size_t>(one.token);
    EXPECT_TRUE(one.text.ends_with(tokenizer.piece(tokens.at(at))));
    EXPECT_EQ(one.next, at + 1 < tokens.size() ? tokenizer.piece(tokens[at + 1]) : "");
    ASSERT_TRUE(one.best_a >= 0 && one.best_b >= 0);
    EXPECT_EQ(one.said_a, tokenizer.size() > std::size_t(one.best_a) ? tokenizer.piece(one.best_a) : "");
  }
}

TEST(RunWords, OtherTokenizersAreRefused) {
  const Model a = speaking_model();
  Model b = a;
  b.vocabulary.tokens[51].text = "The";
  try {
    (void)compare(run::Scorer(a), run::Scorer(b), kText);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), "run.tokenizers");
    EXPECT_NE(error.sentence().find("after 9 bytes of the text, at token 11: A has 51 \"the\", B 50 \"th\""),
              std::string::npos)
        << error.sentence();
  }
  // Not if the text has no such place.
  EXPECT_EQ(compare(run::Scorer(a), run::Scorer(b), "a man.").kl_largest, 0);
}

TEST(RunWords, OneTokenizerIsEnough) {
  const Model a = speaking_model();
  Model b = a;
  b.vocabulary = {};
  EXPECT_EQ(compare(run::Scorer(a), run::Scorer(b), kText).kl_largest, 0);
  EXPECT_EQ(compare(run::Scorer(b), run::Scorer(a), kText).kl_largest, 0);
  Model c = a;
  c.vocabulary.kind = "unheard of";
  EXPECT_EQ(compare(run::Scorer(a), run::Scorer(c), kText).kl_largest, 0);
  EXPECT_EQ(rule_of_text([&] { (void)compare(run::Scorer(c), run::Scorer(b), kText); }), "tokenizer.kind");
  EXPECT_EQ(rule_of_text([&] { (void)compare(run::Scorer(b), run::Scorer(b), kText); }), "tokenizer.none");
  EXPECT_EQ(rule_of_text([&] { (void)perplexity(run::Scorer(b), kText); }), "tokenizer.none");
  EXPECT_EQ(rule_of_text([&] { (void)perplexity(run::Scorer(a), ""); }), "run.tokens");
}

TEST(RunWords, TheSampleIsText) {
  EXPECT_TRUE(is_valid_utf8(run::sample_text()));
  EXPECT_GT(run::sample_text().size(), 6000u);
}

}  // namespace
}  // namespace tare
