// Two models run on a text: the answer, and what cannot be run.
#include "run/tiny_models.hpp"
#include "view/service_cases.hpp"

namespace tare::view {
namespace {

// The value as the library computes it.
run::Comparison computed(const Model& a, const Model& b) {
  return run::compare(run::Scorer(a), run::Scorer(b), run::sample_text());
}

Model with_fault(Model model) {
  Tensor& tensor = model.at("model.layers.1.mlp.up_proj.weight");
  std::vector<float> values = tensor.values<float>();
  for (float& value : values) value = -value;
  tensor = dense<float>(tensor.name, tensor.shape, values);
  return model;
}

TEST(ViewRuns, SaysWhatTheLibraryComputes) {
  const Model a = testing::speaking_model(), b = with_fault(a);
  Service service({shown(a), shown(b)});
  EXPECT_EQ(service.call("run"), R"({"started":false,"done":false})");
  static_cast<void>(service.call_and_wait("run/start"));
  const Value answer = asked(service, "run");
  const run::Comparison expected = computed(a, b);
  EXPECT_EQ(number(in(in(answer, "kl"), "value")), expected.kl.value);
  EXPECT_EQ(number(in(in(answer, "perplexity_b"), "value")), expected.b.perplexity.value);
  EXPECT_EQ(number(in(answer, "tokens")), static_cast<double>(expected.tokens));
  EXPECT_EQ(list(in(answer, "places")).size(), expected.places.size());
  EXPECT_EQ(*in(list(in(answer, "places"))[2], "name").text(), "layer 1");
  EXPECT_EQ(*in(in(answer, "parting"), "tensor").text(), "model.layers.1.mlp.up_proj.weight");
  ASSERT_EQ(list(in(answer, "worst")).size(), expected.worst.size());
  EXPECT_EQ(number(in(list(in(answer, "worst"))[0], "kl")), expected.worst[0].kl);
  EXPECT_FALSE(in(list(in(answer, "worst"))[0], "text").text()->empty());
}

TEST(ViewRuns, TheSame) {
  const Model model = testing::speaking_model();
  Service service({shown(model), shown(model)});
  static_cast<void>(service.call_and_wait("run/start"));
  const Value answer = asked(service, "run");
  EXPECT_EQ(number(in(answer, "kl_largest")), 0);
  EXPECT_EQ(in(answer, "parting"), Value());
  EXPECT_TRUE(list(in(answer, "worst")).empty());
}

// A text of a model cannot make an answer large, or leave its string.
TEST(ViewRuns, HostileWords) {
  Model a = testing::speaking_model();
  for (Token& token : a.vocabulary.tokens)
    if (token.text == "e") token.text = "\"</script>\x01" + std::string(100000, 'x');
  Service service({shown(a), shown(with_fault(a))});
  static_cast<void>(service.call_and_wait("run/start"));
  EXPECT_LT(service.answer("run").body.size(), std::size_t{1} << 16);
}

TEST(ViewRuns, RefusesWhatCannotBeRun) {
  Service alone(std::vector<OpenModelPtr>{shown(testing::speaking_model())});
  for (const std::string_view name : {"run", "run/start", "run/stop"}) EXPECT_EQ(alone.answer(name, true).status, 400);
  Service others({shown(small_model()), shown(small_model())});
  EXPECT_THROW(static_cast<void>(others.call_and_wait("run/start")), Error);
  const Answer answer = others.answer("run");
  EXPECT_EQ(answer.status, 422) << answer.body;
  EXPECT_NE(answer.body.find("run."), std::string::npos) << answer.body;
  Service fresh({shown(testing::speaking_model()), shown(testing::speaking_model())});
  EXPECT_EQ(fresh.call("run/stop"), R"({"started":false,"done":false})");
}

}  // namespace
}  // namespace tare::view
