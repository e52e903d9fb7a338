// Sums of squares of what matrices are multiplied with, in models where they can be computed by hand; the file of them.
#include "tare/calibrate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "conformance/scratch.hpp"
#include "run/matrix_names.hpp"
#include "run/tiny_models.hpp"
#include "tare/metadata.hpp"
#include "tare/open.hpp"
#include "tare/quantize.hpp"
#include "tare/save.hpp"

namespace tare {
namespace {

using run::Calibration;
using run::MatrixInputs;
using testing::golden_models;
using testing::rule_of;
using testing::Scratch;
using testing::set_config;
using testing::speaking_model;
using testing::tiny_model;
using testing::tiny_tokens;
using testing::TinyShape;

const MatrixInputs* matrix(const Calibration& found, std::string_view name) {
  const auto at = std::ranges::find(found.matrices, name, &MatrixInputs::name);
  return at == found.matrices.end() ? nullptr : &*at;
}

void set_zero(Model& model, const std::string& name_or_part) {
  const std::string part = name_or_part;  // which may be the name of a tensor that is replaced
  for (Tensor& tensor : model.tensors)
    if (tensor.name.find(part) != std::string::npos)
      tensor = dense<float>(tensor.name, tensor.shape,
                            std::vector<float>(static_cast<std::size_t>(*tensor.shape.elements()), 0));
}

std::vector<double> product_with(const std::vector<double>& matrix, const std::vector<double>& x) {
  std::vector<double> y(matrix.size() / x.size());
  for (std::size_t r = 0; r < y.size(); ++r)
    for (std::size_t c = 0; c < x.size(); ++c) y[r] += matrix[r * x.size() + c] * x[c];
  return y;
}

void expect_sums(const Calibration& found, std::string_view name, const std::vector<double>& expected,
                 std::uint64_t tokens) {
  const MatrixInputs* const it = matrix(found, name);
  ASSERT_NE(it, nullptr) << name;
  ASSERT_EQ(it->columns, expected.size()) << name;
  EXPECT_EQ(it->counts, std::vector<std::uint64_t>{tokens}) << name;
  for (std::size_t c = 0; c < expected.size(); ++c)
    EXPECT_NEAR(static_cast<double>(it->squares[c]), expected[c], 1e-4 * expected[c] + 1e-6) << name << " " << c;
}

// No layer adds anything, so that the hidden states are the embeddings; and with pieces of one token, the attention
// gives the values themselves.
TEST(RunCalibrate, KnownActivations) {
  const TinyShape shape;
  Model model = tiny_model("llama", shape);
  set_zero(model, "o_proj"), set_zero(model, "down_proj");
  const std::vector<std::int32_t> tokens = tiny_tokens(67, shape.vocabulary);
  const Calibration found = calibrate(run::Scorer(model), tokens, {.context = 1});
  EXPECT_EQ(found.tokens, 67u);
  EXPECT_EQ(found.pieces, 67u);
  EXPECT_EQ(found.context, 1u);
  const auto weights = [&](const std::string& name) { return model.at(name).values<double>(); };
  const std::vector<double> table = weights("model.embed_tokens.weight");
  const auto normalized = [&](std::int32_t token, const std::string& norm) {
    const std::vector<double> weight = weights(norm);
    std::vector<double> x(table.begin() + token * 20, table.begin() + token * 20 + 20);
    double squares = 0;
    for (const double value : x) squares += value * value;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= weight[i] / std::sqrt(squares / 20 + 1e-5);
    return x;
  };
  const auto add = [](std::vector<double>& sums, const std::vector<double>& x) {
    sums.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) sums[i] += x[i] * x[i];
  };
  for (int layer = 0; layer < 3; ++layer) {
    const std::string in = fmt::format("model.layers.{}.", layer), out = fmt::format("blk.{}.", layer);
    std::vector<double> q, o, gate, down;
    for (const std::int32_t token : tokens) {
      const std::vector<double> x = normalized(token, in + "input_layernorm.weight"),
                                y = normalized(token, in + "post_attention_layernorm.weight"),
                                v = product_with(weights(in + "self_attn.v_proj.weight"), x);
      add(q, x), add(gate, y);
      std::vector<double> answers;  // two heads share the values of one
      for (std::size_t head = 0; head < 4; ++head)
        answers.insert(answers.end(), v.begin() + static_cast<std::ptrdiff_t>(head / 2 * 6),
                       v.begin() + static_cast<std::ptrdiff_t>(head / 2 * 6 + 6));
      add(o, answers);
      std::vector<double> g = product_with(weights(in + "mlp.gate_proj.weight"), y);
      const std::vector<double> up = product_with(weights(in + "mlp.up_proj.weight"), y);
      for (std::size_t i = 0; i < g.size(); ++i) g[i] = g[i] / (1 + std::exp(-g[i])) * up[i];
      add(down, g);
    }
    for (const char* const name : {"attn_q", "attn_k", "attn_v"}) expect_sums(found, out + name + ".weight", q, 67);
    expect_sums(found, out + "attn_output.weight", o, 67);
    for (const char* const name : {"ffn_gate", "ffn_up"}) expect_sums(found, out + name + ".weight", gate, 67);
    expect_sums(found, out + "ffn_down.weight", down, 67);
  }
  std::vector<double> head;
  for (const std::int32_t token : tokens) add(head, normalized(token, "model.norm.weight"));
  expect_sums(found, "output.weight", head, 67);
  EXPECT_EQ(found.matrices.size(), 22u);
}

// Every matrix that a model of a family is multiplied with is there once, with its columns, and experts share the tokens.
TEST(RunCalibrate, EveryFamily) {
  for (const auto& [name, model, facts] : golden_models()) {
    const run::Scorer scorer(model);
    const Calibration found = calibrate(scorer, tiny_tokens(70, scorer.vocab_size()));
    EXPECT_EQ(found.tokens, 70u) << name;
    std::set<std::string> names;
    for (const MatrixInputs& one : found.matrices) {
      EXPECT_TRUE(names.insert(one.name).second) << name << " " << one.name;
      EXPECT_EQ(one.squares.size(), one.columns * one.counts.size()) << name << " " << one.name;
      for (const float sum : one.squares) EXPECT_TRUE(std::isfinite(sum) && sum >= 0) << name << " " << one.name;
      std::uint64_t tokens = 0;
      for (const std::uint64_t count : one.counts) tokens += count;
      EXPECT_TRUE(one.counts.size() == 1 ? tokens == 70 : tokens % 70 == 0 && tokens > 0) << name << " " << one.name;
    }
    const Map& config = *facts.find("config")->get<Map>();
    const Value* const tied = config.find("tie_word_embeddings");
    const arch::Family* const family = arch::find_family(*config.find("model_type")->text());
    for (const Tensor& tensor : model.tensors) {
      if (tensor.shape.rank() < 2 || tensor.name.ends_with("bias")) continue;
      if (tensor.name.ends_with("conv1d.weight") || tensor.name.ends_with("conv.conv.weight")) continue;  // no matrices
      if (tensor.name.ends_with("wpe.weight")) continue;  // positions are added
      const bool table =
          tensor.name.find("embed_tokens") != std::string::npos || tensor.name.ends_with("embed_in.weight");
      if (table && !(tied != nullptr && *tied == true)) continue;
      const std::vector<std::string> called = run::calibrated_names(family, tensor.name);
      EXPECT_TRUE(std::ranges::any_of(called, [&](const std::string& one) { return names.contains(one); }))
          << name << " " << tensor.name;
    }
  }
}

TEST(RunCalibrate, DoesNotDependOnThreadsOrMemory) {
  const Model model = tiny_model("llama", {});
  const std::vector<std::int32_t> tokens = tiny_tokens(200, 53);
  const Calibration one = calibrate(run::Scorer(model), tokens, {.context = 40, .work = {.threads = 1}}),
                    other = calibrate(run::Scorer(model), tokens, {.memory = 1, .context = 40, .work = {.threads = 3}});
  ASSERT_EQ(one.matrices.size(), other.matrices.size());
  for (std::size_t i = 0; i < one.matrices.size(); ++i) {
    EXPECT_EQ(one.matrices[i].name, other.matrices[i].name);
    ASSERT_EQ(one.matrices[i].squares.size(), other.matrices[i].squares.size());
    for (std::size_t c = 0; c < one.matrices[i].squares.size(); ++c)
      EXPECT_NEAR(one.matrices[i].squares[c], other.matrices[i].squares[c], 1e-5f * one.matrices[i].squares[c]);
  }
}

TEST(RunCalibrate, TooFewTokens) {
  const Model model = tiny_model("llama", {});
  const Calibration found = calibrate(run::Scorer(model), tiny_tokens(70, 53), {.context = 32});
  EXPECT_EQ(found.tokens, 64u);  // whole pieces
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_EQ(found.remarks[0].detail, "64 tokens are few to calibrate with; 4,096 are enough");
  EXPECT_EQ(rule_of([&] { calibrate(run::Scorer(model), std::vector<std::int32_t>{}); }), "run.tokens");
  EXPECT_EQ(rule_of([&] { calibrate(run::Scorer(model), std::vector<std::int32_t>{53}); }), "run.tokens");
  EXPECT_EQ(rule_of([&] { calibrate(run::Scorer(speaking_model()), ""); }), "run.tokens");
}

// A router that prefers two of its experts whatever the token is.
TEST(RunCalibrate, ExpertsThatNoTokenReached) {
  for (auto& [name, model, facts] : golden_models()) {
    if (name != "qwen3_moe") continue;
    for (Tensor& tensor : model.tensors)
      if (tensor.name.ends_with("mlp.gate.weight")) set_zero(model, tensor.name);
    const Calibration found = calibrate(run::Scorer(model), tiny_tokens(70, run::Scorer(model).vocab_size()));
    std::size_t named = 0;
    for (const Change& remark : found.remarks)
      if (remark.detail.find("no token reached") != std::string::npos) ++named;
    std::size_t stacks = 0;
    for (const MatrixInputs& one : found.matrices)
      if (one.counts.size() > 1) {
        ++stacks;
        // All have the same score: the first two are chosen.
        EXPECT_EQ(one.counts[0], 70u);
        EXPECT_EQ(one.counts[1], 70u);
        for (std::size_t e = 2; e < one.counts.size(); ++e) EXPECT_EQ(one.counts[e], 0u);
      }
    EXPECT_GT(stacks, 0u);
    EXPECT_EQ(named, stacks);
    EXPECT_GT(found.enough, 4096u);
  }
}

TEST(RunCalibrate, TheFile) {
  const Scratch scratch;
  const std::string path = scratch.path() + "/imatrix.gguf";
  const Calibration found = calibrate(run::Scorer(tiny_model("llama", {})), tiny_tokens(96, 53), {.context = 32});
  save(importance_model(found, "ids"), path, {.adapt = {.keep_names = true}});
  const Model file = open(path);
  std::vector<std::string> keys;
  for (const MetadataEntry& entry : metadata_entries(file)) keys.push_back(entry.key + " " + entry.type);
  EXPECT_EQ(keys, (std::vector<std::string>{"general.type string", "imatrix.chunk_count u32", "imatrix.chunk_size u32",
                                            "imatrix.datasets [string]"}));
  EXPECT_EQ(file.tensors.size(), 44u);
  EXPECT_EQ(file.tensors[0].name, "blk.0.attn_k.weight.in_sum2");
  EXPECT_EQ(file.tensors[1].name, "blk.0.attn_k.weight.counts");
  EXPECT_EQ(file.tensors[0].shape, Shape{20});
  EXPECT_EQ(file.tensors[1].shape, Shape{1});
  const Importance read = read_importance(path);
  ASSERT_EQ(read.size(), 22u);
  for (const MatrixInputs& one : found.matrices) {
    const std::vector<float>& weights = read.at(one.name);
    ASSERT_EQ(weights.size(), one.columns);
    for (std::size_t c = 0; c < weights.size(); ++c) EXPECT_NEAR(weights[c], one.squares[c] / 96, 1e-6f * weights[c]);
  }
}

// Importance by GGUF's names is that of a directory's tensors, too.
TEST(RunCalibrate, ForOtherNames) {
  const Scratch scratch;
  const Model model = tiny_model("llama", {.hidden = 32, .intermediate = 64, .head = 8});
  const std::string path = scratch.path() + "/imatrix.gguf";
  save(importance_model(calibrate(run::Scorer(model), tiny_tokens(96, 53))), path, {.adapt = {.keep_names = true}});
  SaveOptions options{.adapt = {.quant = {.method = "k4", .importance = read_importance(path)}}};
  const Saved with = save(model, scratch.path() + "/with.mcf", options);
  for (const Change& change : with.changes)
    if (change.detail.find("no importance values") != std::string::npos) {
      EXPECT_EQ(change.detail.find("q_proj"), std::string::npos) << change.detail;
    }
  options.adapt.quant.importance.clear();
  save(model, scratch.path() + "/without.mcf", options);
  EXPECT_NE(testing::get_file(scratch.path() + "/with.mcf"), testing::get_file(scratch.path() + "/without.mcf"));
}

TEST(RunCalibrate, ItsText) {
  const std::string_view text = run::calibration_text(), other = run::sample_text();
  EXPECT_GT(text.size(), 20000u);
  // They have no line in common, so that one can be held out.
  std::set<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.insert(text.substr(at, end - at)), at = end + 1;
  }
  for (std::size_t at = 0; at < other.size();) {
    const std::size_t end = std::min(other.find('\n', at), other.size());
    EXPECT_FALSE(end - at > 20 && lines.contains(other.substr(at, end - at)));
    at = end + 1;
  }
}

}  // namespace
}  // namespace tare
