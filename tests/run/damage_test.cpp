// How much each matrix matters, and which types a budget then chooses.
#include "tare/damage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/scratch.hpp"
#include "run/matrix_names.hpp"
#include "run/texts.hpp"
#include "run/tiny_models.hpp"
#include "tare/open.hpp"
#include "tare/save.hpp"

namespace tare {
namespace {

using run::Calibration;
using run::ChosenMethod;
using run::Damage;
using testing::golden_models;
using testing::rule_of;
using testing::Scratch;
using testing::tiny_model;
using testing::tiny_tokens;
using testing::TinyShape;

const TinyShape kWide{.hidden = 64, .intermediate = 96, .head = 16};

TEST(RunDamage, NoiseHasItsSize) {
  const run::Scorer scorer(tiny_model("llama", kWide));
  run::Weight weight = scorer.inner().plan.layers[1].ffn.down.weight;
  const std::vector<float> before = weight.values("here");
  weight.noise = 0.01f;
  const std::vector<float> after = weight.values("here");
  for (std::size_t begin = 0; begin < before.size(); begin += run::kNoiseBlock) {
    double noise = 0, all = 0;
    for (std::size_t i = begin; i < begin + run::kNoiseBlock; ++i) {
      noise += std::pow(static_cast<double>(after[i]) - static_cast<double>(before[i]), 2);
      all += std::pow(static_cast<double>(before[i]), 2);
    }
    EXPECT_NEAR(noise / all, 0.01, 1e-4);
  }
  // The same for any part of the rows.
  std::vector<float> part(2 * weight.columns);
  weight.read(3, 2, part.data(), "here");
  EXPECT_TRUE(std::equal(part.begin(), part.end(), after.begin() + static_cast<std::ptrdiff_t>(3 * weight.columns)));
}

// The rate is the divergence that a small error of a matrix causes.
TEST(RunDamage, PredictsDivergence) {
  const Model model = tiny_model("llama", kWide);
  const run::Scorer scorer(model);
  const std::vector<std::int32_t> tokens = tiny_tokens(256, kWide.vocabulary);
  const Calibration calibration = calibrate(scorer, tokens);
  const Damage damage = measure_damage(scorer, tokens, calibration, {.runs = 100});
  EXPECT_EQ(damage.size(), 3u * 7 + 2);
  for (const char* const name : {"model.layers.0.self_attn.v_proj.weight", "model.layers.2.mlp.down_proj.weight"}) {
    // The measured groups have one matrix each.
    Model off = model;
    Tensor& tensor = off.at(name);
    std::vector<float> values = tensor.values<float>();
    double error = 0, all = 0;
    const auto called = run::calibrated_names(arch::find_family("llama"), name);
    const auto inputs = std::ranges::find_if(calibration.matrices, [&](const run::MatrixInputs& one) {
      return std::ranges::find(called, one.name) != called.end();
    });
    ASSERT_NE(inputs, calibration.matrices.end());
    const std::vector<float> noise = testing::numbers_of("noise", values.size(), 0.01f, 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double weight = static_cast<double>(inputs->squares[i % inputs->columns]);
      error += weight * std::pow(static_cast<double>(noise[i]), 2);
      all += weight * std::pow(static_cast<double>(values[i]), 2);
      values[i] += noise[i];
    }
    tensor = dense<float>(tensor.name, tensor.shape, values);
    const double found = compare(scorer, run::Scorer(off), tokens).kl.value,
                 expected = damage.at(inputs->name) * error / all;
    EXPECT_GT(found, expected / 3) << name;
    EXPECT_LT(found, expected * 3) << name;
  }
}

TEST(RunDamage, EveryFamily) {
  for (const auto& [name, model, facts] : golden_models()) {
    const run::Scorer scorer(model);
    const std::vector<std::int32_t> tokens = tiny_tokens(40, scorer.vocab_size());
    const Calibration calibration = calibrate(scorer, tokens);
    const Damage damage = measure_damage(scorer, tokens, calibration, {.runs = 5});
    for (const auto& [matrix, rate] : damage) EXPECT_TRUE(std::isfinite(rate) && rate >= 0) << name << " " << matrix;
    for (const run::MatrixInputs& one : calibration.matrices)
      EXPECT_TRUE(one.name.find("gate_inp") != std::string::npos ||  // a router is kept
                  damage.contains(one.name))
          << name << " " << one.name;
  }
}

TEST(RunDamage, ChoosesWhatMatters) {
  const Model model = tiny_model("llama", kWide);
  Damage damage;
  const Calibration calibration = calibrate(run::Scorer(model), tiny_tokens(64, kWide.vocabulary));
  for (const run::MatrixInputs& one : calibration.matrices) damage[one.name] = 1;
  damage["blk.1.attn_v.weight"] = 1000;
  const Quantization how{.bits = 8};
  for (const std::string target : {"mcf", "gguf", "zt"}) {
    const std::vector<ChosenMethod> chosen = run::choose_by_damage(model, target, how, damage);
    ASSERT_FALSE(chosen.empty()) << target;
    double most = 0;
    const ChosenMethod* valued = nullptr;
    for (const ChosenMethod& one : chosen) {
      const auto names = run::calibrated_names(arch::find_family("llama"), one.tensor);
      if (std::ranges::find(names, "blk.1.attn_v.weight") != names.end())
        valued = &one;
      else
        most = std::max(most,
                        one.elements == 0 ? 0 : 8 * static_cast<double>(one.bytes) / static_cast<double>(one.elements));
      EXPECT_TRUE(!one.smaller || (one.smaller->bytes < one.bytes && one.smaller->damage >= one.damage));
      EXPECT_TRUE(!one.larger || (one.larger->bytes > one.bytes && one.larger->damage <= one.damage));
    }
    ASSERT_NE(valued, nullptr) << target;
    EXPECT_GE(8 * static_cast<double>(valued->bytes) / static_cast<double>(valued->elements), most) << target;
    // The recipe gives the methods that were chosen.
    const Scratch scratch;
    const Saved saved =
        save(model, scratch.path() + "/m." + target, {.adapt = {.quant = run::with_choice(how, chosen)}});
    std::uint64_t weights = 0, all = 0;
    for (const TensorOutcome& outcome : saved.outcomes) weights += outcome.elements, all += outcome.bytes;
    EXPECT_LE(8 * static_cast<double>(all) / static_cast<double>(weights), 8) << target;
  }
  EXPECT_EQ(rule_of([&] { run::choose_by_damage(model, "mcf", how, {{"blk.0.other", 1}}); }), "quantize.damage");
  EXPECT_EQ(rule_of([&] { run::choose_by_damage(model, "mcf", {}, damage); }), "quantize.bits");
  EXPECT_EQ(rule_of([&] { run::choose_by_damage(model, "mcf", {.bits = 0.5}, damage); }), "quantize.bits");
  EXPECT_EQ(rule_of([&] { run::choose_by_damage(model, "none", how, damage); }), "convert.format");
  Quantization wrong = how;
  wrong.importance["model.layers.0.self_attn.v_proj.weight"] = std::vector<float>(7, 1);
  EXPECT_EQ(rule_of([&] { run::choose_by_damage(model, "mcf", wrong, damage); }), "quant.importance");
}

TEST(RunDamage, InTheFile) {
  const Scratch scratch;
  const Model model = tiny_model("llama", {});
  const std::string path = scratch.path() + "/measured.gguf";
  const Calibration calibration = calibrate(run::Scorer(model), tiny_tokens(64, 53));
  Model file = importance_model(calibration);
  const Damage damage = {{"blk.0.attn_q.weight", 0.25}, {"output.weight", 2}};
  run::add_damage(file, damage);
  save(file, path, {.adapt = {.keep_names = true}});
  EXPECT_EQ(run::read_damage(path), damage);
  EXPECT_EQ(read_importance(path).size(), calibration.matrices.size());
  const auto broken = [&](const std::vector<float>& values) {
    Model bad = importance_model(calibration);
    bad.tensors.push_back(dense<float>("output.weight.damage", {values.size()}, values));
    save(bad, path, {.adapt = {.keep_names = true}, .overwrite = true});
    return rule_of([&] { run::read_damage(path); });
  };
  EXPECT_EQ(broken({-1}), "importance.value");
  EXPECT_EQ(broken({std::numeric_limits<float>::quiet_NaN()}), "importance.value");
  EXPECT_EQ(broken({1, 2}), "importance.shape");
}

}  // namespace
}  // namespace tare
