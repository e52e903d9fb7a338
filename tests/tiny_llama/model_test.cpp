// The API of the Tiny Llama document: weights are saved and loaded exactly, and every way in which that fails.
#include "tiny_llama/model.hpp"

#include <sys/stat.h>

#include <numeric>

#include "base/endian.hpp"
#include "conformance/models.hpp"
#include "conformance/tllm_cases.hpp"
#include "convert/adapt.hpp"
#include "tare/elements.hpp"

namespace tiny_llama {
namespace {

using namespace tare::testing;
using tare::Bytes;

const ModelConfig kSmall{6, 2, 3, 5, 7, 11, 0.25f};

std::vector<float> all_values(const TinyLlamaModel& model) {
  std::vector<float> values;
  model.visit_weights([&](const Weight& w) { values.insert(values.end(), w.values.begin(), w.values.end()); });
  return values;
}

// load and save throw nothing but FileIOException.
template <typename Action>
std::optional<FileIOException> file_error(const Action& action) {
  try {
    action();
  } catch (const FileIOException& error) {
    return error;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not a FileIOException: " << error.what();
  }
  return std::nullopt;
}

TEST(TinyLlamaModel, DefaultsAreTheDocuments) {
  const ModelConfig config;
  EXPECT_EQ(config, (ModelConfig{512, 6, 8, 2048, 1024, 32000, 0.1f}));
}

// The document's arithmetic: 32000 x 512, 1024 x 512, six layers, 512 x 32000.
TEST(TinyLlamaModel, DefaultModelHasTheDocumentsSize) {
  const TinyLlamaModel model;
  EXPECT_EQ(model.parameter_count(),
            2U * 32000 * 512 + 1024 * 512 + 6 * (4 * 512 * 512 + 2 * 512 * 2048 + 2048 + 5 * 512));
  const Scratch scratch;
  model.save_model_weights(scratch / "model_weights.bin");
  EXPECT_EQ(std::filesystem::file_size(scratch / "model_weights.bin"),
            36 + 4 * model.parameter_count() + 3 * 16 + 6 * (6 * 16 + 6 * 8));
}

TEST(TinyLlamaModel, TheSameSeedGivesTheSameWeightsEverywhere) {
  const TinyLlamaModel model(kSmall, 42);
  EXPECT_EQ(all_values(model), all_values(TinyLlamaModel(kSmall, 42)));
  EXPECT_NE(all_values(model), all_values(TinyLlamaModel(kSmall, 43)));
  // On every machine: these bits are recorded.
  Bytes bytes;
  for (const float value : all_values(model))
    for (int i = 0; i < 4; ++i)
      bytes.push_back(static_cast<std::byte>(std::bit_cast<std::uint32_t>(value) >> (8 * i) & 0xFF));
  EXPECT_EQ(tare::digest_of(tare::DigestAlgorithm::crc32c, bytes).hex(), "f319641d");
}

TEST(TinyLlamaModel, NewWeightsAreSmallAndNormsNeutral) {
  const TinyLlamaModel model({64, 2, 4, 128, 32, 500});
  model.visit_weights([](const Weight& w) {
    if (w.is_vector) {
      const float expected = w.name.find("norm") != std::string_view::npos && w.name.ends_with("weight") ? 1.0f : 0.0f;
      EXPECT_TRUE(std::all_of(w.values.begin(), w.values.end(), [&](float v) { return v == expected; })) << w.name;
      return;
    }
    double sum = 0, squares = 0;
    for (const float v : w.values) sum += v, squares += double{v} * v;
    const double mean = sum / static_cast<double>(w.values.size());
    EXPECT_NEAR(mean, 0, 0.002) << w.name;
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(w.values.size()) - mean * mean), 0.02, 0.001) << w.name;
  });
}

TEST(TinyLlamaModel, SaveLoadSaveGivesEqualBytes) {
  const Scratch scratch;
  const TinyLlamaModel model(kSmall, 1);
  model.save_model_weights(scratch / "a.bin");
  TinyLlamaModel loaded(kSmall, 2);
  EXPECT_NE(all_values(loaded), all_values(model));
  loaded.load_model_weights(scratch / "a.bin");
  EXPECT_EQ(all_values(loaded), all_values(model));
  loaded.save_model_weights(scratch / "b.bin");
  EXPECT_TRUE(get_file(scratch / "a.bin") == get_file(scratch / "b.bin"));
  TinyLlamaModel::map(scratch / "a.bin").save_model_weights(scratch / "c.bin");
  EXPECT_TRUE(get_file(scratch / "a.bin") == get_file(scratch / "c.bin"));
  // Also onto the file that is mapped.
  TinyLlamaModel::map(scratch / "a.bin").save_model_weights(scratch / "a.bin");
  EXPECT_TRUE(get_file(scratch / "a.bin") == get_file(scratch / "b.bin"));
  EXPECT_EQ(scratch.entries(), (std::vector<std::string>{"a.bin", "b.bin", "c.bin"}));
}

TEST(TinyLlamaModel, LoadedWeightsDoNotDependOnTheFile) {
  const Scratch scratch;
  TinyLlamaModel model(kSmall, 1);
  model.save_model_weights(scratch / "a.bin");
  model.load_model_weights(scratch / "a.bin");
  const std::vector<float> before = all_values(model);
  put_file(scratch / "a.bin", Bytes(100));
  EXPECT_EQ(all_values(model), before);
}

TEST(TinyLlamaModel, GoldenFileIsLoadedAndWritten) {
  const Scratch scratch;
  put_file(scratch / "golden.bin", tllm_golden());
  TinyLlamaModel model({2, 1, 1, 3, 2, 4});
  model.load_model_weights(scratch / "golden.bin");
  EXPECT_EQ(model.embedding()[7], 107);
  EXPECT_EQ(model.position_embedding()[0], 200);
  EXPECT_EQ(model.layer(0).query[3], 303);
  EXPECT_EQ(model.layer(0).key[0], 400);
  EXPECT_EQ(model.layer(0).value[0], 500);
  EXPECT_EQ(model.layer(0).output[0], 600);
  EXPECT_EQ(model.layer(0).linear1_weight[5], 705);
  EXPECT_EQ(model.layer(0).linear1_bias[2], 802);
  EXPECT_EQ(model.layer(0).linear2_weight[0], 900);
  EXPECT_EQ(model.layer(0).linear2_bias[1], 1001);
  EXPECT_EQ(model.layer(0).norm1_weight[0], 1100);
  EXPECT_EQ(model.layer(0).norm1_bias[0], 1200);
  EXPECT_EQ(model.layer(0).norm2_weight[0], 1300);
  EXPECT_EQ(model.layer(0).norm2_bias[0], 1400);
  EXPECT_EQ(model.output()[7], 1507);
  model.save_model_weights(scratch / "again.bin");
  EXPECT_TRUE(get_file(scratch / "again.bin") == tllm_golden());
}

TEST(TinyLlamaModel, WeightsCanBeChangedByNameAndByVisitor) {
  TinyLlamaModel model(kSmall);
  model.mutable_weight("layers.1.ffn.linear1.bias")[2] = 5;
  EXPECT_EQ(model.layer(1).linear1_bias[2], 5);
  std::size_t visited = 0;
  model.visit_mutable_weights([&](const MutableWeight& w) {
    visited += w.rows * w.columns;
    std::iota(w.values.begin(), w.values.end(), 0.0f);
  });
  EXPECT_EQ(visited, model.parameter_count());
  EXPECT_EQ(model.layer(1).linear1_bias[2], 2);
  EXPECT_EQ(model.output()[65], 65);
  EXPECT_EQ(rule_of([&] { model.weight("layers.2.norm1.bias"); }), "tllm.model.weight");
  EXPECT_EQ(rule_of([&] { model.layer(2); }), "tllm.model.layer");
  EXPECT_EQ(rule_of([&] { model.layer(-1); }), "tllm.model.layer");
}

TEST(TinyLlamaModel, CopiesAreIndependent) {
  TinyLlamaModel model(kSmall, 3), copy = model;
  copy.mutable_weight("output.weight")[0] = 77;
  EXPECT_NE(model.output()[0], 77);
  model = copy;
  EXPECT_EQ(model.output()[0], 77);
  TinyLlamaModel moved = std::move(copy);
  EXPECT_EQ(moved.output()[0], 77);
}

TEST(TinyLlamaModel, MappedWeightsAreReadOnly) {
  if (!tare::kLittleEndianHost) GTEST_SKIP() << "a file's bytes are in another order and are copied";
  const Scratch scratch;
  TinyLlamaModel(kSmall, 3).save_model_weights(scratch / "a.bin");
  TinyLlamaModel mapped = TinyLlamaModel::map(scratch / "a.bin");
  EXPECT_EQ(mapped.config(), kSmall);
  EXPECT_EQ(all_values(mapped), all_values(TinyLlamaModel(kSmall, 3)));
  EXPECT_EQ(rule_of([&] { mapped.mutable_weight("output.weight"); }), "tllm.model.read_only");
  const TinyLlamaModel copy = mapped;
  EXPECT_EQ(copy.output().data(), mapped.output().data()) << "shared, not copied";
  mapped.load_model_weights(scratch / "a.bin");
  EXPECT_TRUE(mapped.is_writable());
}

TEST(TinyLlamaModel, ImpossibleConfigurationsAreRefused) {
  EXPECT_EQ(rule_of([] { TinyLlamaModel({0, 1, 1, 1, 1, 1}); }), "tllm.config.range");
  EXPECT_EQ(rule_of([] { TinyLlamaModel({4, 1, 1, -1, 1, 1}); }), "tllm.config.range");
  EXPECT_EQ(rule_of([] { TinyLlamaModel({4, 1, 3, 1, 1, 1}); }), "tllm.config.heads");
  EXPECT_EQ(rule_of([] { TinyLlamaModel({4, 1, 1, 1, 1, 1, 1.0f}); }), "tllm.config.dropout");
  EXPECT_EQ(rule_of([] { TinyLlamaModel({1 << 30, 1 << 30, 1, 1 << 30, 1, 1}); }), "tllm.config.range");
}

TEST(TinyLlamaModel, EveryBadFileIsAFileIOException) {
  const Scratch scratch(Scratch::fast_place());
  const std::string path = scratch / "f.bin";
  TinyLlamaModel model({2, 1, 1, 3, 2, 4}, 9);
  const std::vector<float> before = all_values(model);
  for (const TllmCase& bad : tllm_cases()) {
    SCOPED_TRACE(bad.rule + " / " + bad.name);
    put_file(path, bad.file);
    for (const auto& error :
         {file_error([&] { model.load_model_weights(path); }), file_error([&] { TinyLlamaModel::map(path); })}) {
      ASSERT_TRUE(error.has_value());
      EXPECT_EQ(error->rule(), bad.rule);
      EXPECT_EQ(error->file(), path);
      EXPECT_NE(std::string(error->what()).find(bad.part_of_text), std::string::npos) << error->what();
    }
    EXPECT_EQ(all_values(model), before);
  }
  put_file(path, to_bytes("XLLM" + std::string(200, '\0')));
  EXPECT_EQ(file_error([&] { model.load_model_weights(path); })->rule(), "tllm.magic");
  put_file(path, {});
  EXPECT_EQ(file_error([&] { model.load_model_weights(path); })->rule(), "tllm.header.short");
  EXPECT_EQ(file_error([&] { model.load_model_weights(scratch / "none.bin"); })->kind(), tare::ErrorKind::not_found);
  EXPECT_TRUE(file_error([&] { model.load_model_weights(scratch.path()); }).has_value()) << "a directory";
  EXPECT_TRUE(file_error([&] { model.save_model_weights(scratch / "no/such/folder.bin"); }).has_value());
  EXPECT_EQ(all_values(model), before);
}

TEST(TinyLlamaModel, AnotherConfigurationIsRefusedWithTheNumbers) {
  const Scratch scratch;
  TinyLlamaModel({8, 1, 2, 5, 7, 12, 0.5f}, 1).save_model_weights(scratch / "a.bin");
  TinyLlamaModel model(kSmall, 2);
  const std::vector<float> before = all_values(model);
  const auto error = file_error([&] { model.load_model_weights(scratch / "a.bin"); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->rule(), "tllm.load.config");
  EXPECT_EQ(error->sentence(),
            "the file's configuration is not the model's: model dimension: expected 6, found 8; number of layers: "
            "expected 2, found 1; "
            "number of heads: expected 3, found 2; vocabulary size: expected 11, found 12; dropout rate: expected "
            "0.25, found 0.5");
  EXPECT_EQ(all_values(model), before);
  EXPECT_EQ(model.config(), kSmall);
}

TEST(TinyLlamaModel, ComesThroughEveryContainerThatHoldsIt) {
  const Scratch scratch;
  const TinyLlamaModel model(kSmall, 4);
  for (const tare::Format& format : tare::formats()) {
    if (format.write == nullptr || !format.holds.many_tensors) continue;
    SCOPED_TRACE(std::string(format.name));
    tare::Model there = model.to_model();
    const auto drop = without_room(there, format.holds);
    there = tare::adapt(there, format, {.drop = drop}).model;
    const std::string path = scratch / ("m" + std::string(format.suffixes[0]));
    put_file(path, write_bytes(format, there));
    const TinyLlamaModel back = TinyLlamaModel::from(tare::open(path));
    EXPECT_EQ(all_values(back), all_values(model));
    ModelConfig config = back.config();
    if (!drop.empty()) config.dropout_rate = kSmall.dropout_rate;
    EXPECT_EQ(config, kSmall);
  }
}

TEST(TinyLlamaModel, HalvesAreWidenedAndStrangersRefused) {
  const TinyLlamaModel model(kSmall, 4);
  tare::Model halves = model.to_model();
  for (tare::Tensor& tensor : halves.tensors) tensor = tare::cast(tensor, tare::DType::f16);
  const TinyLlamaModel wide = TinyLlamaModel::from(halves);
  EXPECT_NEAR(wide.output()[3], model.output()[3], 1e-4);
  EXPECT_TRUE(wide.is_writable()) << "decoded into memory";
  halves.tensors.pop_back();
  const auto error = error_of([&] { TinyLlamaModel::from(halves); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->rule(), "tllm.run.model");
  EXPECT_NE(error->sentence().find("missing: output.weight"), std::string::npos);
}

}  // namespace
}  // namespace tiny_llama
