// Adapters: how files are recognised, and the sums of merging, compared with arithmetic done here.
#include "tare/merge.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/half.hpp"
#include "codecs/simd_floats.hpp"
#include "conformance/hf_cases.hpp"
#include "conformance/scratch.hpp"
#include "lines.hpp"
#include "resources/adapter.hpp"
#include "simd_targets.hpp"
#include "tare/tare.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using resources::AdapterPart;
using resources::find_adapter;
using resources::NamePatterns;
using resources::parse_adapter_name;

constexpr const char* kUsual = R"({"peft_type": "LORA", "r": 2, "lora_alpha": 6})";

Tensor floats(const std::string& name, Shape shape, std::vector<float> values) {
  return dense(name, std::move(shape), values);
}

Model adapter_of(const std::string& config, std::vector<Tensor> tensors) {
  Model model;
  model.tensors = std::move(tensors);
  model.attachments.push_back({"adapter_config.json", Blob::memory(to_bytes(config))});
  return model;
}

Model base() {
  Model model;
  model.tensors.push_back(floats("model.q.weight", {2, 3}, {1, 2, 3, 4, 5, 6}));
  model.tensors.push_back(floats("model.q.bias", {2}, {10, 20}));
  model.tensors.push_back(floats("model.embed.weight", {4, 2}, {0, 0, 0, 0, 0, 0, 1, 1}));
  model.tensors.push_back(floats("lm_head.weight", {2, 2}, {9, 9, 9, 9}));
  return model;
}

const std::string kQ = "base_model.model.model.q.";

std::vector<Tensor> pair_for_q() {
  return {floats(kQ + "lora_A.weight", {2, 3}, {1, 0, 2, 0, 1, 0}), floats(kQ + "lora_B.weight", {2, 2}, {1, 2, 3, 4})};
}

std::vector<float> merged(const Model& model, const Model& adapter, const std::string& name) {
  std::vector<Change> changes;
  const Model sum = merge_adapter(model, adapter, changes);
  return sum.tensor(name)->values<float>();
}

std::string refused(const Model& adapter, const Model& model = base()) {
  std::vector<Change> changes;
  return rule_of([&] { (void)merge_adapter(model, adapter, changes); });
}

// Layers that share their bytes could ask for any number of products. In memory, bytes cannot be shared with a file.
TEST(Merge, ProductsAreLimitedByTheBytesOfFiles) {
  constexpr std::uint64_t kSide = 1024, kRank = 512;
  const auto zeros = [](const std::string& name, std::uint64_t rows, std::uint64_t columns) {
    return dense(name, {rows, columns}, DType::f16, Blob::memory(Bytes(rows * columns * 2)));
  };
  Model model;
  model.tensors = {zeros("model.q.weight", kSide, kSide)};
  Model adapter = adapter_of(R"({"peft_type": "LORA"})",
                             {zeros(kQ + "lora_A.weight", kRank, kSide), zeros(kQ + "lora_B.weight", kSide, kRank)});
  EXPECT_EQ(refused(adapter, model), "");
  model.file_bytes = adapter.file_bytes = 1000;
  EXPECT_EQ(refused(adapter, model), "lora.products");
  model.file_bytes = adapter.file_bytes = 2 * kSide * kSide;
  EXPECT_EQ(refused(adapter, model), "");
}

TEST(Merge, AddsTheProductTimesAlphaOverRank) {
  // B A = {1 2 2, 3 4 6}, alpha / r = 3.
  EXPECT_EQ(merged(base(), adapter_of(kUsual, pair_for_q()), "model.q.weight"),
            (std::vector<float>{1 + 3, 2 + 6, 3 + 6, 4 + 9, 5 + 12, 6 + 18}));
  EXPECT_EQ(merged(base(), adapter_of(kUsual, pair_for_q()), "model.q.bias"), (std::vector<float>{10, 20}));
  // Rank-stabilised: alpha / sqrt(r).
  const float scale = static_cast<float>(6 / std::sqrt(2.0));
  EXPECT_EQ(merged(base(), adapter_of(R"({"peft_type": "LORA", "lora_alpha": 6, "use_rslora": true})", pair_for_q()),
                   "model.q.weight"),
            (std::vector<float>{1 + scale, 2 + scale * 2, 3 + scale * 2, 4 + scale * 3, 5 + scale * 4, 6 + scale * 6}));
  // A pattern has another alpha for layers whose names end with it.
  EXPECT_EQ(merged(base(),
                   adapter_of(R"({"peft_type": "LORA", "alpha_pattern": {"nothing": 1, "q": 2, "model.q": 8}})",
                              pair_for_q()),
                   "model.q.weight"),
            (std::vector<float>{2, 4, 5, 7, 9, 12}));
}

TEST(Merge, WeightsKeepTheirTypeAndAreRoundedOnce) {
  Model model = base();
  model.tensors[0] = cast(model.tensors[0], DType::bf16);
  std::vector<Tensor> pair = pair_for_q();
  for (Tensor& tensor : pair) tensor = cast(tensor, DType::f16);
  std::vector<Change> changes;
  const Model sum = merge_adapter(model, adapter_of(kUsual, pair), changes);
  EXPECT_EQ(sum.tensors[0].components[0].dtype, DType::bf16);
  EXPECT_EQ(sum.tensors[0].values<float>(), (std::vector<float>{4, 8, 9, 13, 17, 24}));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(to_text(changes[0]), "LoRA adapter: rank 2, alpha 6, 1 layer merged");
}

TEST(Merge, TransposedWeightsEmbeddingsAndConvolutions) {
  // [in, out], which the shape shows.
  Model turned = base();
  turned.tensors[0] = floats("model.q.weight", {3, 2}, {1, 4, 2, 5, 3, 6});
  EXPECT_EQ(merged(turned, adapter_of(kUsual, pair_for_q()), "model.q.weight"),
            (std::vector<float>{4, 13, 8, 17, 9, 24}));
  // Square ones, for which only the config shows it.
  const std::vector<Tensor> square = {floats("lm_head.lora_A.default.weight", {1, 2}, {1, 2}),
                                      floats("lm_head.lora_B.default.weight", {2, 1}, {1, 10})};
  EXPECT_EQ(merged(base(), adapter_of(R"({"peft_type": "LORA", "lora_alpha": 1})", square), "lm_head.weight"),
            (std::vector<float>{10, 11, 19, 29}));
  EXPECT_EQ(merged(base(), adapter_of(R"({"peft_type": "LORA", "lora_alpha": 1, "fan_in_fan_out": true})", square),
                   "lm_head.weight"),
            (std::vector<float>{10, 19, 11, 29}));
  // Embeddings: A has a column for each token.
  EXPECT_EQ(merged(base(),
                   adapter_of(R"({"peft_type": "LORA", "lora_alpha": 1})",
                              {floats("base_model.model.model.embed.lora_embedding_A", {1, 4}, {1, 2, 3, 4}),
                               floats("base_model.model.model.embed.lora_embedding_B", {2, 1}, {1, 10})}),
                   "model.embed.weight"),
            (std::vector<float>{1, 10, 2, 20, 3, 30, 5, 41}));
  // A convolution is a matrix of more dimensions.
  Model conv = base();
  conv.tensors[0] = floats("c.weight", {2, 1, 1, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(merged(conv,
                   adapter_of(kUsual, {floats("c.lora_A.weight", {2, 1, 1, 3}, {1, 0, 2, 0, 1, 0}),
                                       floats("c.lora_B.weight", {2, 2, 1, 1}, {1, 2, 3, 4})}),
                   "c.weight"),
            (std::vector<float>{4, 8, 9, 13, 17, 24}));
}

TEST(Merge, BiasesAndWholeTensors) {
  std::vector<Tensor> tensors = pair_for_q();
  tensors.push_back(floats(kQ + "lora_B.bias", {2}, {1, 2}));
  tensors.push_back(floats("base_model.model.lm_head.modules_to_save.default.weight", {2, 2}, {1, 2, 3, 4}));
  tensors.push_back(floats("base_model.model.model.embed.base_layer.weight", {4, 2}, std::vector<float>(8, 7)));
  const Model adapter = adapter_of(kUsual, tensors);
  EXPECT_EQ(merged(base(), adapter, "model.q.bias"), (std::vector<float>{13, 26}));
  EXPECT_EQ(merged(base(), adapter, "lm_head.weight"), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(merged(base(), adapter, "model.embed.weight"), std::vector<float>(8, 7));
}

TEST(Merge, AProductIsAddedToTheWholeTensorThatComesWithIt) {
  std::vector<Tensor> tensors = pair_for_q();
  tensors.push_back(floats(kQ + "base_layer.weight", {2, 3}, std::vector<float>(6, 100)));
  EXPECT_EQ(merged(base(), adapter_of(kUsual, tensors), "model.q.weight"),
            (std::vector<float>{103, 106, 106, 109, 112, 118}));
}

TEST(Merge, DoraBringsRowsToTheirLengths) {
  std::vector<Tensor> tensors = pair_for_q();
  tensors.push_back(floats(kQ + "lora_magnitude_vector", {2}, {1, 2}));
  const Model adapter = adapter_of(R"({"peft_type": "LORA", "r": 2, "lora_alpha": 6, "use_dora": true})", tensors);
  const auto found = merged(base(), adapter, "model.q.weight");
  const float first = 1 / static_cast<float>(std::sqrt(16.0 + 64 + 81));
  const float second = 2 / static_cast<float>(std::sqrt(169.0 + 289 + 576));
  EXPECT_EQ(found, (std::vector<float>{4 * first, 8 * first, 9 * first, 13 * second, 17 * second, 24 * second}));
  EXPECT_EQ(refused(adapter_of(R"({"peft_type": "LORA", "use_dora": true})", pair_for_q())), "lora.pair");
  Model turned = base();
  turned.tensors[0] = floats("model.q.weight", {3, 2}, {1, 4, 2, 5, 3, 6});
  EXPECT_EQ(refused(adapter, turned), "lora.method");
}

TEST(Merge, IsReadFromAnywhereAndInParts) {
  Model model;
  std::vector<float> weights(300 * 700), a(3 * 700), b(300 * 3);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 97) - 40;
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 13) * 0.125f - 1;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 7) * 0.25f - 1;
  model.tensors.push_back(floats("l.weight", {300, 700}, weights));
  const Model adapter = adapter_of(R"({"peft_type": "LORA", "lora_alpha": 3})",
                                   {floats("l.lora_A.weight", {3, 700}, a), floats("l.lora_B.weight", {300, 3}, b)});
  for (std::size_t row = 0; row < 300; ++row)
    for (std::size_t column = 0; column < 700; ++column) {
      float sum = 0;
      for (std::size_t k = 0; k < 3; ++k) sum += b[row * 3 + k] * a[k * 700 + column];
      weights[row * 700 + column] += sum;
    }
  for_each_simd_target([&] { EXPECT_EQ(merged(model, adapter, "l.weight"), weights); });
  std::vector<Change> changes;
  const Blob blob = merge_adapter(model, adapter, changes).tensors[0].components[0].blob;
  const Bytes all = floats("l.weight", {300, 700}, weights).components[0].blob.bytes();
  for (const std::uint64_t offset : {0U, 1U, 2799U, 2800U, 500'001U, 839'999U}) {
    Bytes part(static_cast<std::size_t>(std::min<std::uint64_t>(9000, blob.size() - offset)));
    blob.open(offset)->read(part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), all.data() + offset)) << offset;
  }
}

TEST(Merge, RefusesWhatDoesNotFit) {
  const auto lora = [](std::vector<Tensor> tensors) { return adapter_of(kUsual, std::move(tensors)); };
  const Tensor a = pair_for_q()[0], b = pair_for_q()[1];
  Model bare;
  bare.tensors = {a, b};
  EXPECT_EQ(refused(bare), "lora.config");
  EXPECT_EQ(refused(base()), "lora.config");
  EXPECT_EQ(refused(adapter_of("{", {a, b})), "lora.config");
  EXPECT_EQ(refused(adapter_of(R"({"peft_type": "LORA", "lora_alpha": "x"})", {a, b})), "lora.config");
  EXPECT_EQ(refused(adapter_of(R"({"peft_type": "LORA", "lora_alpha": -1})", {a, b})), "lora.config");
  EXPECT_EQ(refused(adapter_of(R"({"peft_type": "LORA", "alpha_pattern": 3})", {a, b})), "lora.config");
  EXPECT_EQ(refused(adapter_of(R"({"peft_type": "LOHA"})", {a, b})), "lora.method");
  EXPECT_EQ(refused(adapter_of(R"({"peft_type": "LORA", "init_lora_weights": "pissa_niter_4"})", {a, b})),
            "lora.method");
  EXPECT_EQ(refused(adapter_of(R"({"peft_type": "LORA", "alora_invocation_tokens": [1]})", {a, b})), "lora.method");
  EXPECT_EQ(refused(adapter_of(R"({"peft_type": "LORA", "alpha_pattern": {"(a|b)+": 3}})", {a, b})), "lora.pattern");
  std::string stars;
  for (int i = 0; i < 257; ++i) stars += fmt::format("{}\".*a{}\": 1", i == 0 ? "" : ", ", i);
  EXPECT_EQ(refused(adapter_of("{\"peft_type\": \"LORA\", \"alpha_pattern\": {" + stars + "}}", {a, b})),
            "lora.config");
  EXPECT_EQ(refused(lora({})), "lora.tensor");
  EXPECT_EQ(refused(lora({a, b, floats(kQ + "lora_E", {2}, {1, 2})})), "lora.tensor");
  EXPECT_EQ(refused(lora({a})), "lora.pair");
  EXPECT_EQ(refused(lora({b})), "lora.pair");
  EXPECT_EQ(refused(lora({a, b, floats(kQ + "lora_A.default.weight", {2, 3}, {1, 0, 2, 0, 1, 0})})), "lora.pair");
  EXPECT_EQ(refused(lora({floats("other.lora_A.weight", {2, 3}, {1, 0, 2, 0, 1, 0}),
                          floats("other.lora_B.weight", {2, 2}, {1, 2, 3, 4})})),
            "lora.target");
  EXPECT_EQ(refused(lora({floats("score.weight", {1}, {1})})), "lora.target");
  EXPECT_EQ(refused(lora({floats("lm_head.weight", {1}, {1})})), "lora.shape");
  EXPECT_EQ(refused(lora({floats(kQ + "lora_A.weight", {2, 4}, std::vector<float>(8)), b})), "lora.shape");
  EXPECT_EQ(refused(lora({a, b, floats(kQ + "lora_B.bias", {3}, {1, 2, 3})})), "lora.shape");
  EXPECT_EQ(refused(lora({a, floats(kQ + "lora_B.weight", {2, 1}, {1, 2})})), "lora.rank");
  EXPECT_EQ(refused(adapter_of(R"({"peft_type": "LORA", "r": 16})", {a, b})), "lora.rank");
  EXPECT_EQ(refused(adapter_of(R"({"peft_type": "LORA", "rank_pattern": {"q": 4}})", {a, b})), "lora.rank");
  EXPECT_EQ(refused(lora({dense(kQ + "lora_A.weight", {2, 3}, std::vector<std::int32_t>(6)), b})), "lora.type");
  Model integers = base();
  integers.tensors[0] = dense("model.q.weight", {2, 3}, std::vector<std::int32_t>(6));
  EXPECT_EQ(refused(lora({a, b}), integers), "lora.type");
}

// PEFT also adds the head's product to the embedding, and warns about it.
TEST(Merge, OneMatrixForEmbeddingAndHead) {
  const auto model_of = [](bool head, const std::string& config, std::optional<bool> tied) {
    Model model;
    model.tensors.push_back(floats("model.embed_tokens.weight", {4, 2}, std::vector<float>(8, 1)));
    if (head) model.tensors.push_back(floats("lm_head.weight", {4, 2}, std::vector<float>(8, 1)));
    if (!config.empty()) model.attachments.push_back({"config.json", Blob::memory(to_bytes(config))});
    model.config.tie_word_embeddings = tied;
    return model;
  };
  const Model head =
      adapter_of(kUsual, {floats("base_model.model.lm_head.lora_A.weight", {2, 2}, {1, 2, 3, 4}),
                          floats("base_model.model.lm_head.lora_B.weight", {4, 2}, std::vector<float>(8))});
  const Model table =
      adapter_of(kUsual, {floats("base_model.model.model.embed_tokens.lora_embedding_A", {2, 4}, std::vector<float>(8)),
                          floats("base_model.model.model.embed_tokens.lora_embedding_B", {2, 2}, {1, 2, 3, 4})});
  const std::string causal = R"({"architectures": ["LlamaForCausalLM"]})",
                    encoder = R"({"architectures": ["BertModel"]})";
  for (const Model& adapter : {head, table}) {
    for (const bool own : {true, false}) EXPECT_EQ(refused(adapter, model_of(own, "", true)), "lora.tied");
    EXPECT_EQ(refused(adapter, model_of(false, causal, std::nullopt)), "lora.tied");
    EXPECT_EQ(refused(adapter, model_of(true, causal, std::nullopt)), "");
    EXPECT_EQ(refused(adapter, model_of(true, causal, false)), "");
  }
  EXPECT_EQ(refused(head, model_of(false, "", std::nullopt)), "lora.tied");
  EXPECT_EQ(refused(head, model_of(false, "", false)), "lora.target");
  EXPECT_EQ(refused(table, model_of(false, encoder, std::nullopt)), "");
  // Whole tensors: accepted for both, if they are equal.
  const auto whole = [](std::vector<float> embedding, std::vector<float> for_head) {
    std::vector<Tensor> tensors;
    if (!embedding.empty())
      tensors.push_back(floats("base_model.model.model.embed_tokens.modules_to_save.weight", {4, 2}, embedding));
    if (!for_head.empty())
      tensors.push_back(floats("base_model.model.lm_head.modules_to_save.weight", {4, 2}, for_head));
    return adapter_of(kUsual, tensors);
  };
  const std::vector<float> twos(8, 2), threes(8, 3);
  for (const bool own : {true, false}) {
    EXPECT_EQ(refused(whole(twos, {}), model_of(own, "", true)), "lora.tied");
    EXPECT_EQ(refused(whole({}, twos), model_of(own, "", true)), "lora.tied");
    EXPECT_EQ(refused(whole(twos, threes), model_of(own, "", true)), "lora.tied");
    EXPECT_EQ(merged(model_of(own, "", true), whole(twos, twos), "model.embed_tokens.weight"), twos);
  }
  EXPECT_EQ(merged(model_of(true, "", true), whole(twos, twos), "lm_head.weight"), twos);
}

// Weights and adapters that are opened by their own paths use the configs in the same directory.
TEST(Merge, FilesNamedByTheirPaths) {
  const Scratch scratch;
  Model model;
  model.tensors.push_back(floats("model.embed_tokens.weight", {4, 2}, std::vector<float>(8, 1)));
  const auto base_with = [&](const std::string& name, const std::string& config) {
    std::filesystem::create_directory(scratch / name);
    (void)save(model, scratch / name + "/model.safetensors");
    if (!config.empty()) put_file(scratch / name + "/config.json", to_bytes(config));
    return scratch / name + "/model.safetensors";
  };
  const Model adapter = adapter_of(
      kUsual, {floats("base_model.model.model.embed_tokens.modules_to_save.weight", {4, 2}, std::vector<float>(8, 2)),
               floats(kQ + "lora_A.weight", {2, 3}, std::vector<float>(6)),
               floats(kQ + "lora_B.weight", {2, 2}, std::vector<float>(4))});
  model.tensors.push_back(floats("model.q.weight", {2, 3}, {1, 2, 3, 4, 5, 6}));
  (void)save(adapter, scratch / "lora/");
  const std::string weights = scratch / "lora/adapter_model.safetensors";
  const auto rule = [&](const std::string& base) {
    return rule_of([&] { (void)convert(base, scratch / "out.zt", {.overwrite = true, .merge = {weights}}); });
  };
  EXPECT_EQ(rule(base_with("tied", R"({"tie_word_embeddings": true})")), "lora.tied");
  EXPECT_EQ(rule(base_with("text", R"({"text_config": {"tie_word_embeddings": true}})")), "lora.tied");
  EXPECT_EQ(rule(base_with("causal", R"({"architectures": ["LlamaForCausalLM"]})")), "lora.tied");
  EXPECT_EQ(rule(base_with("unsaid", "")), "lora.tied");
  EXPECT_EQ(rule(base_with("own", R"({"tie_word_embeddings": false})")), "");
  EXPECT_EQ(rule(base_with("encoder", R"({"architectures": ["BertModel"]})")), "");
}

// A config that a link takes from elsewhere would appear in what is printed and written.
TEST(Merge, ConfigsOutsideTheDirectoryAreNotRead) {
  const Scratch scratch;
  (void)save(adapter_of(kUsual, {floats(kQ + "lora_A.weight", {2, 3}, std::vector<float>(6)),
                                 floats(kQ + "lora_B.weight", {2, 2}, std::vector<float>(4))}),
             scratch / "lora/");
  Model model;
  model.tensors.push_back(floats("model.q.weight", {2, 3}, {1, 2, 3, 4, 5, 6}));
  (void)save(model, scratch / "base.safetensors");
  const auto rule = [&] {
    return rule_of([&] {
      (void)convert(scratch / "base.safetensors", scratch / "out.zt",
                    {.overwrite = true, .merge = {scratch / "lora/adapter_model.safetensors"}});
    });
  };
  EXPECT_EQ(rule(), "");
  const std::string config = scratch / "lora/adapter_config.json";
  std::filesystem::rename(config, scratch / "private.json");
  std::filesystem::create_symlink("../private.json", config);
  EXPECT_EQ(rule(), "io.open.outside");
  std::filesystem::remove(config);
  std::filesystem::rename(scratch / "private.json", scratch / "lora/own.json");
  std::filesystem::create_symlink("own.json", config);
  EXPECT_EQ(rule(), "");
}

// Numbers that only the adapter makes NaN or infinite are refused; those of the model are kept.
TEST(Merge, NumbersThatAreNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity, 1e30f}) {
    const Model adapter = adapter_of(kUsual, {floats(kQ + "lora_A.weight", {2, 3}, {0, 0, bad, 0, 0, 0}),
                                              floats(kQ + "lora_B.weight", {2, 2}, {0, 0, bad, 0})});
    const auto error = error_of([&] { (void)merged(base(), adapter, "model.q.weight"); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->rule(), "lora.value");
    EXPECT_EQ(error->item(), "tensor model.q.weight");
  }
  Model model = base();
  model.tensors[0] = floats("model.q.weight", {2, 3}, {1, -kInfinity, 3, 4, 5, 6});
  EXPECT_EQ(merged(model, adapter_of(kUsual, pair_for_q()), "model.q.weight"),
            (std::vector<float>{4, -kInfinity, 9, 13, 17, 24}));
}

TEST(Merge, RanksThatAreNone) {
  for (const char* const rank : {"0", "-1", "1.5", "1e300", "\"2\"", "[2]"})
    EXPECT_EQ(refused(adapter_of(fmt::format(R"({{"peft_type": "LORA", "r": {}}})", rank), pair_for_q())),
              "lora.config")
        << rank;
}

TEST(Merge, AlphasThatAreNotNumbers) {
  for (const char* const alpha : {"NaN", "Infinity", "-Infinity", "null", "true", "\"16\"", "[1]", "1e400", "1e300"}) {
    SCOPED_TRACE(alpha);
    EXPECT_EQ(refused(adapter_of(fmt::format(R"({{"peft_type": "LORA", "lora_alpha": {}}})", alpha), pair_for_q())),
              "lora.config");
    EXPECT_EQ(refused(adapter_of(fmt::format(R"({{"peft_type": "LORA", "alpha_pattern": {{"q": {}}}}})", alpha),
                                 pair_for_q())),
              "lora.config");
  }
}

// The adapter's vocabulary was extended: PEFT requires a model that was extended as well.
TEST(Merge, MoreRowsThanTheModelHas) {
  std::vector<Change> changes;
  const Model adapter = adapter_of(
      kUsual, {floats("base_model.model.lm_head.modules_to_save.default.weight", {3, 2}, std::vector<float>(6))});
  const auto error = error_of([&] { (void)merge_adapter(base(), adapter, changes); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->rule(), "lora.shape");
  EXPECT_NE(error->sentence().find("resize the model's embedding and head first"), std::string::npos);
}

TEST(Merge, OnTheWayFromOneContainerToAnother) {
  const Scratch scratch;
  (void)save(base(), scratch / "base.zt");
  (void)save(adapter_of(kUsual, pair_for_q()), scratch / "lora/");
  const Conversion done =
      convert(scratch / "base.zt", scratch / "out.safetensors", {.merge = {scratch / "lora/", scratch / "lora/"}});
  EXPECT_EQ(open(scratch / "out.safetensors").tensor("model.q.weight")->values<float>(),
            (std::vector<float>{7, 14, 15, 22, 29, 42}));
  EXPECT_EQ(to_text(done.changes[0]), "LoRA adapter: rank 2, alpha 6, 1 layer merged");
  try {
    (void)convert(scratch / "base.zt", scratch / "no.zt", {.merge = {scratch / "base.zt"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), "lora.config");
    EXPECT_EQ(error.file(), scratch / "base.zt");
  }
}

TEST(Adapters, AreToldByTheirFilesAndNames) {
  const auto text = [](const Model& model) {
    const auto found = find_adapter(model);
    return found ? found->text() : std::string("none");
  };
  EXPECT_EQ(text(base()), "none");
  EXPECT_EQ(text(adapter_of("{}", {floats("w", {1}, {1})})), "none");
  Model bare;
  bare.tensors = pair_for_q();
  EXPECT_EQ(text(bare), "LoRA adapter: rank 2, 1 layer");
  EXPECT_EQ(text(adapter_of(R"({"peft_type": "LORA", "r": 2, "lora_alpha": 0.5, "use_rslora": true, "use_dora": true,
                                "base_model_name_or_path": "me/llama", "target_modules": ["v_proj", "q_proj"]})",
                            pair_for_q())),
            "LoRA adapter for me/llama: rank 2, alpha 0.5, rank-stabilised, DoRA, 1 layer (q_proj, v_proj)");
  EXPECT_EQ(text(adapter_of(R"({"peft_type": "IA3"})", {floats("w", {1}, {1})})), "IA3 adapter: 1 whole tensor");
}

TEST(Adapters, NamesAndPatterns) {
  const auto parsed = [](const char* name) {
    const auto found = parse_adapter_name(name);
    return fmt::format("{} {}", found.module, static_cast<int>(found.part));
  };
  EXPECT_EQ(parsed("base_model.model.a.q.lora_A.weight"), "a.q 0");
  EXPECT_EQ(parsed("base_model.model.a.q.lora_B.default.weight"), "a.q 1");
  EXPECT_EQ(parsed("a.lora_embedding_A.default"), "a 2");
  EXPECT_EQ(parsed("a.lora_B.bias"), "a 4");
  EXPECT_EQ(parsed("a.lora_magnitude_vector.default.weight"), "a 5");
  EXPECT_EQ(parsed("base_model.model.x.weight"), "x.weight 6");
  EXPECT_EQ(parsed("a.lora_A.one.two.weight"), "a.lora_A.one.two.weight 7");
  EXPECT_EQ(parsed("lora_A.weight"), "lora_A.weight 7");
  EXPECT_EQ(parsed("a.lora_A.bias"), "a.lora_A.bias 7");
  const auto number = [](const char* pattern, const char* layer) {
    return NamePatterns({resources::name_pattern(pattern, 5.0)}).number_for(layer).value_or(-1);
  };
  EXPECT_EQ(number("q_proj", "model.layers.0.q_proj"), 5);
  EXPECT_EQ(number("proj", "model.layers.0.q_proj"), -1);
  EXPECT_EQ(number("layers.1.*q_proj", "model.layers.11.q_proj"), 5);
  EXPECT_EQ(number("layers\\.1\\..*", "model.layers.1.q_proj"), 5);
  EXPECT_EQ(number("layers\\.1\\..*", "model.layers.11.q_proj"), -1);
  EXPECT_EQ(number("^model.q$", "model.q"), 5);
  EXPECT_EQ(number("^q", "model.q"), -1);
  EXPECT_EQ(number("^q", "q"), 5);
  EXPECT_EQ(number("b\\.q", "a.b.q"), 5);
  std::vector<resources::NamePattern> patterns;
  for (const char* const text : {"k.*", "a.q", "q", "^v", "(x|y)", "v", "q.*"})
    patterns.push_back(resources::name_pattern(text, static_cast<double>(patterns.size())));
  const NamePatterns several(patterns);  // the first that matches counts
  EXPECT_EQ(several.number_for("b.k1"), 0);
  EXPECT_EQ(several.number_for("a.q"), 1);
  EXPECT_EQ(several.number_for("b.q"), 2);
  EXPECT_EQ(several.number_for("v"), 3);
  EXPECT_EQ(testing::rule_of([&] { static_cast<void>(several.number_for("b.v")); }), "lora.pattern");
}

TEST(Floats, AsBrainFloatsOnEveryTarget) {
  std::vector<std::uint32_t> bits;
  for (std::uint64_t i = 0; i < 0x100000000; i += 65521) bits.push_back(static_cast<std::uint32_t>(i));
  for (const std::uint32_t edge : {0x7F7F7FFFU, 0x7F7F8000U, 0x7F7FFFFFU, 0x7F800000U, 0x7F800001U, 0xFF7F8000U,
                                   0xFFFFFFFFU, 0x7FC00000U, 0x00000001U, 0x3F808000U, 0x3F818000U})
    bits.push_back(edge);
  std::vector<std::uint16_t> wanted;
  std::size_t infinite = 0;
  for (const std::uint32_t word : bits) {
    wanted.push_back(f32_to_bf16(std::bit_cast<float>(word)));
    infinite += (wanted.back() & 0x7FFF) == 0x7F80 && (word & 0x7FFFFFFF) < 0x7F800000 ? 1 : 0;
  }
  EXPECT_GT(infinite, 2U);
  for_each_simd_target([&] {
    for (const std::size_t length : {bits.size(), std::size_t{1}, std::size_t{17}}) {
      const std::size_t from = bits.size() - length;
      std::vector<std::uint16_t> found(length);
      const std::size_t count = floats_to_bf16(reinterpret_cast<const std::byte*>(bits.data() + from), length,
                                               reinterpret_cast<std::byte*>(found.data()));
      EXPECT_TRUE(std::equal(found.begin(), found.end(), wanted.begin() + static_cast<std::ptrdiff_t>(from)));
      if (from == 0) {
        EXPECT_EQ(count, infinite);
      }
    }
  });
}

}  // namespace
}  // namespace tare
