// The quality that a file states: equal to compare(), carried while it is true, refuted if it is false.
#include "tare/quality.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "conformance/scratch.hpp"
#include "run/tiny_models.hpp"
#include "tare/inspect.hpp"
#include "tare/open.hpp"
#include "tare/save.hpp"

namespace tare {
namespace {

using run::Quality;
using testing::rule_of;
using testing::Scratch;
using testing::speaking_model;

constexpr std::string_view kSaid =
    "the hat that he had on the bed, the red one and the other bad hat that he did not find";

// The same model with weights that are slightly off.
Model worse_model() {
  Model model = speaking_model();
  for (Tensor& tensor : model.tensors)
    if (tensor.name.find("up_proj") != std::string::npos) {
      std::vector<float> values = tensor.values<float>();
      for (float& value : values) value *= 1.1f;
      tensor = dense<float>(tensor.name, tensor.shape, values);
    }
  return model;
}

Model claiming_model(const std::function<void(Quality&)>& edit = {}) {
  Model model = worse_model();
  Quality quality = run::measure_quality(speaking_model(), model, kSaid);
  if (edit) edit(quality);
  for (const MetadataEdit& one : run::quality_edits(quality)) model.metadata.set(one.key, one.value);
  return model;
}

std::vector<std::string> rules_of(const std::vector<Finding>& findings) {
  std::vector<std::string> rules;
  for (const Finding& one : findings) rules.push_back(one.rule);
  return rules;
}
std::vector<std::string> refutations(const Model& made, std::string_view text = kSaid) {
  return rules_of(run::refuted_quality(speaking_model(), made, text));
}

TEST(RunQuality, IsThatOfCompare) {
  const Model a = speaking_model(), b = worse_model();
  const Quality found = run::measure_quality(a, b, kSaid);
  const run::Comparison compared = compare(run::Scorer(a), run::Scorer(b), kSaid);
  EXPECT_EQ(found.kl.value, compared.kl.value);
  EXPECT_EQ(found.kl.error, compared.kl.error);
  EXPECT_EQ(found.kl_99.value, compared.kl_99.value);
  EXPECT_EQ(found.ratio.value, compared.ratio.value);
  EXPECT_EQ(found.top_1.value, compared.top_1.value);
  EXPECT_EQ(found.tokens, compared.tokens);
  EXPECT_EQ(found.context, 256u);
  EXPECT_EQ(found.source, content_digest(a));
  EXPECT_GT(found.kl.value, 0);
  const Quality same = run::measure_quality(a, a, kSaid);
  EXPECT_EQ(same.kl.value, 0);
  EXPECT_EQ(same.ratio.value, 1);
  EXPECT_EQ(same.top_1.value, 1);
}

TEST(RunQuality, EveryContainerCarriesIt) {
  const Scratch scratch;
  const Model model = claiming_model();
  const Quality stated = *run::stated_quality(model.metadata);
  EXPECT_FALSE(run::stated_quality(Map()));
  for (const char* const name : {"m.zt", "m.zt2", "m.mcf", "m.safetensors", "m.npz", "m.gguf", "m/"}) {
    const std::string path = scratch.path() + "/" + name;
    const SaveOptions options{.adapt = {.drop = {ModelPart::vocabulary, ModelPart::attachments}, .keep_names = true},
                              .overwrite = true};
    try {
      save(model, path, options);
    } catch (const Error& error) {
      ADD_FAILURE() << name << ": " << error.what();
      continue;
    }
    const auto read = run::stated_quality(open(path).metadata);
    ASSERT_TRUE(read) << name;
    EXPECT_TRUE(*read == stated) << name;
  }
}

TEST(RunQuality, IsNotCarriedByOtherWeights) {
  const Scratch scratch;
  const std::string path = scratch.path() + "/m.zt";
  const auto stated_by = [&](const AdaptOptions& adapt) {
    save(claiming_model(), path, {.adapt = adapt, .overwrite = true});
    return run::stated_quality(open(path).metadata).has_value();
  };
  EXPECT_TRUE(stated_by({}));
  EXPECT_TRUE(stated_by({.set = {{"author", "me"}}}));
  EXPECT_FALSE(stated_by({.dtype = DType::f16}));
  EXPECT_FALSE(stated_by({.quant = {.method = "k4"}}));
  EXPECT_FALSE(stated_by({.skip = {"*layers.2*"}}));
  const Saved saved = save(claiming_model(), path, {.adapt = {.dtype = DType::bf16}, .overwrite = true});
  EXPECT_TRUE(std::ranges::any_of(saved.changes, [](const Change& change) {
    return change.kind == ChangeKind::left_out &&
           std::ranges::find(change.items, "tare.quality.kl") != change.items.end();
  }));
}

TEST(RunQuality, FalseClaims) {
  EXPECT_EQ(refutations(claiming_model()), std::vector<std::string>{});
  EXPECT_EQ(refutations(worse_model()), std::vector<std::string>{"quality.none"});
  using Edit = std::function<void(Quality&)>;
  const auto refuted = [](const Edit& edit) { return refutations(claiming_model(edit)); };
  const std::vector<std::string> claim = {"quality.claim"};
  EXPECT_EQ(refuted([](Quality& it) { it.kl.value *= 0.5; }), claim);
  EXPECT_EQ(refuted([](Quality& it) { it.kl.value = 0; }), claim);
  EXPECT_EQ(refuted([](Quality& it) { it.kl_99.value *= 0.5; }), claim);
  EXPECT_EQ(refuted([](Quality& it) { it.ratio.value *= 0.9; }), claim);
  EXPECT_EQ(refuted([](Quality& it) { it.top_1.value *= 0.5; }), claim);
  // Measured by the distance from a model that lost nothing.
  EXPECT_EQ(refuted([](Quality& it) { it.top_1.value = 1; }), claim);
  EXPECT_EQ(refuted([](Quality& it) { it.tokens += 1; }), claim);
  EXPECT_EQ(refuted([](Quality& it) { it.source = "tare1:00"; }), std::vector<std::string>{"quality.source"});
  EXPECT_EQ(refuted([](Quality& it) { it.tokenizer = "xxh3-128:00"; }), std::vector<std::string>{"quality.tokenizer"});
  EXPECT_EQ(refutations(claiming_model(), "the hat and the bed and the other hat"),
            std::vector<std::string>{"quality.text"});
  // Another rounding is accepted.
  EXPECT_EQ(refuted([](Quality& it) { it.kl.value *= 1.001; }), std::vector<std::string>{});
}

TEST(RunQuality, IncompleteClaims) {
  const Model right = claiming_model();
  for (const auto& [key, value] : right.metadata) {
    if (!key.starts_with(run::kQualityPrefix)) continue;
    Model model = right;
    model.metadata.erase(key);
    EXPECT_EQ(refutations(model), std::vector<std::string>{"quality.value"}) << key;
    model.metadata.set(key, List());
    EXPECT_EQ(rule_of([&] { run::stated_quality(model.metadata); }), "quality.value") << key;
    if (value.text() == nullptr) {
      model.metadata.set(key, -1.0);
      EXPECT_EQ(rule_of([&] { run::stated_quality(model.metadata); }), "quality.value") << key;
      model.metadata.set(key, "nan");
      EXPECT_EQ(rule_of([&] { run::stated_quality(model.metadata); }), "quality.value") << key;
      model.metadata.set(key, "1e999");
      EXPECT_EQ(rule_of([&] { run::stated_quality(model.metadata); }), "quality.value") << key;
    }
  }
}

TEST(RunQuality, OfADraft) {
  const Scratch scratch;
  const std::string path = scratch.path() + "/m.zt";
  const Model model = speaking_model();
  const SaveOptions how{.adapt = {.quant = {.method = "k4"}}, .to = "zt"};
  const Quality draft = run::draft_quality(model, path, how, kSaid);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
  save(model, path, how);
  EXPECT_TRUE(draft == run::measure_quality(model, open(path), kSaid));
  EXPECT_GT(draft.kl.value, 0);
}

}  // namespace
}  // namespace tare
